// What several components show, in one message: each draws its part as soon as both are there.

/** @import { Component } from "../../types" */
import { unpackStage } from "../../../pictures/stage_bytes.js";

/** @typedef {(data: Uint8Array) => void} Draw */
/** @typedef {{ owner: HTMLElement | null, shown: Map<string, Uint8Array>, draws: Map<string, Draw> }} Parts  who has sent what they show, and what draws them */

class Messages {
  /** @type {Map<string, Parts>} */
  all = new Map(); // by their keys

  /** @param {string} key */
  of(key) {
    /** @type {Parts} */
    const parts = this.all.get(key) ?? { owner: null, shown: new Map(), draws: new Map() };
    this.all.set(key, parts);
    return parts;
  }

  /** @param {HTMLElement} owner @param {Uint8Array} data */
  take(owner, data) {
    /** @type {{ header: { key: string, arrays: {} }, arrays: Record<string, { values: ArrayLike<number> }> }} */
    const { header, arrays } = unpackStage(data);
    const parts = this.of(header.key), sent = Object.entries(arrays).map(([name, { values }]) => /** @type {const} */ ([name, /** @type {Uint8Array} */ (values)]));
    Object.assign(parts, { owner, shown: new Map(sent) });
    for (const [name, bytes] of sent)
      try {
        parts.draws.get(name)?.(bytes);
      } catch (error) {
        reportError(error); // the others are drawn all the same
      }
  }

  /** Who has sent them is no longer on the page. @param {HTMLElement} owner */
  leave(owner) {
    for (const parts of this.all.values()) if (parts.owner === owner) parts.shown.clear();
  }

  /** Draw a part now and whenever it comes; returns what ends that. @param {string} address  the key of the message and that of the part @param {Draw} draw */
  follow(address, draw) {
    const [key, name] = address.split(" "), { shown, draws } = this.of(key), now = shown.get(name);
    draws.set(name, draw);
    if (now) draw(now);
    return () => draws.get(name) === draw && draws.delete(name);
  }
}

if (window.attnvizScripts) window.attnvizScripts.messages ??= new Messages();

/** @param {Component<Uint8Array, {}, {}, HTMLElement>} component */
export default function ({ data, parentElement }) {
  window.attnvizScripts?.messages?.take(parentElement, data);
  return () => window.attnvizScripts?.messages?.leave(parentElement);
}
