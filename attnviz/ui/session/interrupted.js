// Notes in the browser what the server is computing, and takes the note away once it is done.

/** @import { Component, UnfinishedData } from "../types" */

/** @param {Component<UnfinishedData>} component */
export default function ({ data }) {
  // The scripts of the notes of one run load side by side, so they are drawn in any order: the latest note counts.
  const page = document.documentElement.dataset;
  if (data.at < Number(page.attnvizNoted ?? 0)) return;
  page.attnvizNoted = String(data.at);
  const lasts = data.key ? "max-age=86400" : "max-age=0";
  document.cookie = `${data.cookie}=${data.key}; path=/; SameSite=Lax; ${lasts}`;
}
