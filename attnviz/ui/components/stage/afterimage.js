// What the maps looked like, for as long as those of another size are not drawn yet. On a first visit they are laid out
// for a usual window until the browser has said how large its own is: other charts take their place, and in between
// there would be nothing.

/** @import { Heatmap } from "./heatmap.js" */

const LONGEST = 10_000; // milliseconds for the other charts to come

export class Afterimage {
  /** @type {HTMLElement | undefined} */
  kept;
  expects = false; // charts of another size
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  ending;

  /** @param {Heatmap} heatmap */
  constructor(heatmap) {
    this.heatmap = heatmap;
    this.observer = new MutationObserver(() => this.show()); // a chart is hidden while the one that follows it loads
  }

  /** Charts of another size are on their way. */
  expect() {
    this.expects = true;
    clearTimeout(this.ending);
    this.ending = setTimeout(() => this.end(), LONGEST);
    const { host } = this.heatmap;
    if (host) this.observer.observe(host, { attributeFilter: ["style"], subtree: true });
    this.keep();
  }

  /** Keep what is drawn, if charts of another size are on their way. */
  keep() {
    const { host, pictures } = this.heatmap;
    if (!this.expects || this.kept?.isConnected || !host || !this.drawn) return;
    const outer = host.getBoundingClientRect();
    const kept = document.createElement("div");
    kept.className = "attn-afterimage";
    kept.inert = true;
    kept.ariaHidden = "true";
    for (const { chart, w } of pictures.values()) {
      const paper = chart.querySelector(".svg-container");
      if (!paper || !w) continue;
      const { left, top, width, height } = paper.getBoundingClientRect();
      const copy = kept.appendChild(document.createElement("div"));
      const [x, y, wide, high] = [left - outer.left, top - outer.top, width, height].map((at) => `${at}px`);
      Object.assign(copy.style, { left: x, top: y, width: wide, height: high });
      copy.append(...[...paper.childNodes].map((node) => node.cloneNode(true)));
    }
    this.kept = kept;
  }

  /** Show it once one of the charts has gone, or is hidden. */
  show() {
    const { host, pictures } = this.heatmap;
    if (!this.kept || this.kept.isConnected || [...pictures.values()].every(({ layer }) => layer.checkVisibility())) return;
    host?.append(this.kept);
  }

  /** Take it away once all charts of the other size are drawn. */
  leave() {
    if (this.kept?.isConnected && this.drawn) this.end();
  }

  /** Whether all charts are there, with their words. */
  get drawn() {
    const found = this.heatmap.data.stages.map((name) => this.heatmap.pictures.get(name));
    return found.every((picture) => picture?.layer.checkVisibility() && picture.w && !picture.stale);
  }

  end() {
    clearTimeout(this.ending);
    this.observer.disconnect();
    this.kept?.remove();
    this.kept = undefined;
    this.expects = false;
  }
}
