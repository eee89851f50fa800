// Time that is left of a window. At the end of a log that is followed it runs; elsewhere it is counted from the cursor.

import {el} from "./dom.js";
import {isFollowing} from "./live.js";
import {logEnd, msOf, spanText} from "./times.js";

const liveReach = 3600e3; // ms: a log whose end is further from this machine's clock has a time of its own

/** @param {string} until @param {number} at ms, of the answer that says so */
export function timeLeft(until, at) {
  const end = msOf(until);
  const place = el("span", {class: "left"});
  const begun = performance.now();
  const show = () => {
    const running = isFollowing() && at >= logEnd() - 1;
    const behind = Date.now() - at;
    const passed = !running ? 0 : behind >= 0 && behind < liveReach ? behind : performance.now() - begun;
    const left = Math.round((end - at - passed) / 1000) * 1000;
    place.textContent = left <= 0 ? "due now" : `${spanText(left)} ${running ? "left" : "from the cursor"}`;
  };
  show();
  const timer = setInterval(() => {
    if (place.isConnected) show();
    else if (performance.now() - begun > 5000) clearInterval(timer);
  }, 1000);
  return place;
}
