// The span of time that a view draws.

import {noteInAddress} from "./address.js";
import {el} from "./dom.js";
import {askFolded} from "./server.js";
import {msOf, textOf} from "./times.js";

/** @typedef {import("./answers").Overview} Overview */
/** @typedef {import("./main").ViewContext} ViewContext */

/**
 * The overview of the span in the address. Without one it is the whole log, but for a beginning that lies far before
 * the rest: a log that `plan` made of objects without a time begins in 1970, and nothing of the rest could be seen.
 * @param {import("./address").Address} address @param {number} buckets @param {AbortSignal} signal
 * @param {(done: number, total: number) => void} progress
 */
export async function overviewOf(address, buckets, signal, progress) {
  let from = address.from ?? "";
  const asked = Boolean(from || address.to);
  for (;;) {
    const overview = /** @type {Overview} */ (
      await askFolded("ui/api/overview", {from, to: address.to, buckets}, signal, progress)
    );
    const second = overview.buckets[1];
    const far = second && msOf(second[0]) - msOf(overview.from) > 0.9 * (msOf(overview.to) - msOf(overview.from));
    if (asked || !far) return overview;
    from = second[0];
  }
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
