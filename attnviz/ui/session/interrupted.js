// Notes in the browser what the server is computing, and takes the note away once it is done.

/** @import { Component, UnfinishedData } from "../types" */

/** @param {Component<UnfinishedData>} component */
export default function ({ data }) {
  // What moves on the page is drawn anew, and an old note may not come back by that once it was taken away.
  const page = document.documentElement.dataset;
  if (data.at < Number(page.attnvizNoted ?? 0)) return;
  page.attnvizNoted = String(data.at);
  const lasts = data.key ? "max-age=86400" : "max-age=0";
  document.cookie = `${data.cookie}=${data.key}; path=/; SameSite=Lax; ${lasts}`;
}
