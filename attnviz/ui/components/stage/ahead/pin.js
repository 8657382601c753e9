// A picture that is pinned: the maps show it again for as long as a key or a button is held, and outline the weights that
// differ from it.

/** @import { StageArray } from "../../../../pictures/stage_bytes.js" */
/** @import { Heatmap } from "../heatmap.js" */
/** @import { Pinned, Stage, StageAhead } from "../types" */
import { unpackStage } from "../../../../pictures/stage_bytes.js";
import { say } from "../ink.js";
import { isDrawn, isSame, stagesOf } from "../maps.js";
import { answered } from "./ahead.js";

const DIFFERS_FROM = 0.1; // of a weight
const AT_REST = "body, [data-testid=stMain], .st-key-explore *, .at-words button"; // what a key is not typed into

/**
 * The cells of a stage that are larger than in another of the same shape, and those that are smaller, by so much; what is
 * masked counts as 0.
 *
 * @param {Stage} stage
 * @param {Stage} other
 * @returns {{ more: number[][], less: number[][] } | null}
 */
export function differencesOf(stage, other) {
  const [heads, rows, columns] = stage.shape;
  if (String(stage.shape) !== String(other.shape)) return null;
  /** @type {{ more: number[][], less: number[][] }} */
  const found = { more: [], less: [] };
  for (let at = 0; at < heads * rows * columns; at++) {
    const cell = [Math.floor(at / columns / rows), Math.floor(at / columns) % rows, at % columns];
    const [one, two] = [stage, other].map((each) => (isDrawn(each, cell[0], cell[1], cell[2]) ? each.values[at] : 0));
    if (one - two >= DIFFERS_FROM) found.more.push(cell);
    else if (two - one >= DIFFERS_FROM) found.less.push(cell);
  }
  return found;
}

export class Pin {
  isFlipped = false; // whether the pinned picture is shown
  /** @type {WeakMap<Stage, [other: Stage, outlined: Stage]>} */
  known = new WeakMap();
  /** @type {WeakMap<Stage, [other: Stage, isAlike: boolean]>} */
  compared = new WeakMap();
  drawn = "";
  /** @type {string | null} */
  address = null; // of what the link has pinned
  isComing = false; // whether that is what was pinned here

  /** @param {Heatmap} heatmap */
  constructor(heatmap) {
    this.heatmap = heatmap;
    this.box = heatmap.host.appendChild(document.createElement("div"));
    this.box.className = "attn-pin";
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const { box } = this, inFlip = (/** @type {Event} */ { target }) => target instanceof Element && target.closest("[data-flip]") !== null;
    box.addEventListener("click", ({ target }) => target instanceof Element && target.closest("[data-pin]") && this.toggle());
    box.addEventListener("pointerdown", (event) => inFlip(event) && this.flip(true));
    box.addEventListener("keydown", (event) => inFlip(event) && (event.key === " " || event.key === "Enter") && this.flip(true));
    box.addEventListener("keyup", () => this.flip(false));
    for (const kind of ["pointerup", "pointercancel", "blur"]) window.addEventListener(kind, () => this.flip(false), { signal });
    window.addEventListener("keydown", (event) => this.onKeydown(event), { signal });
    window.addEventListener("keyup", ({ key }) => key.toLowerCase() === "b" && this.flip(false), { signal });
  }

  /** Whether the picture of this page can be pinned: that of a setting. */
  get isOffered() {
    return Boolean(this.heatmap.data.live ?? this.heatmap.data.follow);
  }

  /** @returns {Pinned | null} */
  get kept() {
    return (this.isOffered && window.attnvizPinned) || null;
  }

  get pinned() {
    return this.kept?.stages ?? null;
  }

  /** The stages as they are to be drawn. @param {Stage[]} stages */
  shown(stages) {
    const { pinned } = this;
    this.write(stages);
    if (!pinned) return stages;
    return stages.map((stage) => {
      const other = pinned.find(({ name }) => name === stage.name);
      return other ? (this.isFlipped ? this.outlined(other, stage) : this.outlined(stage, other)) : stage;
    });
  }

  /** A stage with outlines around the weights that differ from those of another. @param {Stage} stage @param {Stage} other */
  outlined(stage, other) {
    if (stage.kind !== "share") return stage;
    const known = this.known.get(stage);
    if (known?.[0] === other) return known[1];
    const outlined = { ...stage, differs: differencesOf(stage, other) };
    this.known.set(stage, [other, outlined]);
    return outlined;
  }

  /** Whether what is pinned is still what there is. @param {Stage[]} stages  those that are not pinned */
  isUnchanged(stages) {
    return stages.every((stage) => {
      const other = this.pinned?.find(({ name }) => name === stage.name), known = this.compared.get(stage);
      if (!other || known?.[0] === other) return !other || known?.[1];
      const isAlike = String(stage.shape) === String(other.shape) && isSame(stage.values, other.values);
      this.compared.set(stage, [other, isAlike]);
      return isAlike;
    });
  }

  /** What would be pinned now, with its numbers of the setting. @returns {Pinned} */
  get present() {
    const { stages, data, holding } = this.heatmap, knobs = data.live?.knobs.map((knob) => ({ ...knob, value: holding.setting.now(knob) }));
    return { stages: holding.shown(stages), knobs: knobs ?? null };
  }

  toggle() {
    window.attnvizPinned = this.pinned ? null : this.present;
    this.isFlipped = false;
    this.isComing = this.pinned !== null;
    this.heatmap.lay(false);
    this.heatmap.page.setTriggerValue("event", { kind: "pin", is_on: this.isComing });
  }

  /** The link pins the stages at another address: those of who has sent it, or of another layer. @param {string | null | undefined} address */
  async receive(address = null) {
    if (address === this.address || !this.isOffered) return;
    this.address = address;
    if (address && this.isComing) this.isComing = false;
    else if (address) this.take(address, (await answered(address)).bytes);
    else if (!this.isComing) window.attnvizPinned = null;
  }

  /** @param {string} address @param {Uint8Array | null} bytes  what is there */
  take(address, bytes) {
    if (!bytes || address !== this.address) return;
    /** @type {{ header: StageAhead, arrays: Record<string, StageArray> }} */
    const { header, arrays } = unpackStage(bytes);
    window.attnvizPinned = { stages: stagesOf(header.stages, arrays, []), knobs: header.handles ?? null };
    this.heatmap.lay(false);
  }

  /** @param {boolean} isFlipped */
  flip(isFlipped) {
    if (isFlipped === this.isFlipped || !this.pinned) return;
    this.isFlipped = isFlipped;
    this.heatmap.lay(false);
  }

  /** P pins, or takes the pin out; B shows what is pinned. @param {KeyboardEvent} event */
  onKeydown(event) {
    const { target } = event, isFree = target instanceof Element && target.matches(AT_REST) && !target.matches("input, textarea");
    if (!isFree || !this.isOffered || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    if (key === "p" && !event.repeat) this.toggle();
    else if (key === "b") this.flip(true);
  }

  /** What is said of it, and its buttons. @param {Stage[]} stages  those that are not pinned */
  write(stages) {
    const { words } = this.heatmap.data, { box, pinned, isFlipped } = this;
    const names = !this.isOffered ? [] : pinned ? ["flip", "pin"] : ["pin"];
    const drawn = [words.pin, ...names].join();
    if (drawn !== this.drawn) box.replaceChildren(...names.map((name) => this.button(name, name === "flip" ? words.flip : pinned ? words.unpin : words.pin)));
    if (drawn !== this.drawn && pinned) box.prepend(document.createElement("span"));
    this.drawn = drawn;
    box.toggleAttribute("data-flipped", isFlipped);
    const said = box.querySelector("span"), areAlike = pinned?.every((stage) => this.heatmap.stages.every(({ name, shape }) => name !== stage.name || String(shape) === String(stage.shape)));
    if (said && this.isUnchanged(stages)) say(said, isFlipped ? words.pinned_same : words.pinned_now);
    else if (said) say(said, [isFlipped ? words.pinned : "", areAlike ? words.differs : words.unlike].filter(Boolean).join(" · "));
  }

  /** @param {string} name @param {string} text */
  button(name, text) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: text, title: this.heatmap.data.words.pin_hint });
    button.dataset[name] = "";
    return button;
  }
}
