// Streamlit asks for the script of a widget once: where the server did not answer just then, an error stands in the
// widget's place for as long as the page is open. So a page that nobody has touched is loaded again when the server is
// back, its setting being in the address; a few times at most, as a script may be kept from a browser for good. A page
// that somebody works on stays, as it may hold what no address does: own numbers, a draft, codes to be marked.

(() => {
  const KEY = "attnviz_reloads";
  const MOST = 3;
  const MINUTES = 10;
  let [isComing, isTouched] = [false, false];

  /** @returns {boolean} whether the page may be loaded again, which is noted; not where a browser keeps no notes */
  const isAllowed = () => {
    const now = Date.now();
    try {
      const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
      const lately = kept.filter((/** @type {number} */ at) => now - at < MINUTES * 60_000);
      if (lately.length < MOST) sessionStorage.setItem(KEY, JSON.stringify([...lately, now]));
      return lately.length < MOST;
    } catch {
      return false;
    }
  };

  /** @param {number} trials */
  const reloadOnceThere = async (trials) => {
    const answer = await fetch("./_stcore/health", { cache: "no-store" }).catch(() => null);
    if (isTouched) return;
    if (answer?.ok) location.reload();
    else setTimeout(reloadOnceThere, Math.min(250 * 2 ** trials, 10_000), trials + 1);
  };

  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, () => (isTouched = true), { capture: true, once: true });
  addEventListener("vite:preloadError", () => {
    if (isComing || isTouched || !isAllowed()) return;
    isComing = true;
    reloadOnceThere(0);
  });
})();
