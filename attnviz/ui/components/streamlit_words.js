// Says Streamlit's own words in the language of the page. Text is changed inside the nodes that Streamlit made, and none
// is put in their stead, so it goes on drawing them as ever; whatever it writes anew is said anew.

import { numberInLanguage } from "./signs.js";

/** Elements of Streamlit in which text is its own; elsewhere it is ours, or a visitor's. */
const OF_STREAMLIT = [
  '[data-testid="stFileUploader"] :not(label *)',
  '[data-testid="stMainMenuList"] *',
  '[data-testid="stSkipToContent"]',
  '[data-testid="stTooltipContent"] *',
  '[data-testid="stDataFrameColumnMenu"] *',
  '[role="option"] > span',
].join();
/** Elements with a number of Streamlit's. */
const NUMBERS = '[data-testid="stSliderThumbValue"], [data-testid^="stSliderTickBar"], [data-testid^="stSlider"] *';
/** Elements whose text and attributes are ours, and names of icons. */
const OURS = '.stBidiComponent, [data-testid="stIconMaterial"]';
const SPOKEN = ["aria-label", "placeholder", "title"];

/**
 * What a node said in English, and what it says since, by the name of the attribute; "" is its text.
 * @type {WeakMap<Node, Record<string, { english: string, said: string }>>}
 */
const saidSince = new WeakMap();
/** What watches the page in the language before, until another one is spoken. */
let stopWatching = () => {};

/** @param {Record<string, string>} words @returns {(english: string) => string} */
function translator(words) {
  const filled = Object.keys(words).filter((english) => english.includes("{")).map((english) => {
    const names = [...english.matchAll(/\{(\w+)\}/g)].map((found) => found[1]);
    const text = english.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{\w+\}/g, "(.+)");
    return { pattern: new RegExp(`^${text}$`, "s"), names, words: words[english] };
  });
  return (english) => {
    const text = english.trim();
    if (Object.hasOwn(words, text)) return english.replace(text, () => words[text]);
    for (const { pattern, names, words: said } of filled) {
      const found = pattern.exec(text);
      if (found) return names.reduce((so, name, at) => so.replace(`{${name}}`, () => found[at + 1]), said);
    }
    const [, label, of] = /^([^:]+): (.+)$/s.exec(text) ?? [];
    return label !== undefined && Object.hasOwn(words, label) ? `${words[label]}: ${of}` : english;
  };
}

/**
 * Say Streamlit's words in the language of the page, also those that it will yet write.
 * @param {Record<string, string>} words what each is in the language, none in English
 * @returns {() => void} what stops it
 */
export function sayStreamlitWords(words) {
  stopWatching();
  const translated = translator(words);
  /** @param {Node} node @param {string} name @param {string} now @param {(text: string) => void} write */
  const say = (node, name, now, write) => {
    const kept = saidSince.get(node) ?? {};
    const english = kept[name]?.said === now ? kept[name].english : now;
    const said = translated(english);
    if (said === now) return;
    saidSince.set(node, { ...kept, [name]: { english, said } });
    write(said);
  };
  /** @param {Node} text */
  const sayText = (text) => {
    const around = text.parentElement;
    if (!text.nodeValue?.trim() || !around || around.closest(OURS)) return;
    if (around.matches(NUMBERS) && /^[−-]?\d*\.\d+$/.test(text.nodeValue)) text.nodeValue = numberInLanguage(text.nodeValue);
    if (!around.matches(OF_STREAMLIT)) return;
    say(text, "", text.nodeValue, (said) => { text.nodeValue = said; });
  };
  /** @param {Element} element */
  const sayAttributes = (element) => {
    if (element.closest(OURS)) return;
    for (const name of SPOKEN) {
      const now = element.getAttribute(name);
      if (now) say(element, name, now, (said) => element.setAttribute(name, said));
    }
  };
  /** @param {Node} root */
  const sayAll = (root) => {
    if (root.nodeType === Node.TEXT_NODE) return sayText(root);
    if (!(root instanceof Element)) return;
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = /** @type {Node | null} */ (root); node; node = walker.nextNode()) {
      node instanceof Element ? sayAttributes(node) : sayText(node);
    }
  };
  sayAll(document.body);
  if (!Object.keys(words).length) return stopWatching = () => {};
  const observer = new MutationObserver((changes) => {
    for (const { type, target, addedNodes } of changes) {
      if (type === "childList") addedNodes.forEach(sayAll);
      else if (type === "characterData") sayText(target);
      else if (target instanceof Element) sayAttributes(target);
    }
  });
  const all = { childList: true, characterData: true, subtree: true, attributes: true, attributeFilter: SPOKEN };
  observer.observe(document.body, all);
  return stopWatching = () => observer.disconnect();
}
