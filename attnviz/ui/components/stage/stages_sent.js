// The stages of a run, which the maps draw by their name.

/** @import { Component } from "../../types" */
import { unpackStage } from "../../../pictures/stage_bytes.js";
import { forgetSent, keepSent } from "../stages_there.js";

/** @param {Component<Uint8Array, {}, {}, HTMLElement>} component */
export default function ({ data, parentElement }) {
  if (data?.length) keepSent(parentElement, unpackStage(data));
  else forgetSent(parentElement);
  return () => forgetSent(parentElement);
}
