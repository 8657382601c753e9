// Listens for pastes into the page's own fields, and shows a line for a while where one is too long. Also tells style
// sheets whether the pointer was pressed last or the Tab key: after a press the browser draws Streamlit's frame around
// all of the page at the next key, whichever it is, and the frame is for those who come there with Tab. And it has
// Streamlit's own words said in the language of the page.

/** @import { Component, PasteData } from "../types" */
import { sayStreamlitWords } from "./streamlit_words.js";

const SHOWN_FOR = 12000; // milliseconds

/** @param {Element} field @returns {string | undefined} the key of its widget */
function keyOf(field) {
  const holder = field.closest("[class*='st-key-']");
  const name = [...(holder?.classList ?? [])].find((each) => each.startsWith("st-key-"));
  return name?.slice("st-key-".length);
}

/** @param {EventTarget | null} field @returns {number} how many of its characters a paste would keep */
function kept(field) {
  if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return 0;
  return field.value.length - ((field.selectionEnd ?? 0) - (field.selectionStart ?? 0));
}

/** @param {Component<Uint8Array>} component */
export default function ({ data: bytes, parentElement }) {
  /** @type {PasteData} */
  const data = JSON.parse(new TextDecoder().decode(bytes));
  const line = document.createElement("p");
  line.className = "attn-fault attn-toast";
  line.setAttribute("role", "alert");
  line.hidden = true;
  parentElement.append(line);
  let timer = 0;

  const hide = () => { line.hidden = true; };
  /** @param {string} words */
  const show = (words) => {
    line.textContent = words;
    line.hidden = false;
    clearTimeout(timer);
    timer = setTimeout(hide, SHOWN_FOR);
  };
  /** @param {ClipboardEvent} event */
  const onPaste = (event) => {
    const field = event.target;
    const key = field instanceof Element ? keyOf(field) : undefined;
    const most = key === undefined ? undefined : data.limits[key];
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!most || kept(field) + text.length <= most) return hide();
    event.preventDefault();
    event.stopPropagation();
    const grouped = { useGrouping: data.language === "en" }; // elsewhere the mark between groups is a decimal one
    const [n, limit] = [text.length, most].map((number) => number.toLocaleString(data.language, grouped));
    show(data.words.refused.replace("{n}", n).replace("{most}", limit));
  };
  const stopSaying = sayStreamlitWords(data.streamlit);
  const { dataset } = document.documentElement;
  const stop = new AbortController();
  const options = { capture: true, signal: stop.signal };
  document.addEventListener("paste", onPaste, options);
  document.addEventListener("pointerdown", () => { dataset.pressed = ""; }, options);
  document.addEventListener("keydown", ({ key }) => { if (key === "Tab") delete dataset.pressed; }, options);
  return () => {
    clearTimeout(timer);
    stop.abort();
    stopSaying();
    line.remove();
  };
}
