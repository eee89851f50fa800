// The span of time that a view draws.

import {noteInAddress} from "./address.js";
import {el} from "./dom.js";
import {askFolded} from "./server.js";
import {textOf} from "./times.js";

/** @typedef {import("./answers").Overview} Overview */
/** @typedef {import("./main").ViewContext} ViewContext */

/**
 * The overview of the span in the address. Without one it is where something moves: the server leaves out what would
 * make the rest too small to be seen (replay/timeline/moments_span.h).
 * @param {import("./address").Address} address @param {number} buckets @param {AbortSignal} signal
 * @param {(done: number, total: number) => void} progress
 */
export async function overviewOf(address, buckets, signal, progress) {
  const {from, to} = address;
  return /** @type {Promise<Overview>} */ (askFolded("ui/api/overview", {from, to, buckets}, signal, progress));
}

/** Shows the view again for another span; both empty: for the whole log. */
function draw(/** @type {ViewContext} */ {rerun}, /** @type {string} */ from, /** @type {string} */ to) {
  noteInAddress({from, to});
  rerun();
}

/** The options of a chart by which a drag zooms in and a double click goes back. @param {ViewContext} context */
export function zooming(context) {
  return {
    zoom: (/** @type {number} */ from, /** @type {number} */ to) => draw(context, textOf(from), textOf(to)),
    whole: () => draw(context, "", ""),
  };
}

/** @param {ViewContext} context */
export function wholeButton(context) {
  const {address} = context;
  return el(
    "button",
    {type: "button", disabled: !address.from && !address.to, click: () => draw(context, "", "")},
    "Whole log",
  );
}
