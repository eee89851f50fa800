// The slider under a chart: a moment, moved by keys and by the pointer.

import {el} from "./dom.js";
import {saved} from "./saved.js";
import {Refusal} from "./server.js";
import {msOf, show, textOf} from "./times.js";

/**
 * The exact time to ask about: that of the step at the cursor, else the next millisecond, which is never before the
 * beginning of the log. A saved page has answers about its moments alone: there it is the last one until then.
 * @param {string[]} moments @param {number} ms
 */
export function exactTime(moments, ms) {
  if (saved) return moments.findLast((time) => msOf(time) < ms + 0.0005) ?? moments[0] ?? textOf(ms);
  const found = moments.find((time) => Math.abs(msOf(time) - ms) < 0.0005);
  return found ?? textOf(Math.ceil(ms));
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
