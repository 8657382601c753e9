// The slides for a room and the notes on them, in two windows of one browser: who turns one turns the other.

/** @import { Component } from "../../types" */

const SLIDES = "attnviz:slides";
const WHERE = "?"; // asked by a window that has just been opened; the answer is a slide, as is what is said of a turn

/** @type {BroadcastChannel | undefined} */
let channel;
let own = ""; // the slide that this window has shown last
let common = ""; // that of both, as far as this one knows

/** @param {Component<{ slide: string }, { turned: string }>} component */
export default function ({ data: { slide }, setTriggerValue }) {
  const isNew = !own;
  channel?.close();
  channel = new BroadcastChannel(SLIDES);
  channel.onmessage = ({ data: said }) => {
    if (said === WHERE) channel?.postMessage(common);
    else if (said !== common) setTriggerValue("turned", (common = String(said)));
  };
  if (isNew) common = slide;
  if (isNew) channel.postMessage(WHERE);
  else if (slide !== own && slide !== common) channel.postMessage((common = slide));
  own = slide;
  return () => channel?.close();
}
