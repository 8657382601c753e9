// Puts a frame into the maps as soon as the slider stands at it; that of the server follows, and is the same.

/** @import { Component } from "../../types" */
/** @import { Previewed } from "../../components/stage/types" */

const STEP = "aria-valuetext";

/**
 * The frames of a film: the keys of the maps and of the slider, and where each frame begins and ends.
 *
 * @typedef {{ key: string, slider: string, frames: Record<string, [number, number]> }} FramesData
 */

class Frames {
  step = "";

  /** @param {FramesData} message @param {Uint8Array} bytes @param {Element} slider */
  constructor(message, bytes, slider) {
    this.message = message;
    this.bytes = bytes;
    this.slider = slider;
    this.observer = new MutationObserver(() => this.show());
    this.observer.observe(slider, { subtree: true, attributes: true, attributeFilter: [STEP] });
  }

  /** Show the frame of the slider, where it is the visitor who moves it. */
  show() {
    const step = this.slider.querySelector(`[${STEP}]`)?.getAttribute(STEP) ?? "";
    const range = this.message.frames[step];
    if (!range || step === this.step || !this.slider.contains(document.activeElement)) return;
    this.step = step;
    /** @type {Previewed | null} */
    const host = document.querySelector(`.st-key-${this.message.key}`);
    host?.preview?.(this.bytes.slice(...range));
  }
}

/** @param {Component<Uint8Array> & { parentElement: { frames?: Frames } }} component */
export default function ({ parentElement, data }) {
  const end = data.indexOf(0);
  /** @type {FramesData} */
  const message = JSON.parse(new TextDecoder().decode(data.subarray(0, end)));
  const slider = document.querySelector(`.st-key-${message.slider}`);
  parentElement.frames?.observer.disconnect();
  const frames = slider ? new Frames(message, data.subarray(end + 1), slider) : undefined;
  parentElement.frames = frames;
  return () => frames?.observer.disconnect();
}
