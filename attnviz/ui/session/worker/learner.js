// Learns in a thread of the browser, and shows how; the page stays responsive.

/** @import { Component, LearnedFilm, LearningJob, LearningProgress } from "../../types" */
import { LiveView } from "./live_view.js";

/** @typedef {{ film: LearnedFilm, failed: string }} Values */
/** @typedef {<Name extends keyof Values>(name: Name, value: Values[Name]) => void} Send */

class Learner {
  /** @type {Worker | undefined} */
  worker;
  /** @type {LiveView | undefined} */
  view;
  key = "";
  /** @type {Send} */
  send = () => {};

  /** @param {HTMLElement | ShadowRoot} root @param {Uint8Array} bytes @param {Send} send */
  update(root, bytes, send) {
    this.send = send;
    /** @type {LearningJob} */
    const job = JSON.parse(new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0))));
    if (job.key === this.key) return;
    this.end();
    this.key = job.key;
    this.view = new LiveView(root, job);
    this.begin(bytes);
  }

  /** @param {Uint8Array} bytes */
  begin(bytes) {
    const url = URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
    try {
      const worker = (this.worker = new Worker(url));
      worker.onmessage = ({ data }) => this.onProgress(data);
      worker.onerror = () => this.failed();
      worker.postMessage(bytes);
    } catch {
      this.failed();
    } finally {
      setTimeout(() => URL.revokeObjectURL(url), 10000); // it may be loaded later only
    }
  }

  /** @param {LearningProgress} progress */
  onProgress(progress) {
    if (progress.film) this.send("film", progress.film);
    else if (progress.weights) requestAnimationFrame(() => this.view?.show(progress));
  }

  failed() {
    this.worker?.terminate();
    this.send("failed", this.key);
  }

  end() {
    this.worker?.terminate();
    this.view?.remove();
    this.worker = this.view = undefined;
    this.key = "";
  }
}

/** @param {Component<Uint8Array, Values, { learner?: Learner }>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const learner = (parentElement.learner ??= new Learner());
  learner.update(parentElement, data, setTriggerValue);
  return () => learner.end();
}
