// Notes in the browser what the server is computing, and takes the note away once it is done.

/** @import { Component, UnfinishedData } from "../types" */

/** @param {Component<UnfinishedData>} component */
export default function ({ data }) {
  const lasts = data.key ? "max-age=86400" : "max-age=0";
  document.cookie = `${data.cookie}=${data.key}; path=/; SameSite=Lax; ${lasts}`;
}
