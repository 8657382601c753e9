// What several components show, in one message: each draws its part as soon as both are there.

/** @import { Component } from "../../types" */
import { unpackStage } from "../../../pictures/stage_bytes.js";

/** @typedef {(data: Uint8Array) => void} Draw */
/** @typedef {{ sent: Map<HTMLElement, Map<string, Uint8Array>>, draws: Map<string, Map<HTMLElement, Draw>> }} Parts  who has sent what they show, the last one last, and what draws them where */

/**
 * Where a page is laid out anew, Streamlit has what stood there for a moment beside what stands there now, and may draw
 * either of them last: so all are drawn that are there, and one that leaves takes nothing with it but its own.
 */
class Messages {
  /** @type {Map<string, Parts>} */
  all = new Map(); // by their keys

  /** @param {string} key */
  of(key) {
    /** @type {Parts} */
    const parts = this.all.get(key) ?? { sent: new Map(), draws: new Map() };
    this.all.set(key, parts);
    return parts;
  }

  /** @param {HTMLElement} owner @param {Uint8Array} data */
  take(owner, data) {
    /** @type {{ header: { key: string, arrays: {} }, arrays: Record<string, { values: ArrayLike<number> }> }} */
    const { header, arrays } = unpackStage(data);
    const parts = this.of(header.key), sent = Object.entries(arrays).map(([name, { values }]) => /** @type {const} */ ([name, /** @type {Uint8Array} */ (values)]));
    for (const other of parts.sent.keys()) if (other === owner || !other.isConnected) parts.sent.delete(other);
    parts.sent.set(owner, new Map(sent));
    this.draw(parts);
  }

  /** What was sent last. @param {Parts} parts */
  shown = ({ sent }) => [...sent.values()].at(-1) ?? new Map();

  /** @param {Parts} parts */
  draw(parts) {
    for (const [name, bytes] of this.shown(parts)) for (const draw of parts.draws.get(name)?.values() ?? []) this.attempt(draw, bytes);
  }

  /** @param {Draw} draw @param {Uint8Array} bytes */
  attempt(draw, bytes) {
    try {
      draw(bytes);
    } catch (error) {
      reportError(error); // the others are drawn all the same
    }
  }

  /** Who has sent them is no longer on the page. @param {HTMLElement} owner */
  leave(owner) {
    for (const parts of this.all.values()) {
      const before = this.shown(parts);
      parts.sent.delete(owner);
      if (this.shown(parts) !== before && parts.sent.size) this.draw(parts);
    }
  }

  /** Draw a part now and whenever it comes; returns what ends that. @param {string} address  the key of the message and that of the part @param {HTMLElement} where @param {Draw} draw */
  follow(address, where, draw) {
    const [key, name] = address.split(" "), parts = this.of(key), draws = parts.draws.get(name) ?? new Map(), now = this.shown(parts).get(name);
    parts.draws.set(name, draws.set(where, draw));
    if (now) this.attempt(draw, now);
    return () => draws.get(where) === draw && draws.delete(where);
  }
}

if (window.attnvizScripts) window.attnvizScripts.messages ??= new Messages();

/** @param {Component<Uint8Array, {}, {}, HTMLElement>} component */
export default function ({ data, parentElement }) {
  window.attnvizScripts?.messages?.take(parentElement, data);
  return () => window.attnvizScripts?.messages?.leave(parentElement);
}
