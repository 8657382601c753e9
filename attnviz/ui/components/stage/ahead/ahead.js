// The maps ahead of the page: while a field is held, or after a step of it, the stages of what it says are asked for by their
// address and drawn.
// The page learns of it when the field is let go; the run that follows finds the same stages there.

/** @import { Heatmap } from "../heatmap.js" */
/** @import { Follow, HeldElsewhere, HeldField, Message, SentAhead } from "../types" */
import { unpackStage } from "../../../../pictures/stage_bytes.js";
import { CELL } from "../../answer/cell_arrays.js";
import { haveName, keepStages, stagesAt, whenThere } from "../../stages_there.js";
import { HeldFields, classOf } from "./held_fields.js";

const MOST = 300; // milliseconds for an answer: where it takes longer, or there is none, following is left to the page
const PAUSES = [500, 5000]; // for so many milliseconds; for twice as many after each late answer, up to the second
const LONGEST = 2000; // milliseconds until nobody waits for an answer any more
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
  said = new Map(); // what fields say that no run has drawn
  /** @type {Set<string>} */
  expected = new Set(); // those of which the page knows it, so that a run will
  held = ""; // the key of the field that moved last
  asked = ""; // the last address
  hasMoved = false; // since then
  isAsking = false;
  /** @type {Promise<unknown> | undefined} */
  coming; // the answer
  pause = 0; // milliseconds that follow an answer, as long as they are late
  isHeldElsewhere = false; // whether another view holds what a field says

  /** @param {Heatmap} heatmap */
  constructor(heatmap) {
    this.heatmap = heatmap;
    this.fields = new HeldFields(
      (written, text) => this.move(written, text),
      () => this.release(),
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
    else if (this.forget(key)) this.heatmap.preview.settle();
    if (!isHeld && text !== null) this.release();
  }

  /** The page hears what the field says that was held, and will draw it. */
  release() {
    if (this.said.has(this.held)) this.expected.add(this.held);
    this.heatmap.preview.expect();
  }

  /** @param {string} key */
  forget(key) {
    this.expected.delete(key);
    return this.said.delete(key);
  }

  get isHeld() {
    return this.fields.held !== null || this.isHeldElsewhere;
  }

  /** A run has drawn a setting: only what is held, or what another run will draw, says something else. @param {Follow | null | undefined} follow @param {boolean} isLast  no other run will */
  take(follow, isLast = false) {
    this.follow = follow ?? null;
    for (const [key, text] of this.said) {
      const field = follow?.fields[key], isHeld = this.isHeld && this.held === key;
      const isAwaited = isHeld || (this.expected.has(key) && !isLast);
      if (!isAwaited || !field || saysTheSame(field, text)) this.forget(key);
    }
    this.asked = follow && !this.said.size ? addressOf(follow, this.said) : "";
  }

  /** @param {string} written  the key of a field, as it stands in a class @param {string} text */
  move(written, text) {
    const found = Object.entries(this.follow?.fields ?? {}).find(([key]) => classOf(key) === written);
    if (!found) return;
    const [key, field] = found;
    this.held = key;
    if (saysTheSame(field, text) && !this.expected.has(key)) this.forget(key);
    else this.said.set(key, text); // also as it was, where a run of something else is on its way
    if (!this.said.size) this.heatmap.preview.settle();
    this.hasMoved = true;
    if (!this.isAsking) this.ask();
  }

  /** Ask for what the fields say, one question at a time, until they say nothing new. */
  async ask() {
    this.isAsking = true;
    while (this.hasMoved && this.follow && this.said.size) {
      this.hasMoved = false;
      const { follow } = this, address = addressOf(follow, this.said), said = JSON.stringify([...this.said]);
      if (address === this.asked) continue;
      this.asked = address;
      const { sent, isLate } = await (this.coming = stageAt(address));
      const isOfNow = this.follow === follow || said === JSON.stringify([...this.said]); // else a run has drawn what came later
      if (sent && this.said.size && isOfNow) this.heatmap.preview.follow(sent, this.isHeld);
      this.pause = isLate ? Math.min(Math.max(2 * this.pause, PAUSES[0]), PAUSES[1]) : 0;
      if (isLate) await new Promise((done) => setTimeout(done, this.pause));
    }
    this.isAsking = false;
  }

  /** A message with the stages that it names: those of a setting for which another visitor asked are asked for; null where they do not come. @param {Message} message @returns {Promise<Message | null>} */
  async completed({ header, arrays }) {
    const there = header.there ?? "", known = stagesAt(there) ?? (header.is_sent ? await whenThere(there, LONGEST) : undefined);
    if (!known && this.coming) await Promise.race([this.coming, new Promise((done) => setTimeout(done, MOST))]);
    const address = header.follow && !header.is_sent && !this.isAsking ? addressOf(header.follow, new Map()) : null;
    const sent = known ?? stagesAt(there) ?? (address ? (await stageAt(address)).sent : null);
    if (!sent || !haveName(sent, there)) return null;
    const shared = (header.cells?.shared ?? []).map((name) => [CELL + name, sent.arrays[name]]);
    return { header: { ...header, stages: sent.header.stages }, arrays: { ...sent.arrays, ...arrays, ...Object.fromEntries(shared) } };
  }
}

/** The stage at an address, kept for the run that is of it, and whether it did not come soon. @param {string} address @returns {Promise<{ sent: SentAhead | null, isLate: boolean }>} */
async function stageAt(address) {
  const { bytes, isLate } = await answered(address);
  if (!bytes) return { sent: null, isLate };
  try {
    /** @type {SentAhead} */
    const sent = unpackStage(bytes);
    keepStages(sent);
    return { sent, isLate };
  } catch {
    return { sent: null, isLate: true }; // what stands between the server and the page has changed them
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
