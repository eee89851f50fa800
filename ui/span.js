// The span of time that a view draws.

import {askFolded} from "./server.js";
import {msOf} from "./times.js";

/** @typedef {import("./answers").Overview} Overview */

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
