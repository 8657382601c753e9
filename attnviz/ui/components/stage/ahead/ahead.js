// The maps ahead of the page: while a field is held, the stages of what it says are asked for by their address and drawn.
// The page learns of it when the field is let go; the run that follows finds the same stages there.

/** @import { Heatmap } from "../heatmap.js" */
/** @import { Follow, HeldElsewhere, HeldField, Message, SentAhead } from "../types" */
import { unpackStage } from "../../../../pictures/stage_bytes.js";
import { CELL } from "../../answer/cell_arrays.js";
import { HeldFields, classOf } from "./held_fields.js";

const MOST = 300; // milliseconds for an answer: where it takes longer, or there is none, following is left to the page
const PAUSES = [500, 5000]; // for so many milliseconds; for twice as many after each late answer, up to the second
const LONGEST = 2000; // milliseconds until nobody waits for an answer any more
const MOST_KEPT = 4; // answers, for runs of which they are
const BYTES = "application/octet-stream";
const FIELD_HELD = "attnviz:field"; // detail: a `HeldElsewhere`

/**
 * The address of a setting in which one field says something else.
 *
 * @param {Follow} follow
 * @param {Map<string, string>} said  what fields say that are not as in the setting, by their keys
 */
export function addressOf({ address, setting, fields }, said) {
  const query = new URLSearchParams(setting);
  for (const [key, text] of said) {
    const { name = key, before = "", stops, empty } = fields[key];
    query.set(name, before + (stops ? stops[Number(text)] : text || (empty ?? "")));
  }
  return `${address}?${query}`;
}

/** Whether a field says what it has said to the page. @param {HeldField} field @param {string} text */
export function saysTheSame({ now }, text) {
  return typeof now === "string" ? text === now : text === "" || Number(text) === now; // an empty number goes back to what it was
}

export class Ahead {
  /** @type {Follow | null} */
  follow = null; // of the last run
  /** @type {Map<string, string>} */
  said = new Map(); // what fields say that the page has not heard of
  held = ""; // the key of the field that moved last
  asked = ""; // the last address
  hasMoved = false; // since then
  isAsking = false;
  /** @type {Promise<unknown> | undefined} */
  coming; // the answer
  /** @type {Map<string, SentAhead>} */
  answers = new Map(); // the last ones, by their names
  pause = 0; // milliseconds that follow an answer, as long as they are late
  isHeldElsewhere = false; // whether another view holds what a field says

  /** @param {Heatmap} heatmap */
  constructor(heatmap) {
    this.heatmap = heatmap;
    this.fields = new HeldFields(
      (written, text) => this.move(written, text),
      () => heatmap.preview.expect(),
    );
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    this.fields.listen(signal);
    window.addEventListener(FIELD_HELD, (event) => event instanceof CustomEvent && this.receive(event.detail), { signal });
  }

  /** Another view says what a field would say, and whether that is held; no text: it is taken back. @param {HeldElsewhere} said */
  receive({ key, text, isHeld }) {
    this.isHeldElsewhere = isHeld;
    if (text !== null) this.move(classOf(key), text);
    else if (this.said.delete(key)) this.heatmap.preview.settle();
    if (!isHeld && text !== null) this.heatmap.preview.expect();
  }

  get isHeld() {
    return this.fields.held !== null || this.isHeldElsewhere;
  }

  /** A run has drawn a setting: only what is held now says something else. @param {Follow | null | undefined} follow */
  take(follow) {
    this.follow = follow ?? null;
    for (const [key, text] of this.said) {
      const field = follow?.fields[key], isHeld = this.isHeld && this.held === key;
      if (!isHeld || !field || saysTheSame(field, text)) this.said.delete(key);
    }
    this.asked = follow && !this.said.size ? addressOf(follow, this.said) : "";
  }

  /** @param {string} written  the key of a field, as it stands in a class @param {string} text */
  move(written, text) {
    const found = Object.entries(this.follow?.fields ?? {}).find(([key]) => classOf(key) === written);
    if (!found) return;
    const [key, field] = found;
    this.held = key;
    if (saysTheSame(field, text)) this.said.delete(key);
    else this.said.set(key, text);
    if (!this.said.size) this.heatmap.preview.settle();
    this.hasMoved = true;
    if (!this.isAsking) this.ask();
  }

  /** Ask for what the fields say, one question at a time, until they say nothing new. */
  async ask() {
    this.isAsking = true;
    while (this.hasMoved && this.follow && this.said.size) {
      this.hasMoved = false;
      const address = addressOf(this.follow, this.said);
      if (address === this.asked) continue;
      this.asked = address;
      const { bytes, isLate } = await (this.coming = answered(address));
      const sent = bytes && this.keep(bytes);
      if (sent && this.said.size) this.heatmap.preview.follow(sent, this.isHeld);
      this.pause = isLate ? Math.min(Math.max(2 * this.pause, PAUSES[0]), PAUSES[1]) : 0;
      if (isLate) await new Promise((done) => setTimeout(done, this.pause));
    }
    this.isAsking = false;
  }

  /** Keep an answer for the run that is of it. @param {Uint8Array} bytes */
  keep(bytes) {
    /** @type {SentAhead} */
    const sent = unpackStage(bytes);
    if (sent.header.name) this.answers.set(sent.header.name, sent);
    for (const [oldest] of this.answers) if (this.answers.size > MOST_KEPT) this.answers.delete(oldest);
    return sent;
  }

  /** A message with the stages that are at their address; null where they are not to be had. @param {Message} message @returns {Promise<Message | null>} */
  async completed({ header, arrays }) {
    const { there, follow, cells } = header;
    const sent = there && follow && (this.answers.get(there) ?? (await this.fetch(there, follow)));
    if (!sent) return null;
    const shared = (cells?.shared ?? []).map((name) => [CELL + name, sent.arrays[name]]);
    return { header: { ...header, stages: sent.header.stages }, arrays: { ...sent.arrays, ...arrays, ...Object.fromEntries(shared) } };
  }

  /** The answer of a name, which may be on its way, or else is asked for. @param {string} name @param {Follow} follow  of its setting */
  async fetch(name, follow) {
    await this.coming;
    if (!this.answers.has(name)) {
      const { bytes } = await answered(addressOf(follow, new Map()));
      if (bytes) this.keep(bytes);
    }
    return this.answers.get(name);
  }
}

/** The bytes at an address, if there are any, and whether they did not come soon. @param {string} address */
export async function answered(address) {
  const began = performance.now();
  try {
    const answer = await fetch(new URL(address, document.baseURI), { signal: AbortSignal.timeout(LONGEST) });
    const isOurs = answer.ok && answer.headers.get("content-type") === BYTES;
    const bytes = isOurs ? new Uint8Array(await answer.arrayBuffer()) : null;
    const isFine = isOurs || answer.status === 400; // what is half typed may be no setting
    return { bytes, isLate: !isFine || performance.now() - began > MOST };
  } catch {
    return { bytes: null, isLate: true }; // no line, or no answer for so long
  }
}
