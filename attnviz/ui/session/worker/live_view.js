// The view of learning in progress: the weights of every layer, and how the loss falls.

/** @import { LearningJob } from "../../types" */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Return the colour of a share from 0 to 1 on a scale of hex colours.
 *
 * @param {string[]} scale
 * @param {number} share
 */
function colour(scale, share) {
  const at = Math.min(Math.max(share, 0), 1) * (scale.length - 1);
  const low = Math.min(Math.floor(at), scale.length - 2);
  const parts = [1, 3, 5].map((from) => {
    const [a, b] = [scale[low], scale[low + 1]].map((text) => parseInt(text.slice(from, from + 2), 16));
    return Math.round(a + (b - a) * (at - low));
  });
  return `rgb(${parts.join(",")})`;
}

/** @param {string} tag @param {Element} parent @param {string} [text] */
function make(tag, parent, text = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  return parent.appendChild(element);
}

/**
 * Return whether the page is dark: then its text is light.
 *
 * @param {Element} root
 */
function isDark(root) {
  const parts = getComputedStyle(root).color.match(/[\d.]+/g) ?? [];
  return parts.slice(0, 3).reduce((sum, part) => sum + Number(part), 0) > 384;
}

export class LiveView {
  /** @type {[step: number, loss: number][]} */
  losses = [];

  /** @param {HTMLElement | ShadowRoot} root @param {LearningJob} job */
  constructor(root, job) {
    this.job = job;
    this.root = document.createElement("div");
    this.root.className = "learner";
    root.appendChild(this.root);
    this.caption = make("p", this.root);
    this.caption.setAttribute("role", "status");
    this.showStep(0);
    const maps = make("div", this.root);
    maps.className = "maps";
    const { words } = job;
    this.canvases = job.parameters.map((_, layer) => {
      const figure = make("figure", maps);
      const title = job.parameters.length > 1 ? words.layer.replace("{n}", String(layer + 1)) : words.weights;
      make("figcaption", figure, title);
      return Array.from({ length: job.sizes.head }, () => this.canvas(figure, title));
    });
    const figure = make("figure", maps);
    make("figcaption", figure, words.loss);
    const svg = figure.appendChild(document.createElementNS(SVG, "svg"));
    svg.setAttribute("viewBox", "0 0 100 100");
    svg.setAttribute("preserveAspectRatio", "none");
    this.line = svg.appendChild(document.createElementNS(SVG, "polyline"));
  }

  /** @param {Element} figure @param {string} title */
  canvas(figure, title) {
    const canvas = /** @type {HTMLCanvasElement} */ (make("canvas", figure));
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", title);
    [canvas.width, canvas.height] = [this.job.sizes.key, this.job.sizes.query];
    return canvas;
  }

  /** @param {number} step */
  showStep(step) {
    const { words, last } = this.job;
    this.caption.textContent = words.here.replace("{step}", String(step)).replace("{last}", String(last));
  }

  /** @param {{ step: number, loss: number, weights: Float64Array[] }} progress */
  show({ step, loss, weights }) {
    this.showStep(step);
    const { colours, sizes } = this.job;
    const [n, m] = [sizes.query, sizes.key];
    const scale = colours[Number(isDark(this.root))];
    weights.forEach((A, layer) =>
      this.canvases[layer].forEach((canvas, head) => {
        const context = canvas.getContext("2d");
        for (let i = 0; context && i < n * m; i++) {
          context.fillStyle = colour(scale, A[head * n * m + i]);
          context.fillRect(i % m, Math.floor(i / m), 1, 1);
        }
      }),
    );
    if (loss > 0) this.losses.push([step, Math.log(loss)]);
    this.curve();
  }

  curve() {
    const heights = this.losses.map(([, loss]) => loss);
    const [low, high] = [Math.min(...heights), Math.max(...heights)];
    const points = this.losses.map(([step, loss]) => {
      const y = 96 - (92 * (loss - low)) / (high - low || 1);
      return `${((100 * step) / this.job.last).toFixed(1)},${y.toFixed(1)}`;
    });
    this.line.setAttribute("points", points.join(" "));
  }

  remove() {
    this.root.remove();
  }
}
