// Bars over time: for each row the stretches in which something held, and marks above them.

import {el} from "./dom.js";
import {axisTime, msOf, show, zoneName} from "./times.js";

/** @typedef {[time: string, seq: number, value: boolean | null]} FlagStep */
/** @typedef {{name: string, style: string, steps: FlagStep[]}} Flag */
/** @typedef {{time: number, kind: "ours" | "foreign" | "decision", text: string}} BarMark */

const shapes = {ours: "▲", foreign: "✕", decision: "◆"};

/** The stretches in which a flag is set. @param {FlagStep[]} steps @param {number} from @param {number} to */
export function stretches(steps, from, to) {
  /** @type {{from: number, to: number}[]} */
  const found = [];
  steps.forEach(([time, , value], index) => {
    if (value !== true) return;
    const next = steps[index + 1];
    const begin = Math.max(from, msOf(time)),
      end = Math.min(to, next ? msOf(next[0]) : to);
    const last = found.at(-1);
    if (last && Math.abs(last.to - begin) < 0.0005) last.to = end;
    else if (end > begin || begin === to) found.push({from: begin, to: end});
  });
  return found;
}

/** Which flags of a row are ever set. @param {Row} row @param {number} from @param {number} to */
function wordsOf(row, from, to) {
  const set = row.flags.filter((flag) => stretches(flag.steps, from, to).length > 0);
  return set.map((flag) => flag.name).join(", ") || "none";
}

/** @typedef {{title: string, flags: Flag[], head?: HTMLElement, words?: string}} Row */
/**
 * @param {{rows: Row[], marks: BarMark[], from: number, to: number, title: string}} options
 */
export function barChart({rows, marks, from, to, title}) {
  const place = (/** @type {number} */ ms) => (100 * (ms - from)) / Math.max(1, to - from);
  /** @param {HTMLElement} element @param {number} ms */
  const at = (element, ms) => {
    element.style.left = `${place(ms)}%`;
    return element;
  };
  const bar = (/** @type {Flag} */ flag) =>
    stretches(flag.steps, from, to).map((one) => {
      const element = at(el("span", {class: `bar bar-${flag.style}`}), one.from);
      element.style.width = `max(2px, ${place(one.to) - place(one.from)}%)`;
      element.title = `${flag.name} from ${show(one.from)} to ${show(one.to)}`;
      return element;
    });
  const cursor = el("span", {class: "cursor bar-cursor", hidden: true});
  const ticks = [0, 0.25, 0.5, 0.75].map((part) => {
    const ms = from + part * (to - from);
    return at(el("span", {class: "tick"}, axisTime(ms, to - from)), ms);
  });
  const tracks = el(
    "div",
    {class: "tracks", role: "group", "aria-label": title},
    ...(marks.length
      ? [
          el("div", {class: "track-name"}, "marks"),
          el(
            "div",
            {class: "track track-marks", role: "img", "aria-label": `${marks.length} marks`},
            ...marks.map((mark) => {
              const element = at(el("span", {class: `bar-mark line-${mark.kind}`}, shapes[mark.kind]), mark.time);
              element.title = `${mark.text}, ${show(mark.time)}`;
              return element;
            }),
          ),
        ]
      : []),
    ...rows.flatMap((row) => [
      el("div", {class: "track-name"}, row.title, row.head ? " " : null, row.head),
      el(
        "div",
        {
          class: "track",
          "data-row": row.title,
          role: "img",
          "aria-label": `${row.title}: ${row.words ?? wordsOf(row, from, to)}`,
          title: row.words,
        },
        ...row.flags.flatMap(bar),
      ),
    ]),
    el("div", {class: "track-name"}, zoneName()),
    el("div", {class: "track track-axis", id: "bar-axis"}, ...ticks),
    el("div", {class: "track-over"}, cursor),
  );
  return {
    element: tracks,
    /** Moves the cursor. @param {number} ms */
    setCursor(ms) {
      cursor.hidden = ms < from || ms > to;
      at(cursor, ms);
    },
    /** Lays an element below the tracks, from their beginning to their end. @param {HTMLElement} element */
    align(element) {
      const axis = /** @type {HTMLElement | null} */ (tracks.querySelector("#bar-axis"));
      if (!axis) return;
      element.style.marginLeft = `${axis.offsetLeft + tracks.clientLeft}px`;
      element.style.width = `${axis.offsetWidth}px`;
    },
  };
}
