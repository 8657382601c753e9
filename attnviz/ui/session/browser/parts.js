// Components that are one element of the page: it draws them one below the other, and says what each of them says.

/** @import { Component, PartOfPage, Said } from "../../types" */

/** @typedef {{ message: string, parts: PartOfPage[], session: string, latest: number }} Data  with the number of what Python knows last */
/** @typedef {Component<Data, { said: Said[] }, { attnParts?: Parts }, HTMLElement>} Page */

const LATELY = 10_000; // ms in which a run that is busy hears of what was said
const MOST = 32; // as many as Python hears of

let last = 0; // number of what was said last, larger than any before, also those of a page that was left

class Parts {
  /** @type {Map<string, { host: HTMLElement, leave?: () => void }>} */
  drawn = new Map(); // by their keys
  /** @type {(Said & { at: number })[]} */
  said = []; // lately, as far as Python is not known to know it
  session = "";

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
  }

  /** @param {Page} page */
  update({ data, setTriggerValue }) {
    this.report = setTriggerValue;
    this.session = data.session;
    this.said = this.said.filter((each) => each.session === data.session && each.number > data.latest);
    for (const key of this.drawn.keys()) if (!data.parts.some((part) => part.key === key)) this.remove(key);
    /** @type {HTMLElement | null} */
    let before = null;
    for (const part of data.parts) {
      let { host } = this.drawn.get(part.key) ?? {};
      if (!host) {
        host = document.createElement("div");
        host.className = `st-key-${part.key} ${part.container && `st-key-${part.container}`}`; // as Streamlit says of its elements
        this.root.insertBefore(host, before ? before.nextSibling : this.root.querySelector(":scope > div"));
        this.drawn.set(part.key, { host, leave: this.draw(part, host, data.message) });
      }
      before = host;
    }
  }

  /** @param {PartOfPage} part @param {HTMLElement} host @param {string} message */
  draw({ key, name, is_isolated }, host, message) {
    const parentElement = is_isolated ? host.attachShadow({ mode: "open" }) : host;
    const setTriggerValue = (/** @type {string} */ name, /** @type {unknown} */ value) => this.say(key, name, value);
    try {
      return window.attnvizScripts?.parts[name]?.draw({ key, name, parentElement, data: `${message} ${key}`, setTriggerValue });
    } catch (error) {
      reportError(error); // the others are drawn all the same
      return undefined;
    }
  }

  /** Say it, with what was said shortly before: of what one element says while a run is busy, Streamlit passes on the last alone. @param {string} part @param {string} name @param {unknown} value */
  say(part, name, value) {
    const at = performance.now(), { session } = this;
    last = Math.max(last + 1, Date.now());
    this.said = [...this.said.filter((each) => at - each.at < LATELY), { number: last, part, name, value, session, at }].slice(-MOST);
    this.report?.("said", this.said.map(({ at: _, ...said }) => said));
  }

  /** @param {string} key */
  remove(key) {
    const part = this.drawn.get(key);
    part?.host.remove();
    part?.leave?.();
    this.drawn.delete(key);
  }

  end() {
    for (const key of this.drawn.keys()) this.remove(key);
  }
}

/** @param {Page} component */
export default function (component) {
  const { parentElement } = component;
  const parts = (parentElement.attnParts ??= new Parts(parentElement));
  parts.update(component);
  return () => {
    parts.end();
    delete parentElement.attnParts;
  };
}
