// The thread of a browser that learns: it takes one job, reports how far it is, and gives the frames back.

/** @import { LearnedFilm, LearningJob } from "../../types" */
import { exponent, pack } from "./exact.js";
import { Trainer } from "./trainer.js";

const REPORT_EVERY = 60; // milliseconds between two pictures of what is learned

/**
 * Return the job in bytes that `exchange.packed` has made: JSON, a zero byte, then all numbers and all token ids.
 *
 * @param {Uint8Array} bytes
 */
function opened(bytes) {
  const end = bytes.indexOf(0);
  /** @type {LearningJob} */
  const job = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
  let at = end + 1;
  /** @type {Record<string, Float64Array>} */
  const constants = {};
  /** @type {Record<string, Uint8Array>} */
  const ids = {};
  for (const [name, size] of job.constants) constants[name] = new Float64Array(bytes.slice(at, (at += 8 * size)).buffer);
  for (const [name, size] of job.ids) ids[name] = bytes.subarray(at, (at += size));
  return { job, constants, ids };
}

/** The frames of a film while they come to be. */
class Frames {
  /** @param {Trainer} trainer */
  constructor(trainer) {
    this.trainer = trainer;
    /** @type {LearnedFilm} */
    this.film = { key: trainer.job.key, steps: [], figures: [], exponents: [], numbers: "" };
    this.size = 3 * trainer.vector.length;
    this.bytes = new Uint8Array(this.size * trainer.job.steps.length);
  }

  /** Keep the parameters as they are now, and what they can do. */
  keep() {
    const { film, trainer } = this;
    const frame = trainer.frame();
    let at = this.size * film.steps.length;
    film.exponents.push(
      trainer.layers(frame).flatMap((layer) =>
        Object.values(layer).map((W) => {
          const e = exponent(W) ?? 0;
          pack(W, e, this.bytes, at);
          at += 3 * W.length;
          return e;
        }),
      ),
    );
    film.steps.push(trainer.step);
    film.figures.push(trainer.evaluate(frame));
  }

  /** Return the film with its numbers as text. */
  whole() {
    const bytes = this.bytes.subarray(0, this.size * this.film.steps.length);
    const parts = [];
    for (let at = 0; at < bytes.length; at += 0x6000) parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + 0x6000))));
    return { ...this.film, numbers: parts.join("") };
  }
}

/**
 * Learn a film; `report` is called now and then with the step, the loss and the weights of the sentence that is shown.
 *
 * @param {Uint8Array} bytes
 * @param {(progress: { step: number, loss: number, weights: Float64Array[] }) => void} [report]
 * @returns {{ film: LearnedFilm, trainer: Trainer }}
 */
function learned(bytes, report) {
  const { job, constants, ids } = opened(bytes);
  const trainer = new Trainer(job, constants, ids);
  const frames = new Frames(trainer);
  const stops = new Set(job.steps);
  const start = trainer.evaluate(trainer.frame());
  let last = -Infinity;
  for (let going = true; going && trainer.step < job.last; ) {
    going = trainer.advance();
    const isNew = trainer.step && trainer.step !== frames.film.steps.at(-1);
    if (isNew && (!going || stops.has(trainer.step))) frames.keep();
    if (!report || performance.now() - last < REPORT_EVERY) continue;
    const { queries, keys } = trainer.sentences("shown", 0, 1);
    const weights = trainer.network.forward(trainer.layers(trainer.vector), queries, keys)[1].map((layer) => layer.known.weights);
    report({ step: trainer.step, loss: trainer.loss, weights });
    last = performance.now();
  }
  const film = frames.whole();
  return { film: { ...film, figures: [start, ...film.figures] }, trainer };
}

self.onmessage = (event) => {
  const { film } = learned(event.data, (progress) => self.postMessage(progress));
  self.postMessage({ film });
};
