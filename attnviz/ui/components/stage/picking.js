// Picking in the maps, by a press, a swipe or a key: a cell, a head, another step, another scale.

/** @import { Heatmap } from "./heatmap.js" */
/** @import { Picture } from "./picture/picture.js" */
/** @import { Cell, Highlight, Pick, Spot } from "./types" */

const SWIPE = 48; // pixels that a finger has to move sideways

export class Picking {
  /** @type {Pick | null} */
  chosen = null;
  /** @type {string[]} */
  pending = []; // picks that Python has not sent back yet
  /** @type {string | undefined} */
  received; // the pick that Python sent last
  /** @type {Pick | null} */
  made = null; // the one that was made here last
  /** @type {PointerEvent | null} */
  touch = null; // where a finger came down
  /** @type {{ target: Node, choose: () => void } | null} */
  pressed = null; // what is under the pointer where the pointer came down, until it goes up

  /** @param {Heatmap} heatmap */
  constructor(heatmap) {
    this.heatmap = heatmap;
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    window.addEventListener("keydown", (event) => this.shortcut(event), { signal });
    window.addEventListener("pointerup", () => this.release(), { signal, capture: true });
    window.addEventListener("pointercancel", () => (this.pressed = null), { signal, capture: true });
  }

  /** The pointer comes down in a map. @param {Picture} picture @param {PointerEvent} event */
  press(picture, event) {
    const spot = event.button === 0 ? picture.locate(event) : null;
    const choose = spot && this.chooser(picture, spot);
    this.pressed = choose && event.target instanceof Node ? { target: event.target, choose } : null;
  }

  /** The pointer goes up. A press that leaves a field has its numbers computed, and where the map is drawn anew before
   *  the pointer is up, no click follows: then what was pressed is chosen all the same. */
  release() {
    const { pressed } = this;
    this.pressed = null;
    if (pressed && !pressed.target.isConnected) pressed.choose();
  }

  /** @param {HTMLElement} host @param {AbortSignal} signal */
  follow(host, signal) {
    host.addEventListener("click", ({ target }) => this.pressButton(target), { signal });
    host.addEventListener("pointerdown", (event) => (this.touch = event.pointerType === "touch" && this.isOfPage(event.target) ? event : null), { signal });
    host.addEventListener("pointerup", (event) => this.swipe(event), { signal });
  }

  /** Whether a finger that comes down there may swipe: a number that is dragged sideways, or a mask that is painted, is
   *  no page that is turned. @param {EventTarget | null} target */
  isOfPage(target) {
    return target instanceof Element && !target.closest(".attn-knob, .attn-field, .attn-painting");
  }

  /**
   * Adopt the pick that Python sends, unless it echoes one that was made here and may be outdated.
   *
   * @param {Pick | null} picked
   */
  adopt(picked) {
    const sent = JSON.stringify(picked);
    const echo = this.pending.indexOf(sent);
    if (echo >= 0) this.pending.splice(0, echo + 1);
    else if (sent !== this.received) [this.chosen, this.pending] = [this.isMade(picked) ? this.made : picked, []];
    this.received = sent;
  }

  /** Whether a pick of Python is the one that was made here, at another step. @param {Pick | null} picked */
  isMade(picked) {
    const { made } = this, { pictures } = this.heatmap;
    if (!picked || !made || picked.head !== made.head || picked.row !== made.row || picked.column !== made.column) return false;
    const [one, other] = [picked, made].map(({ stage }) => pictures.get(stage)?.meta).map((meta) => meta && meta.axes.join() + JSON.stringify(meta.common));
    return one !== undefined && one === other;
  }

  /** A picture that has the rows of a stage: its own, or where stages come one by one, another. @param {string} name */
  pictureFor(name) {
    const { pictures, stages } = this.heatmap, axes = stages.find((stage) => stage.name === name)?.axes;
    const others = [...pictures.values()].filter(({ meta }) => meta.axes[0] === axes?.[0]);
    return pictures.get(name) ?? others.find(({ meta }) => meta.axes[1] === axes?.[1]) ?? others[0];
  }

  /** The chosen cells, as they are highlighted in all stages. @returns {Highlight | null} */
  get highlight() {
    const cell = this.chosen;
    const picture = cell && this.pictureFor(cell.stage);
    if (!cell || !picture) return null;
    const { axes, heads } = picture.meta;
    const isOwn = this.heatmap.stages.find(({ name }) => name === cell.stage)?.axes[1] === axes[1];
    const { only } = picture.stage;
    const head = only === null ? cell.head : cell.head === only ? 0 : null;
    const row = cell.row === null ? null : picture.position(0, cell.row);
    const column = cell.column === null || !isOwn ? null : picture.position(1, cell.column);
    return { stage: cell.stage, head, heads: heads.length, at: { [axes[0]]: row, [axes[1]]: column } };
  }

  /** A press on a button of a heading. @param {EventTarget | null} target */
  pressButton(target) {
    if (!(target instanceof Element)) return;
    if (target.closest(".attn-scale")) this.heatmap.page.setTriggerValue("event", { kind: "scale" });
    if (target.closest(".attn-paint")) this.heatmap.holding.mask.toggle();
    const button = target.closest(".attn-step");
    if (button instanceof HTMLElement && button.dataset.step) this.heatmap.turn(button.dataset.step);
  }

  /**
   * A swipe over the maps goes on to the next head in focus, and else to the next stage where they come one by one.
   *
   * @param {PointerEvent} event
   */
  swipe(event) {
    const { touch } = this;
    this.touch = null;
    if (!touch || event.pointerType !== "touch") return;
    const [dx, dy] = [event.clientX - touch.clientX, event.clientY - touch.clientY];
    if (Math.abs(dx) < SWIPE || Math.abs(dx) < 2 * Math.abs(dy)) return;
    this.heatmap.pointing.leave();
    const { alone, data, turns } = this.heatmap;
    const by = dx < 0 ? 1 : -1;
    if (alone !== null) return this.focusHead((alone + by + data.heads) % data.heads);
    const at = turns.findIndex(([name]) => this.heatmap.pictures.has(name));
    const [next] = turns[at + by] ?? [];
    if (at >= 0 && next) this.heatmap.turn(next);
  }

  /** @param {Picture} picture @param {PointerEvent} event */
  click(picture, event) {
    const spot = picture.locate(event);
    if (!spot) return;
    this.chooser(picture, spot)();
    if (event.pointerType !== "touch" || spot.name !== undefined) return;
    if (document.querySelector(".attn-drawer[data-open]")) this.heatmap.pointing.leave(); // which says what a tip would, and stands under it
    else this.heatmap.pointing.show(picture, spot, event.clientX, event.clientY);
  }

  /**
   * What chooses a head by its name, or cells.
   *
   * @param {Picture} picture
   * @param {Spot} spot
   */
  chooser(picture, { name, head, row, column }) {
    if (name !== undefined) return () => this.focusHead(name);
    const { block } = picture.meta;
    const position = { row: row === undefined ? null : row * block[0], column: column === undefined ? null : column * block[1] };
    const among = head === undefined ? null : head + (picture.stage.only ?? 0);
    const whole = head !== undefined && row !== undefined && column !== undefined;
    const pick = { stage: this.heatmap.flip.of(picture.name), head: among, ...position, ...(whole ? picture.behind({ head, row, column }) : {}) };
    return () => this.pick(pick);
  }

  /** @param {Pick} pick */
  pick(pick) {
    const { highlights: lights, page } = this.heatmap;
    this.chosen = this.made = pick;
    this.pending.push(JSON.stringify(pick));
    lights.set(lights.highlight);
    const picture = this.heatmap.pictures.get(pick.stage), axes = picture?.meta.axes ?? [];
    const among = (/** @type {0 | 1} */ axis, /** @type {number | null} */ index) => (index === null || !picture ? index : picture.position(axis, index));
    const detail = { ...pick, row: among(0, pick.row), column: among(1, pick.column), axes }; // among all words
    this.heatmap.host?.dispatchEvent(new CustomEvent("attnviz:pick", { detail, bubbles: true }));
    page.setTriggerValue("event", { kind: "pick", ...pick });
  }

  /** Show one head by itself, or with null all of them again. @param {number | null} head */
  focusHead(head) {
    const { data, page, alone } = this.heatmap;
    if (data.heads < 2 || head === alone) return;
    page.setTriggerValue("event", { kind: "focus", head });
  }

  /**
   * Whether keys are for the pictures: they have the focus, or nothing else does.
   *
   * @param {EventTarget | null} target
   */
  acceptsKeys(target) {
    if (!(target instanceof Element) || this.heatmap.data.heads < 2) return false;
    const nothing = target === document.body || target.matches("[data-testid=stMain]");
    return nothing || Boolean(this.heatmap.host?.contains(target));
  }

  /**
   * F focuses the head that is pointed at or chosen, Escape shows all of them, or ends painting; arrows go on from head to head.
   *
   * @param {KeyboardEvent} event
   */
  shortcut(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !this.acceptsKeys(event.target)) return;
    const { alone: focus, data, holding } = this.heatmap;
    const { heads } = data, isEnded = event.key === "Escape" && holding.mask.end();
    if (isEnded) return event.preventDefault();
    if (focus === null) {
      if (event.key.toLowerCase() !== "f") return;
      this.focusHead(this.heatmap.highlights.highlight?.head ?? this.chosen?.head ?? 0);
    } else if (event.key === "Escape") this.focusHead(null);
    else if (event.key === "ArrowLeft") this.focusHead((focus + heads - 1) % heads);
    else if (event.key === "ArrowRight") this.focusHead((focus + 1) % heads);
    else return;
    event.preventDefault();
  }

  /** The keyboard has come to a picture: start at the chosen cell, or at the first. @param {Picture} picture */
  enter(picture) {
    const highlight = this.chosen?.stage === picture.name ? this.highlight : null;
    const { head = null, row = null, column = null } = highlight ? picture.cellsOf(highlight) : {};
    if (head !== null && row !== null && column !== null) picture.cursor = { head, row, column };
    picture.cursor = nearestCell(picture, picture.cursor);
    if (picture.focus.matches(":focus-visible")) this.heatmap.pointing.visit(picture, picture.cursor);
  }

  /** @param {Picture} picture @param {KeyboardEvent} event */
  onKeydown(picture, event) {
    const { data, alone, highlights: lights, holding } = this.heatmap;
    const cursor = (picture.cursor = nearestCell(picture, picture.cursor));
    if (holding.onKeydown(picture, event)) return;
    const moved = neighbour(picture, cursor, event.key);
    if (event.key === "Enter" || event.key === " ") this.chooser(picture, cursor)();
    else if (event.key === "Escape" && lights.highlight) this.heatmap.pointing.leave();
    else if (event.key.toLowerCase() === "f") this.focusHead(alone ?? cursor.head);
    else if (event.key === "PageUp" && alone) this.focusHead(alone - 1);
    else if (event.key === "PageDown" && alone !== null && alone < data.heads - 1) this.focusHead(alone + 1);
    else if (!moved || event.ctrlKey || event.metaKey || event.altKey) return;
    else picture.cursor = moved;
    event.preventDefault();
    if (event.key !== "Escape") this.heatmap.pointing.visit(picture, picture.cursor);
  }
}

/** A cell of a picture, which may have had more of them; the first where there is none. @param {Picture} picture @param {Cell} [cell] @returns {Cell} */
function nearestCell({ meta: { widths }, rows }, { head, row, column } = { head: 0, row: 0, column: 0 }) {
  const at = Math.min(head, widths.length - 1);
  return { head: at, row: Math.min(row, rows - 1), column: Math.min(column, widths[at] - 1) };
}

/**
 * The cell to which a key leads from another, which is that one itself at an edge; none for other keys.
 *
 * @param {Picture} picture
 * @param {Cell} cell
 * @param {string} key
 * @returns {Cell | undefined}
 */
function neighbour(picture, { head, row, column }, key) {
  const { across, widths } = picture.meta;
  const [right, bottom] = [widths[head] - 1, picture.rows - 1];
  /** @param {number} h @param {number} r @param {number} c @returns {Cell} */
  const to = (h, r, c) => (h >= 0 && h < widths.length ? { head: h, row: r, column: Math.min(c, widths[h] - 1) } : { head, row, column });
  /** @param {number} step */
  const beside = (step) => (Math.floor((head + step) / across) === Math.floor(head / across) ? head + step : -1);
  /** @type {Partial<Record<string, () => Cell>>} */
  const moves = {
    ArrowLeft: () => (column > 0 ? to(head, row, column - 1) : to(beside(-1), row, Infinity)),
    ArrowRight: () => (column < right ? to(head, row, column + 1) : to(beside(1), row, 0)),
    ArrowUp: () => (row > 0 ? to(head, row - 1, column) : to(head - across, bottom, column)),
    ArrowDown: () => (row < bottom ? to(head, row + 1, column) : to(head + across, 0, column)),
    Home: () => to(head, row, 0),
    End: () => to(head, row, right),
    PageUp: () => to(head - 1, row, column),
    PageDown: () => to(head + 1, row, column),
  };
  return moves[key]?.();
}
