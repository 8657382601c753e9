// Puts a frame into the maps as soon as the slider stands at it; that of the server follows, and is the same.

/** @import { Component } from "../../types" */
/** @import { ChartProps, Host } from "../../components/stage/types" */
import { CHANGED, opened } from "../../components/stage/picture_data.js";

const STEP = "aria-valuetext";

/**
 * The frames of a film: the keys of the maps and of the slider, and where each frame begins and ends.
 *
 * @typedef {{ key: string, slider: string, frames: Record<string, [number, number]> }} FramesData
 */

/** @param {NonNullable<Host["attnPictures"]>} pictures */
const revisions = (pictures) => JSON.stringify(Object.entries(pictures).map(([name, props]) => [name, props?.revision]));

class Frames {
  stop = new AbortController();
  step = "";
  moves = 0; // of the slider, to which the server has not answered
  /** @type {Record<string, ChartProps> | undefined} */
  awaited;

  /** @param {FramesData} message @param {Uint8Array} bytes @param {Host} host @param {Element} slider */
  constructor(message, bytes, host, slider) {
    this.message = message;
    this.bytes = bytes;
    this.host = host;
    this.slider = slider;
    this.observer = new MutationObserver(() => this.show());
    this.observer.observe(slider, { subtree: true, attributes: true, attributeFilter: [STEP] });
    host.addEventListener(CHANGED, () => this.answered(), { signal: this.stop.signal });
  }

  /** Show the frame of the slider, where it is the visitor who moves it. */
  show() {
    const step = this.slider.querySelector(`[${STEP}]`)?.getAttribute(STEP) ?? "";
    const range = this.message.frames[step];
    if (!range || step === this.step || !this.slider.contains(document.activeElement)) return;
    this.step = step;
    this.moves++;
    this.setPictures(opened(this.bytes.subarray(...range)).found);
  }

  /** @param {Record<string, ChartProps>} pictures */
  setPictures(pictures) {
    this.awaited = this.host.attnPictures = pictures;
    this.host.dispatchEvent(new Event(CHANGED));
  }

  /** Leave what the server has sent there, but for a frame that the slider has left meanwhile. */
  answered() {
    const { awaited, host } = this;
    const sent = host.attnPictures;
    if (!awaited || !sent || sent === awaited) return;
    const isOld = revisions(sent) !== revisions(awaited) && --this.moves > 0;
    if (isOld) return this.setPictures(awaited);
    this.awaited = undefined;
    this.moves = 0;
  }

  end() {
    this.observer.disconnect();
    this.stop.abort();
  }
}

/** @param {Component<Uint8Array> & { parentElement: { frames?: Frames } }} component */
export default function ({ parentElement, data }) {
  const end = data.indexOf(0);
  /** @type {FramesData} */
  const message = JSON.parse(new TextDecoder().decode(data.subarray(0, end)));
  /** @type {Host | null} */
  const host = document.querySelector(`.st-key-${message.key}`);
  const slider = document.querySelector(`.st-key-${message.slider}`);
  parentElement.frames?.end();
  const frames = host && slider ? new Frames(message, data.subarray(end + 1), host, slider) : undefined;
  parentElement.frames = frames;
  return () => frames?.end();
}
