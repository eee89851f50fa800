// The slider under a chart: a moment, moved by keys and by the pointer. Moments are exact times, never milliseconds: two
// events may be a nanosecond apart.

import {el} from "./dom.js";
import {saved} from "./saved.js";
import {Refusal} from "./server.js";
import {compareTimes, msOf, nsOf, show, textOf} from "./times.js";

/**
 * The exact times of a span's steps, ascending, each once.
 * @param {Iterable<string>} times @param {string} from @param {string} to
 */
export function momentsOf(times, from, to) {
  const begin = nsOf(from),
    end = nsOf(to);
  /** @type {Map<bigint, string>} */
  const found = new Map();
  for (const time of times) {
    const ns = nsOf(time);
    if (ns >= begin && ns <= end) found.set(ns, time);
  }
  return [...found.values()].sort(compareTimes);
}

/** How many moments come before the first that `isLater`. @param {string[]} moments ascending
 *  @param {(time: string) => boolean} isLater */
function countUntil(moments, isLater) {
  let low = 0,
    high = moments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isLater(moments[middle] ?? "")) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * The exact time to ask about where the pointer is: that of the step there, the last one of a burst, else the next
 * millisecond, which is never before the beginning of the log. A saved page has answers about its moments alone: there
 * it is the last one until then.
 * @param {string[]} moments ascending @param {number} ms
 */
export function exactTime(moments, ms) {
  const last = moments[countUntil(moments, (time) => msOf(time) >= ms + 0.0005) - 1];
  if (saved) return last ?? moments[0] ?? textOf(ms);
  return last !== undefined && msOf(last) > ms - 0.0005 ? last : textOf(Math.ceil(ms));
}

/**
 * The slider under the charts.
 * @param {string} from @param {string} to @param {string[]} moments ascending @param {(time: string) => void} moved
 */
export function scrubber(from, to, moments, moved) {
  const begin = msOf(from),
    end = Math.max(msOf(to), begin);
  const thumb = el("span", {class: "thumb"});
  const slider = el(
    "div",
    {
      class: "scrubber",
      role: "slider",
      tabindex: 0,
      id: "scrubber",
      "aria-label": "Moment",
      "aria-valuemin": begin,
      "aria-valuemax": end,
    },
    thumb,
  );
  const first = (saved && moments[0]) || from,
    last = (saved && moments.at(-1)) || to;
  let at = last;
  const set = (/** @type {string} */ time) => {
    at = nsOf(time) < nsOf(first) ? first : nsOf(time) > nsOf(last) ? last : time;
    if (saved) at = moments[countUntil(moments, (moment) => nsOf(moment) > nsOf(at)) - 1] ?? at;
    slider.setAttribute("aria-valuenow", String(msOf(at)));
    slider.setAttribute("aria-valuetext", show(at));
    thumb.style.left = `${end > begin ? (100 * (msOf(at) - begin)) / (end - begin) : 100}%`;
  };
  const move = (/** @type {string} */ time) => {
    set(time);
    moved(at);
  };
  const toMs = (/** @type {number} */ ms) => exactTime(moments, Math.min(end, Math.max(begin, ms)));
  const next = () => moments[countUntil(moments, (time) => nsOf(time) > nsOf(at))] ?? last;
  const before = () => moments[countUntil(moments, (time) => nsOf(time) >= nsOf(at)) - 1] ?? first;
  /** @type {Record<string, () => string>} */
  const keys = {
    ArrowRight: next,
    ArrowUp: next,
    ArrowLeft: before,
    ArrowDown: before,
    PageUp: () => toMs(msOf(at) + 3600e3),
    PageDown: () => toMs(msOf(at) - 3600e3),
    Home: () => first,
    End: () => last,
  };
  slider.addEventListener("keydown", (event) => {
    const key = keys[event.key];
    if (!key || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move(key());
  });
  const drag = (/** @type {PointerEvent} */ event) => {
    const area = slider.getBoundingClientRect();
    move(toMs(begin + ((end - begin) * (event.clientX - area.left)) / Math.max(1, area.width)));
  };
  slider.addEventListener("pointerdown", (event) => {
    slider.setPointerCapture(event.pointerId);
    drag(event);
  });
  slider.addEventListener("pointermove", (event) => {
    if (slider.hasPointerCapture(event.pointerId)) drag(event);
  });
  return {slider, move, moveToMs: (/** @type {number} */ ms) => move(toMs(ms))};
}

/**
 * Fills a panel about the moment of the cursor once it has come to rest; what was asked for an earlier one is dropped.
 * @param {AbortSignal} signal ends with the view @param {HTMLElement} panel
 * @param {(time: string, signal: AbortSignal) => Promise<void>} fill
 */
export function atRest(signal, panel, fill) {
  /** @type {AbortController | undefined} */
  let last;
  return async (/** @type {string} */ time) => {
    last?.abort();
    const turn = (last = new AbortController());
    const either = AbortSignal.any([signal, turn.signal]);
    panel.setAttribute("aria-busy", "true");
    try {
      await new Promise((resolve) => setTimeout(resolve, 150));
      if (!either.aborted) await fill(time, either);
    } catch (error) {
      if (either.aborted) return;
      const words = error instanceof Refusal ? error.message : String(error);
      panel.replaceChildren(el("p", {class: "alert", role: "alert"}, words));
    } finally {
      if (!either.aborted) panel.removeAttribute("aria-busy");
    }
  };
}
