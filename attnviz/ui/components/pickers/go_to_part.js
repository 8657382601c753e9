// The way to a part of the page further down, or back up to the maps.

const FOLLOWED = 4000; // milliseconds in which what is drawn in the panel may still push it down

/**
 * Bring a container to the top of the window, and keep it there while it is drawn, unless the visitor moves on.
 * @param {string} key
 */
export function goToPart(key) {
  const panel = document.querySelector(`.st-key-${key}`);
  if (!(panel instanceof HTMLElement)) return;
  panel.style.scrollMarginTop = "3rem"; // the page's own buttons stand above it
  const show = () => panel.scrollIntoView({ block: "start", behavior: "instant" });
  const grown = new ResizeObserver(show);
  const end = () => grown.disconnect();
  for (const moved of ["wheel", "touchstart", "keydown", "pointerdown"])
    window.addEventListener(moved, end, { once: true, passive: true });
  setTimeout(end, FOLLOWED);
  grown.observe(panel);
  show();
}
