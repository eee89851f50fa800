// The span of time that a view draws.

import {goWith, noteInAddress, readAddress} from "./address.js";
import {el} from "./dom.js";
import {saved} from "./saved.js";
import {askFolded} from "./server.js";
import {isAbsolute, msOf, show, textOf} from "./times.js";

/** @typedef {import("./page_answers").Overview} Overview */
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

/**
 * Makes times of the moments in the address: a link that was made with "-2h" must not mean another moment tomorrow.
 * @param {AbortSignal} signal @param {(done: number, total: number) => void} progress
 */
export async function fixMoments(signal, progress) {
  for (const name of ["from", "to", "at", "mark"]) {
    const place = readAddress()[name];
    if (!place || isAbsolute(place)) continue;
    const asked = name === "from" ? {from: place} : {to: place};
    const overview = await askFolded("ui/api/overview", {...asked, buckets: 1}, signal, progress);
    noteInAddress({[name]: name === "from" ? overview.from : overview.to});
  }
}

/** Shows the view for another span, both empty: for the whole log. Back shows the one before. */
function draw(/** @type {string} */ from, /** @type {string} */ to) {
  goWith({from, to});
}

/** The options of a chart by which a drag, the wheel and two fingers zoom, and a double click goes back.
 *  @param {ViewContext} context @param {Overview} overview */
export function zooming({log}, overview) {
  const begin = msOf(saved ? saved.from : overview.begin);
  const end = saved ? msOf(saved.to) : Math.max(msOf(overview.to), msOf(log.last_time ?? overview.to));
  return {
    zoom: (/** @type {number} */ from, /** @type {number} */ to) => draw(textOf(from), textOf(to)),
    whole: () => draw("", ""),
    limits: /** @type {[number, number]} */ ([begin, Math.max(end, begin + 1)]),
  };
}

/**
 * Buttons that zoom around the cursor, else around the middle; the keys + - and w press them.
 * @param {ViewContext} context @param {Overview} overview
 */
export function zoomButtons(context, overview) {
  const {address} = context;
  const {limits} = zooming(context, overview);
  const from = msOf(overview.from),
    to = msOf(overview.to);
  const by = (/** @type {number} */ scale) => {
    const cursor = readAddress().at;
    const centre = cursor && isAbsolute(cursor) ? Math.min(to, Math.max(from, msOf(cursor))) : (from + to) / 2;
    const half = Math.max(5, ((to - from) * scale) / 2);
    const begin = Math.max(limits[0], centre - half),
      end = Math.min(limits[1], centre + half);
    draw(begin > limits[0] ? textOf(begin) : saved ? saved.from : overview.begin, textOf(end));
  };
  const whole = !address.from && !address.to;
  const button = (
    /** @type {string} */ id,
    /** @type {string} */ key,
    /** @type {string} */ text,
    /** @type {() => void} */ click,
  ) => el("button", {type: "button", id, "aria-keyshortcuts": key, click}, text);
  return [
    button("zoom-in", "+", "Zoom in", () => by(0.25)),
    " ",
    button("zoom-out", "-", "Zoom out", () => by(4)),
    " ",
    el(
      "button",
      {
        type: "button",
        id: "whole",
        "aria-keyshortcuts": "w",
        "aria-disabled": whole || undefined,
        click: () => draw("", ""),
      },
      "Whole log",
    ),
  ];
}

/**
 * A ruler for the keyboard: arrows move the span by a quarter of it, PgUp and PgDn by all of it, Home and End to an end.
 * @param {ViewContext} context @param {Overview} overview @param {HTMLElement} chart
 */
export function shiftKeys(context, overview, chart) {
  const [begin, end] = zooming(context, overview).limits;
  const from = msOf(overview.from),
    to = Math.max(msOf(overview.to), from + 1);
  const whole = to - from >= end - begin;
  // Where all of it is shown, a move shows a half.
  const width = whole ? (end - begin) / 2 : to - from;
  const left = whole ? begin : from;
  /** @type {Record<string, number>} */
  const places = {
    ArrowRight: whole ? end - width : left + width / 4,
    ArrowUp: whole ? end - width : left + width / 4,
    ArrowLeft: whole ? begin : left - width / 4,
    ArrowDown: whole ? begin : left - width / 4,
    PageUp: left + width,
    PageDown: left - width,
    Home: begin,
    End: end - width,
  };
  return el(
    "div",
    {
      id: "ruler-span",
      role: "slider",
      tabindex: 0,
      "aria-label": "The span that is shown",
      "aria-valuemin": begin,
      "aria-valuemax": end,
      "aria-valuenow": Math.round((from + to) / 2),
      "aria-valuetext": `${show(overview.from)} to ${show(overview.to)}`,
      keydown: (event) => {
        const {key, ctrlKey, metaKey, altKey} = /** @type {KeyboardEvent} */ (event);
        const place = places[key];
        if (place === undefined || ctrlKey || metaKey || altKey) return;
        event.preventDefault();
        const start = Math.max(begin, Math.min(end - width, place));
        draw(textOf(start), textOf(Math.min(end, start + width)));
      },
    },
    chart,
  );
}
