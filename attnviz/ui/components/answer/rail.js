// Where the answer stands in a wide window: in the room of the setting, which folds to a rail of its values. What comes
// and goes takes no room of the maps, so that these stay where they were pressed.

/** @import { Chip } from "./types" */
import { append } from "./drawer_pictures.js";
import { InSight } from "./in_sight.js";
import { signOf } from "../signs.js";

export const SHEET = matchMedia("(max-width: 1099px)"); // an answer comes from the foot of the window
const RAIL = 44; // pixels
const LEAST = 288; // of rail and answer
const STEP = 8; // pixels that a chip is dragged for each step
const LETTERS = 6; // of a word that has room on a chip at its usual size

/** @returns {HTMLElement | null} */
const setting = () => document.querySelector("[data-testid=stSidebar]");

/** The widget of a field in the setting, or what stands there while it moves by itself. @param {string} name */
const widget = (name) => setting()?.querySelector(`.st-key-${name}, .st-key-_moving-${name}`) ?? null;

export class Rail {
  isOpen = false; // there is an answer
  waits = false; // behind the setting, which was called back
  pressedAt = 0; // where the pointer came down last
  /** @type {{ name: string, y: number, moved: boolean } | null} */
  dragged = null;
  shown = "";

  /** @param {HTMLElement} root @param {HTMLElement} box  of the answer */
  constructor(root, box) {
    this.box = box;
    this.inSight = new InSight(box);
    this.rail = append(root, "nav", "ad-rail");
    this.back = append(root, "button", "ad-back");
    this.back.setAttribute("type", "button");
    this.back.addEventListener("click", () => this.fold());
    this.stop = new AbortController();
    const { signal } = this.stop;
    window.addEventListener("pointerdown", (event) => (this.pressedAt = event.clientX), { signal, capture: true });
    window.addEventListener("click", (event) => this.onClick(event.target), { signal, capture: true });
    window.addEventListener("transitionend", ({ target }) => target === setting() && this.arrange(), { signal });
    window.addEventListener("attnviz:drawn", () => this.inSight.look(), { signal });
    SHEET.addEventListener("change", () => this.arrange(), { signal });
    this.rail.addEventListener("keydown", (event) => this.onKeydown(event));
    this.rail.addEventListener("pointerdown", (event) => this.grip(event));
    this.rail.addEventListener("pointermove", (event) => this.drag(event));
    this.rail.addEventListener("click", (event) => this.press(event.target));
    this.resizer = new ResizeObserver(() => this.arrange()); // the setting was folded, unfolded or made wider
    const main = root.closest("[data-testid=stMain]");
    if (main) this.resizer.observe(main);
  }

  /**
   * An answer has come, or another one: it stands in front, unless somebody is at work in the setting.
   *
   * @param {Chip[]} chips
   * @param {{ setting: string }} words
   * @param {boolean} isAnother
   */
  open(chips, words, isAnother) {
    if (isAnother || !this.isOpen) this.waits = Boolean(setting()?.contains(document.activeElement));
    if (!this.isOpen) this.box.dataset.side = this.pressedAt > window.innerWidth - LEAST - RAIL ? "left" : "right";
    this.isOpen = true;
    this.back.textContent = this.box.querySelector("h2")?.innerText ?? "";
    this.fill(chips, words);
    this.arrange();
    if (isAnother && SHEET.matches) this.inSight.keep();
  }

  close() {
    this.inSight.leave();
    this.isOpen = this.waits = false;
    this.arrange();
  }

  /** Draw the values of the setting, of what can be set there, and a button that calls the setting back.
   *  @param {Chip[]} chips @param {{ setting: string }} words */
  fill(chips, words) {
    const those = chips.filter(({ name }) => widget(name));
    const shown = JSON.stringify([those, words.setting]);
    if (shown === this.shown) return;
    this.shown = shown;
    const active = document.activeElement;
    const focused = active instanceof HTMLElement && this.rail.contains(active) ? active.dataset.field : undefined;
    this.rail.setAttribute("aria-label", words.setting);
    this.rail.replaceChildren();
    for (const { name, label, value } of [{ name: "", label: words.setting, value: "»" }, ...those]) {
      const chip = append(this.rail, "button", "ad-chip");
      chip.setAttribute("type", "button");
      chip.title = name ? label + signOf(": ") + value : label;
      chip.setAttribute("aria-label", chip.title);
      chip.dataset.field = name;
      if (name) append(chip, "span", "", label);
      const isWorded = name && !/\d/.test(value), longest = Math.max(...value.split(/\s/).map((word) => word.length));
      const shown = append(chip, "b", isWorded ? "ad-worded" : "", value);
      if (isWorded && longest > LETTERS) shown.style.fontSize = `${Math.max(8, (11 * LETTERS) / longest)}px`;
      if (name === focused) chip.focus();
    }
  }

  /** Put everything where it belongs; the setting behind an answer is out of reach. */
  arrange() {
    const edge = Math.max(0, setting()?.getBoundingClientRect().right ?? 0);
    const inRoom = this.isOpen && edge > 0 && !SHEET.matches;
    this.box.dataset.at = inRoom ? "setting" : "maps";
    this.box.style.setProperty("--answer-width", `${Math.max(edge, LEAST) - RAIL}px`);
    this.box.style.setProperty("--main-left", `${this.box.closest("[data-testid=stMain]")?.getBoundingClientRect().left ?? 0}px`);
    this.back.style.width = `${Math.max(edge, LEAST)}px`;
    this.box.toggleAttribute("data-waits", inRoom && this.waits);
    this.rail.toggleAttribute("data-open", inRoom && !this.waits);
    this.back.toggleAttribute("data-open", inRoom && this.waits);
    setting()?.toggleAttribute("inert", inRoom && !this.waits);
  }

  /** Who unfolds the setting that was folded away wants to see it. @param {EventTarget | null} target */
  onClick(target) {
    if (target instanceof Element && target.closest("[data-testid=stExpandSidebarButton]")) this.waits = true;
  }

  /** Call the setting back, to one of its fields. @param {string} name */
  unfold(name) {
    this.waits = true;
    this.arrange();
    const field = (name ? widget(name) : setting())?.querySelector("input, textarea");
    if (!(field instanceof HTMLElement)) return;
    field.scrollIntoView({ block: "nearest" });
    field.focus({ preventScroll: true });
  }

  /** Have the answer in front again. */
  fold() {
    this.waits = false;
    this.arrange();
    const close = this.box.querySelector(".ad-close");
    if (close instanceof HTMLElement) close.focus();
  }

  /** @param {EventTarget | null} target */
  press(target) {
    const moved = this.dragged?.moved;
    this.dragged = null;
    const chip = target instanceof Element ? target.closest("button") : null;
    if (chip && !moved) this.unfold(chip.dataset.field ?? "");
  }

  /** @param {KeyboardEvent} event */
  onKeydown(event) {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    const name = event.target instanceof HTMLElement ? event.target.dataset.field : "";
    if (!by || !name) return;
    event.preventDefault();
    this.step(name, by);
  }

  /** @param {PointerEvent} event */
  grip(event) {
    const chip = event.target instanceof Element ? event.target.closest("button") : null;
    this.dragged = chip?.dataset.field ? { name: chip.dataset.field, y: event.clientY, moved: false } : null;
    if (this.dragged) chip?.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  drag(event) {
    const { dragged } = this;
    const steps = dragged ? Math.trunc((dragged.y - event.clientY) / STEP) : 0;
    if (!dragged || !event.buttons || !steps) return;
    dragged.moved = true;
    dragged.y -= steps * STEP;
    this.step(dragged.name, steps);
  }

  /** Move the slider of a field, or press its plus or minus. @param {string} name @param {number} by */
  step(name, by) {
    const field = widget(name);
    const slider = field?.querySelector("input[type=range]");
    const button = field?.querySelector(`[data-testid=stNumberInputStep${by > 0 ? "Up" : "Down"}]`);
    for (let step = 0; step < Math.abs(by); step++) {
      if (button instanceof HTMLElement) button.click();
      else slider?.dispatchEvent(new KeyboardEvent("keydown", { key: by > 0 ? "ArrowRight" : "ArrowLeft", bubbles: true }));
    }
  }

  /**
   * Give the focus back to the maps. They may just be drawn anew, as there is more room for them: so it looks again at
   * every frame for a while, unless the visitor has gone elsewhere.
   *
   * @param {number} frames
   */
  returnFocus(frames = 120) {
    const active = document.activeElement;
    const isFree = active === document.body || this.box.contains(active);
    if (!isFree && active?.className !== "attn-focus") return;
    const map = document.querySelector(".st-key-explore [data-stage=weights] .attn-focus") ?? document.querySelector(".attn-host .attn-focus");
    if (isFree && map instanceof HTMLElement) map.focus({ preventScroll: true });
    if (frames) requestAnimationFrame(() => this.returnFocus(frames - 1));
  }

  end() {
    this.close();
    this.stop.abort();
    this.resizer.disconnect();
    this.rail.remove();
    this.back.remove();
  }
}
