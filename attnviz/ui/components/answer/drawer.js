// The answer beside the maps: how the cell, row or output that was chosen came to be, in a few lines with bars.
// All text enters through textContent.

/** @import { Component, Mark, Reported } from "../../types" */
/** @import { Answer, AnswerData } from "./types" */
/** @import { Setting } from "./drawer_pictures.js" */
import { isDark } from "../colours.js";
import { followSwitch, isInPane, scrollToLines, setPane } from "./all_lines.js";
import { Answers } from "./answers.js";
import { Player } from "./motion_player.js";
import { markOf, matches } from "./marks.js";
import { append, drawLine, drawWords, imageOf } from "./drawer_pictures.js";
import { Rail, SHEET } from "./rail.js";

/** @typedef {Component<Uint8Array, Reported, { attnAnswer?: Drawer }, HTMLElement>} Page */

const HIGHLIGHT = "attnviz:highlight"; // detail: the cells that some view points at, or null
const [CLOSES, HELD] = [".st-key-stage, .st-key-all-lines, .attn-drawer, .stMain button", ".attn-hold, [data-fresh]"]; // where Escape closes the answer; what it takes back first

class Drawer {
  /** @type {Page["setTriggerValue"]} */
  report = () => {};
  /** @type {Mark | null} */
  highlighted = null;
  shown = "";
  /** @type {Player | null} */
  player = null;
  waitsToPlay = false; // until Python has sent what is played
  started = false; // whether the link has been played, if it asks for that
  stop = new AbortController();

  /** @param {HTMLElement} root */
  constructor(root) {
    this.live = append(root, "div", "ad-live");
    this.live.setAttribute("aria-live", "polite");
    this.box = append(root, "aside", "attn-drawer");
    this.body = this.box;
    this.rail = new Rail(root, this.box);
    this.answers = new Answers(() => this.draw(), this.stop.signal);
    this.listen();
  }

  get data() {
    return this.answers.data;
  }

  listen() {
    const { signal } = this.stop;
    followSwitch(signal);
    window.addEventListener("keydown", (event) => this.onKeydown(event), { signal, capture: true });
    window.addEventListener(HIGHLIGHT, (event) => event instanceof CustomEvent && this.onHighlight(event.detail), { signal });
    SHEET.addEventListener("change", () => this.draw(), { signal });
    this.theme = new MutationObserver(() => this.draw());
    this.theme.observe(document.documentElement, { attributes: true, attributeFilter: ["class", "style", "data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTimeout(() => this.draw(), 100), { signal });
    this.box.addEventListener("pointerover", (event) => this.point(event.target));
    this.box.addEventListener("pointerleave", () => !this.player && this.highlight(null));
    this.box.addEventListener("click", (event) => this.press(event.target));
  }

  /** @param {AnswerData} data @param {Page["setTriggerValue"]} report */
  update(data, report) {
    if (!this.data) setPane(data.lines); // a link may open them
    this.report = report;
    this.answers.adopt(data);
    this.draw();
    if (this.waitsToPlay && this.data?.answer?.motion) this.toggle();
  }

  /** Draw the answer, unless it is what stands there already; a new one is said to who cannot see it. */
  draw() {
    const answer = this.data?.answer;
    this.box.toggleAttribute("data-aside", this.answers.isAside);
    const image = imageOf(this.data?.image, answer), shown = answer ? this.answers.appearance(this.setting(answer)) + (image?.alt ?? "") : "";
    if (shown === this.shown) return;
    this.shown = shown;
    if (!answer || !this.data) return this.empty();
    const focused = this.focusedClass(), { words } = this.data;
    const cell = String([answer.head, answer.query, answer.key, answer.number?.stage, answer.number?.column]), isAnother = this.cell !== cell;
    const playing = isAnother ? null : this.player;
    this.waitsToPlay = false;
    this.player?.end();
    this.player = null;
    this.cell = cell;
    this.box.replaceChildren();
    delete this.box.dataset.lowered;
    this.box.setAttribute("aria-label", words.answer);
    const setting = this.setting(answer);
    this.drawTop(answer);
    this.box.dataset.open = "";
    this.body = append(this.box, "div", "ad-body");
    if (image) Object.assign(append(this.body, "img", "ad-image"), { src: image.src, alt: image.alt });
    answer.lines.forEach((line, at) => drawLine(this.body, line, at + 1, setting, line.name === "match" ? this.answers.heads : null));
    drawWords(this.body, words.in_words, this.answers.said);
    const foot = append(this.box, "div", "ad-foot");
    answer.query === null || answer.number ? setPane(false) : this.button(foot, "ad-all", words.all, () => this.open()).setAttribute("aria-expanded", String(isInPane()));
    append(foot, "span", "ad-soft ad-rounded", words.rounded);
    if (playing) this.play(playing.at, playing.playing);
    else if (this.data.play && answer.motion && !this.started) this.play(0, true);
    this.started = true;
    this.rail.open(this.data.chips, words, isAnother);
    this.refocus(focused);
    if (this.live.textContent !== this.answers.spoken) this.live.textContent = this.answers.spoken;
  }

  empty() {
    this.hide();
    setPane(false);
    this.cell = "";
    this.stopPlaying();
    this.box.replaceChildren();
    this.live.textContent = "";
  }

  hide() {
    const focused = this.focusedClass();
    this.rail.close(); // while the page is as long as the answer needs it
    delete this.box.dataset.open;
    if (focused) this.rail.returnFocus();
  }

  /** The class of what has the focus in here. */
  focusedClass() {
    const active = document.activeElement;
    return active instanceof HTMLElement && this.box.contains(active) ? active.className : "";
  }

  /** @param {string} name */
  refocus(name) {
    const again = name && this.box.querySelector(`.${name.split(" ")[0]}`);
    if (again instanceof HTMLElement) again.focus();
  }

  /** @param {Answer} answer @returns {Setting} */
  setting({ query, key }) {
    return { query, key, dark: isDark(this.box), sheet: SHEET.matches, scales: this.data?.scales ?? [] };
  }

  /** @param {Answer} answer */
  drawTop({ title, sentence, beside, motion, plays }) {
    const top = append(this.box, "div", "ad-top");
    const head = append(top, "h2", "");
    for (const [name, text] of title) {
      if (head.firstChild) head.append(" ");
      append(append(head, "span", `ad-${name}`), "bdi", "", text);
    }
    const close = this.button(top, "ad-close", "×", () => this.close());
    close.setAttribute("aria-label", this.data?.words.close ?? "");
    close.title = this.data?.words.close ?? "";
    const line = append(this.box, "div", "ad-top");
    for (const [name, text] of [["ad-sentence", sentence], ["ad-aside", this.data?.words.aside]]) append(line, "p", String(name), text);
    if (beside) append(this.box, "p", "ad-beside", beside);
    if (!motion && !plays) return;
    const play = this.button(line, "ad-play", `▶ ${this.data?.words.play}`, () => this.toggle());
    play.setAttribute("aria-pressed", "false");
  }

  /**
   * @param {Node} parent
   * @param {string} name
   * @param {string} text
   * @param {() => void} pressed
   */
  button(parent, name, text, pressed) {
    const button = Object.assign(append(parent, "button", name, text), { type: "button" });
    button.addEventListener("click", pressed);
    return button;
  }

  /** Show the full arithmetic in a pane over the maps, or put it away; a sheet makes room for what stands below them. */
  open() {
    const is_on = !isInPane();
    this.report("event", { kind: "lines", is_on });
    if (!is_on || !SHEET.matches) return setPane(is_on);
    this.box.dataset.lowered = "";
    scrollToLines();
  }

  /** Show the lines, or how they come to be. */
  toggle() {
    if (this.player) return this.stopPlaying();
    const player = this.play(0, true);
    this.waitsToPlay = !player;
    player?.slider.focus({ preventScroll: true });
  }

  /** Play the cell in the place of its lines. @param {number} at @param {boolean} autoplay @returns {Player | null} */
  play(at, autoplay) {
    const answer = this.data?.answer;
    if (!answer?.motion || !this.data) return null;
    this.box.dataset.playing = "";
    this.labelPlay(this.data.words.lines, true);
    this.player = new Player(this.box, answer.motion, this.setting(answer), this.data.words, (kind) => this.follow(kind));
    if (at) this.player.show(Math.min(at, answer.motion.frames.length - 1));
    if (autoplay) this.player.start();
    return this.player;
  }

  /** Back to the lines. */
  stopPlaying() {
    if (!this.player) return;
    const hadFocus = this.player.box.contains(document.activeElement);
    this.player.end();
    this.player = null;
    delete this.box.dataset.playing;
    this.highlight(null);
    this.labelPlay(`▶ ${this.data?.words.play}`, false);
    if (hadFocus) this.refocus("ad-play");
  }

  /** Label the button at the top by what it does. @param {string} text @param {boolean} plays */
  labelPlay(text, plays) {
    const button = this.box.querySelector(".ad-play");
    button?.setAttribute("aria-pressed", String(plays));
    if (button) button.textContent = text;
  }

  /** Highlight in the maps what is played: the cell, or the whole row. @param {string} kind */
  follow(kind) {
    const answer = this.data?.answer;
    const whole = ["row", "shares", "mix", "output"].includes(kind);
    if (answer) this.highlight({ axis: "query", query: answer.query, key: whole ? null : answer.key });
  }

  close() {
    this.stopPlaying();
    this.highlight(null);
    this.report("event", { kind: "close", head: this.answers.headBefore });
    this.answers.choose(null, this.answers.headBefore); // at once
  }

  /** @param {KeyboardEvent} event */
  onKeydown(event) {
    const { target } = event;
    if (this.box.dataset.open === undefined || !(target instanceof Element) || document.querySelector(HELD)) return;
    const page = target === document.body || target.matches("[data-testid=stMain]");
    const isForPlayer = this.player && (page || this.box.contains(target)) && this.player.onKeydown(event);
    if (!isForPlayer && (event.key !== "Escape" || !(page || target.closest(CLOSES)))) return;
    event.preventDefault();
    event.stopPropagation();
    if (isForPlayer) return;
    if (this.player) this.stopPlaying();
    else if (isInPane()) this.open();
    else this.close();
  }

  /** @param {EventTarget | null} target */
  point(target) {
    if (!this.player) this.highlight(markOf(target));
  }

  /** Highlight the cells of the maps that an element here represents; null highlights none. @param {Mark | null} mark */
  highlight(mark) {
    const answer = this.data?.answer;
    if (!answer || (!mark && !this.highlighted)) return;
    this.highlighted = mark;
    const detail = mark && { ...mark, head: answer.head, from: "answer" };
    window.dispatchEvent(new CustomEvent(HIGHLIGHT, { detail }));
  }

  /** Highlight the elements that represent the cells which some view points at. @param {Mark | null} mark */
  onHighlight(mark) {
    const answer = this.data?.answer;
    if (!answer) return;
    const elsewhere = mark && mark.head !== null && mark.head !== undefined && mark.head !== answer.head;
    this.box.querySelectorAll("[data-mark]").forEach((element) => {
      const represented = markOf(element);
      element.classList.toggle("ad-highlighted", Boolean(mark && represented && !elsewhere && matches(represented, mark)));
    });
  }

  /** A press on what represents another key chooses it. @param {EventTarget | null} target */
  press(target) {
    const mark = markOf(target);
    if (mark?.choosesKey && mark.key !== null && mark.key !== undefined) {
      this.answers.chooseKey(mark.key);
      this.report("event", { kind: "key", key: mark.key });
    } else if (this.box.dataset.lowered !== undefined && !(target instanceof HTMLButtonElement)) delete this.box.dataset.lowered;
  }

  end() {
    this.player?.end();
    this.rail.end();
    this.stop.abort();
    this.theme?.disconnect();
    this.box.remove();
    this.live.remove();
  }
}

/** @param {Page} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const drawer = (parentElement.attnAnswer ??= new Drawer(parentElement));
  drawer.update(JSON.parse(new TextDecoder().decode(data)), setTriggerValue);
  return () => {
    drawer.end();
    delete parentElement.attnAnswer;
  };
}
