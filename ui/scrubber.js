// The slider under a chart: a moment, moved by keys and by the pointer.

import {el} from "./dom.js";
import {saved} from "./saved.js";
import {msOf, show, textOf} from "./times.js";

/**
 * The exact time to ask about: that of the step at the cursor, else the cursor's. A saved page has answers about its
 * moments alone: there it is the last one until then.
 * @param {string[]} moments @param {number} ms
 */
export function exactTime(moments, ms) {
  if (saved) return moments.findLast((time) => msOf(time) < ms + 0.0005) ?? moments[0] ?? textOf(ms);
  const found = moments.find((time) => Math.abs(msOf(time) - ms) < 0.0005);
  return found ?? textOf(ms);
}

/**
 * The slider under the charts.
 * @param {number} from @param {number} to @param {number[]} moments ascending @param {(ms: number) => void} moved
 */
export function scrubber(from, to, moments, moved) {
  const thumb = el("span", {class: "thumb"});
  const slider = el(
    "div",
    {
      class: "scrubber",
      role: "slider",
      tabindex: 0,
      id: "scrubber",
      "aria-label": "Moment",
      "aria-valuemin": from,
      "aria-valuemax": to,
    },
    thumb,
  );
  let at = to;
  const set = (/** @type {number} */ ms) => {
    at = Math.min(to, Math.max(from, ms));
    slider.setAttribute("aria-valuenow", String(at));
    slider.setAttribute("aria-valuetext", show(at));
    thumb.style.left = `${to > from ? (100 * (at - from)) / (to - from) : 100}%`;
  };
  const move = (/** @type {number} */ ms) => {
    set(ms);
    moved(at);
  };
  /** @type {Record<string, () => number>} */
  const keys = {
    ArrowRight: () => moments.find((ms) => ms > at + 0.0005) ?? to,
    ArrowLeft: () => moments.findLast((ms) => ms < at - 0.0005) ?? from,
    PageUp: () => at + 3600e3,
    PageDown: () => at - 3600e3,
    Home: () => from,
    End: () => to,
  };
  keys.ArrowUp = /** @type {() => number} */ (keys.ArrowRight);
  keys.ArrowDown = /** @type {() => number} */ (keys.ArrowLeft);
  slider.addEventListener("keydown", (event) => {
    const next = keys[event.key];
    if (!next) return;
    event.preventDefault();
    move(next());
  });
  const drag = (/** @type {PointerEvent} */ event) => {
    const area = slider.getBoundingClientRect();
    move(from + ((to - from) * (event.clientX - area.left)) / Math.max(1, area.width));
  };
  slider.addEventListener("pointerdown", (event) => {
    slider.setPointerCapture(event.pointerId);
    drag(event);
  });
  slider.addEventListener("pointermove", (event) => {
    if (slider.hasPointerCapture(event.pointerId)) drag(event);
  });
  return {slider, set};
}
