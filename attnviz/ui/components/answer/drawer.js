// The answer beside the maps: how the cell, row or output that was chosen came to be, in a few lines with bars.
// All text enters through textContent.

/** @import { Component, Mark } from "../../types" */
/** @import { Answer, AnswerData } from "./types" */
/** @import { Setting } from "./drawer_pictures.js" */
import { isDark } from "../colours.js";
import { Player } from "./motion_player.js";
import { meets, standsFor } from "./marks.js";
import { drawLine, put } from "./drawer_pictures.js";

/** @typedef {{ close: boolean, all: boolean, key: number }} Told  what the page is told */
/** @typedef {<Name extends keyof Told>(name: Name, value: Told[Name]) => void} Tell */

const LIT = "attnviz:lit"; // detail: the cells that are pointed at in some view, or null
const SHEET = matchMedia("(max-width: 1099px)");
const NEAR = ".st-key-stage, .attn-drawer"; // where Escape is for the answer

class Drawer {
  /** @type {AnswerData | undefined} */
  data;
  /** @type {Tell} */
  tell = () => {};
  /** @type {Mark | null} */
  lit = null;
  shown = "";
  /** @type {Player | null} */
  player = null;
  started = false; // whether what the link asks to be played has been
  stop = new AbortController();

  /** @param {HTMLElement} root */
  constructor(root) {
    this.live = put(root, "div", "ad-live");
    this.live.setAttribute("aria-live", "polite");
    this.box = put(root, "aside", "attn-drawer");
    this.body = this.box;
    this.listen();
  }

  listen() {
    const { signal } = this.stop;
    window.addEventListener("keydown", (event) => this.key(event), { signal, capture: true });
    window.addEventListener(LIT, (event) => event instanceof CustomEvent && this.hear(event.detail), { signal });
    SHEET.addEventListener("change", () => this.draw(), { signal });
    this.theme = new MutationObserver(() => this.draw());
    this.theme.observe(document.documentElement, { attributes: true, attributeFilter: ["class", "style", "data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTimeout(() => this.draw(), 100), { signal });
    this.box.addEventListener("pointerover", (event) => this.point(event.target));
    this.box.addEventListener("pointerleave", () => !this.player && this.light(null));
    this.box.addEventListener("click", (event) => this.press(event.target));
  }

  /** @param {AnswerData} data @param {Tell} tell */
  update(data, tell) {
    this.tell = tell;
    this.data = data;
    this.draw();
  }

  /** Draw the answer, unless it is what stands there already; a new one is said to who cannot see it. */
  draw() {
    const answer = this.data?.answer;
    const was = this.shown;
    const shown = answer ? JSON.stringify([this.data, this.setting(answer)]) : "";
    if (shown === was) return;
    this.shown = shown;
    if (!answer || !this.data) return this.empty();
    const held = this.held();
    const { words } = this.data;
    const goes = this.player && this.cell === String([answer.head, answer.query, answer.key]) ? this.player : null;
    this.player?.end();
    this.player = null;
    this.cell = String([answer.head, answer.query, answer.key]);
    this.box.replaceChildren();
    delete this.box.dataset.down;
    this.box.setAttribute("aria-label", words.answer);
    this.drawTop(answer);
    const setting = this.setting(answer);
    this.box.dataset.open = "";
    this.body = put(this.box, "div", "ad-body");
    answer.lines.forEach((line, at) => drawLine(this.body, line, at + 1, setting));
    this.drawFoot();
    if (goes) this.play(goes.at, goes.playing);
    else if (this.data.play && answer.motion && !this.started) this.play(0, true);
    this.started = true;
    this.refocus(held);
    const spoken = [answer.sentence, ...answer.lines.map(({ title, value }) => `${title}: ${value}`)].join(". ");
    if (this.live.textContent !== spoken) this.live.textContent = spoken;
  }

  empty() {
    const held = this.held();
    delete this.box.dataset.open;
    this.halt();
    this.box.replaceChildren();
    this.live.textContent = "";
    if (held) this.leave();
  }

  /** The class of what has the focus in here. */
  held() {
    const active = document.activeElement;
    return active instanceof HTMLElement && this.box.contains(active) ? active.className : "";
  }

  /** @param {string} name */
  refocus(name) {
    const again = name && this.box.querySelector(`.${name.split(" ")[0]}`);
    if (again instanceof HTMLElement) again.focus();
  }

  /**
   * Give the focus back to the maps. They may just be drawn anew, as there is more room for them: so it looks again at
   * every frame for a while, unless the visitor has gone elsewhere.
   *
   * @param {number} frames
   */
  leave(frames = 120) {
    const active = document.activeElement;
    const free = active === document.body || this.box.contains(active);
    if (!free && active?.className !== "attn-focus") return;
    const map = document.querySelector(".st-key-explore-weights .attn-focus") ?? document.querySelector(".attn-host .attn-focus");
    if (free && map instanceof HTMLElement) map.focus({ preventScroll: true });
    if (frames) requestAnimationFrame(() => this.leave(frames - 1));
  }

  /** @param {Answer} answer @returns {Setting} */
  setting({ query, key }) {
    return { query, key, dark: isDark(this.box), sheet: SHEET.matches, scales: this.data?.scales ?? [] };
  }

  /** @param {Answer} answer */
  drawTop({ title, sentence, motion }) {
    const top = put(this.box, "div", "ad-top");
    const head = put(top, "h2", "");
    for (const [name, text] of title) put(put(head, "span", `ad-${name}`), "bdi", "", text);
    if (motion) {
      const play = this.button(top, "ad-play", `▶ ${this.data?.words.play}`, () => this.toggle());
      play.setAttribute("aria-pressed", "false");
    }
    const close = this.button(top, "ad-close", "×", () => this.close());
    close.setAttribute("aria-label", this.data?.words.close ?? "");
    close.title = this.data?.words.close ?? "";
    put(this.box, "p", "ad-sentence", sentence);
  }

  /**
   * @param {Node} parent
   * @param {string} name
   * @param {string} text
   * @param {() => void} pressed
   */
  button(parent, name, text, pressed) {
    const button = put(parent, "button", name, text);
    button.setAttribute("type", "button");
    button.addEventListener("click", pressed);
    return button;
  }

  drawFoot() {
    const foot = put(this.box, "div", "ad-foot");
    this.button(foot, "ad-all", this.data?.words.all ?? "", () => this.open());
    put(foot, "span", "ad-soft ad-rounded", this.data?.words.rounded);
  }

  /** Show the full arithmetic, which stands below the maps; a sheet makes room for it. */
  open() {
    this.tell("all", true);
    if (SHEET.matches) this.box.dataset.down = "";
    let tries = 0;
    const look = () => {
      const sheet = document.querySelector(".st-key-all-lines");
      if (sheet) sheet.scrollIntoView({ block: "start", behavior: "instant" });
      if (tries++ < 20) setTimeout(look, sheet ? 150 : 50);
    };
    look();
  }

  /** Show the lines, or how they come to be. */
  toggle() {
    if (this.player) return this.halt();
    this.play(0, true)?.slider.focus({ preventScroll: true });
  }

  /** Play the cell in the place of its lines. @param {number} at @param {boolean} goes @returns {Player | null} */
  play(at, goes) {
    const answer = this.data?.answer;
    if (!answer?.motion || !this.data) return null;
    this.box.dataset.plays = "";
    this.name(this.data.words.lines, true);
    this.player = new Player(this.box, answer.motion, this.setting(answer), this.data.words, (kind) => this.follow(kind));
    if (at) this.player.show(Math.min(at, answer.motion.frames.length - 1));
    if (goes) this.player.start();
    return this.player;
  }

  /** Back to the lines. */
  halt() {
    if (!this.player) return;
    const held = this.player.box.contains(document.activeElement);
    this.player.end();
    this.player = null;
    delete this.box.dataset.plays;
    this.light(null);
    this.name(`▶ ${this.data?.words.play}`, false);
    if (held) this.refocus("ad-play");
  }

  /** What the button at the top does. @param {string} text @param {boolean} plays */
  name(text, plays) {
    const button = this.box.querySelector(".ad-play");
    if (!button) return;
    button.textContent = text;
    button.setAttribute("aria-pressed", String(plays));
  }

  /** Light in the maps what is played: the cell, or the whole row. @param {string} kind */
  follow(kind) {
    const answer = this.data?.answer;
    if (!answer) return;
    const { query, key } = answer;
    const whole = ["row", "shares", "mix", "output"].includes(kind);
    this.light({ own: "query", query, key: whole ? null : key });
  }

  close() {
    this.halt();
    this.light(null);
    this.tell("close", true);
    const held = this.held();
    delete this.box.dataset.open; // at once: the page follows
    if (held) this.leave();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { target } = event;
    if (this.box.dataset.open === undefined || !(target instanceof Element)) return;
    const page = target === document.body || target.matches("[data-testid=stMain]");
    const plays = this.player && (page || this.box.contains(target)) && this.player.key(event);
    if (!plays && (event.key !== "Escape" || !(page || target.closest(NEAR)))) return;
    event.preventDefault();
    event.stopPropagation();
    if (plays) return;
    if (this.player) this.halt();
    else this.close();
  }

  /** @param {EventTarget | null} target */
  point(target) {
    if (!this.player) this.light(standsFor(target));
  }

  /** Light the cells of the maps that something here stands for; null puts the light out. @param {Mark | null} mark */
  light(mark) {
    const answer = this.data?.answer;
    if (!answer || (!mark && !this.lit)) return;
    this.lit = mark;
    const detail = mark && { ...mark, head: answer.head, from: "answer" };
    window.dispatchEvent(new CustomEvent(LIT, { detail }));
  }

  /** Light what stands here for the cells that are pointed at in some view. @param {Mark | null} mark */
  hear(mark) {
    const answer = this.data?.answer;
    if (!answer) return;
    const elsewhere = mark && mark.head !== null && mark.head !== undefined && mark.head !== answer.head;
    this.box.querySelectorAll("[data-mark]").forEach((element) => {
      const own = standsFor(element);
      element.classList.toggle("ad-lit", Boolean(mark && own && !elsewhere && meets(own, mark)));
    });
  }

  /** A press on what stands for another key chooses it. @param {EventTarget | null} target */
  press(target) {
    const mark = standsFor(target);
    if (mark?.goes && mark.key !== null && mark.key !== undefined) this.tell("key", mark.key);
    else if (this.box.dataset.down !== undefined && !(target instanceof HTMLButtonElement)) delete this.box.dataset.down;
  }

  end() {
    this.player?.end();
    this.stop.abort();
    this.theme?.disconnect();
    this.box.remove();
    this.live.remove();
  }
}

/** @param {Component<Uint8Array, Told, { attnAnswer?: Drawer }, HTMLElement>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const drawer = (parentElement.attnAnswer ??= new Drawer(parentElement));
  drawer.update(JSON.parse(new TextDecoder().decode(data)), setTriggerValue);
  return () => {
    drawer.end();
    delete parentElement.attnAnswer;
  };
}
