// Two axes: when something was so, and when the hub knew. The times are the server's (replay/audit/event_times.h); of
// most events the log has its own time alone, and that is said.

import {noteInAddress, readAddress} from "./address.js";
import {stepText} from "./changes.js";
import {el, table} from "./dom.js";
import {chip, soText, timesOf} from "./facts.js";
import {counted} from "./order.js";
import {msOf, show, spanText, zoneName} from "./times.js";

/** @typedef {import("./answers").Times} Times */
/** @typedef {{seq: number, text: string, times: Times}} Timed */

const eventsMax = 500; // of one question

/** Whether both axes are shown. */
export const bothAxes = () => readAddress().when === "both";

/** The button that shows both axes. @param {() => void} rerun */
export function whenButton(rerun) {
  return el(
    "button",
    {
      type: "button",
      id: "when",
      "aria-pressed": String(bothAxes()),
      click: () => {
        noteInAddress({when: bothAxes() ? "" : "both"});
        rerun();
      },
    },
    "When it was so",
  );
}

/** @param {string} of what @param {Timed[]} events the newest last */
function timesTable(of, events) {
  return table(
    `${of}: when it was so, and when the hub knew (${zoneName()})`,
    ["Event", "It was so", "We knew", "Unsure by"],
    events.map(({seq, text, times}) => [
      chip(seq, text),
      soText(times),
      show(times.known),
      times.from === null ? "not known" : times.from === times.to ? "" : spanText(msOf(times.to) - msOf(times.from)),
    ]),
  );
}

/**
 * The writes of a pair, changes of its limits and rules, and the facts behind them on two axes: above since when each was so, below when the hub knew. A
 * wedge is a stretch within which it became so.
 * @param {import("./answers").QuotaHistory} history @param {{flavor: string, resource: string}} pair
 * @param {number} from @param {number} to @param {AbortSignal} signal
 */
export async function whenStrip(history, pair, from, to, signal) {
  const ofPair = (/** @type {{flavor: string | null, resource: string | null}} */ row) =>
    row.flavor === pair.flavor && row.resource === pair.resource;
  const rows = history.rows.filter(ofPair);
  const settings = history.settings.filter((row) => row.flavor === null || ofPair(row));
  const written = new Map([
    ...settings.map((row) => /** @type {const} */ ([row.seq, stepText(row)])),
    ...rows.map((row) => /** @type {const} */ ([row.seq, `write of ${row.new}`])),
  ]);
  const all = [...new Set([...written.keys(), ...rows.flatMap((row) => row.because ?? [])])].sort((a, b) => a - b);
  const {changes, times} = await timesOf(all.slice(-eventsMax), signal);
  const events = all.flatMap((seq) => {
    const of = times[seq];
    return of ? [{seq, text: written.get(seq) ?? changes[seq] ?? "event", times: of}] : [];
  });
  const x = (/** @type {number} */ ms) => ((1000 * (Math.min(to, Math.max(from, ms)) - from)) / (to - from)).toFixed(2);
  const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const unsure = events.filter((one) => one.times.from !== one.times.to).length;
  const label = `${counted(events.length, "event")}; of ${unsure} it is not known exactly when it was so`;
  for (const [name, value] of Object.entries({
    viewBox: "0 0 1000 40",
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": label,
  }))
    picture.setAttribute(name, value);
  for (const {times: of} of events) {
    if (msOf(of.known) < from || msOf(of.from ?? of.to) > to) continue;
    const wedge = document.createElementNS("http://www.w3.org/2000/svg", "path");
    const begin = of.from === null ? from : msOf(of.from);
    wedge.setAttribute("d", `M${x(begin)} 2H${x(msOf(of.to))}L${x(msOf(of.known))} 38Z`);
    wedge.setAttribute("class", `when-${of.how}`);
    picture.append(wedge);
  }
  const cut = all.length - eventsMax;
  const strip = el("div", {class: "when-strip"});
  strip.append(picture);
  return {
    strip,
    behind: [
      el(
        "p",
        {class: "legend", id: "when-legend"},
        `above: when it was so, below: when the hub knew. ${label}`,
        cut > 0 ? `; ${cut} older ones are left out` : "",
      ),
      el(
        "details",
        {class: "behind"},
        el("summary", {}, "Table of the two times"),
        timesTable("The writes, and the facts behind them", events),
      ),
    ],
  };
}

/** The same of what the why panel names. @param {import("./answers").QuotaWhy} why */
export function whenPart(why) {
  const {written, writtenTimes} = why;
  /** @type {Timed[]} */
  const events = [];
  const facts = [...why.grants.flatMap((grant) => grant.capacity), ...(why.workers ?? [])].flatMap(
    (part) => part.because,
  );
  for (const {seq, changed, text, times} of facts)
    if (times && !events.some((one) => one.seq === seq)) events.push({seq, text: changed ?? text ?? "event", times});
  if (written && writtenTimes) events.push({seq: written.seq, text: `write of ${written.new}`, times: writtenTimes});
  return events.length
    ? [
        timesTable(
          "What is named here",
          events.sort((a, b) => a.seq - b.seq),
        ),
      ]
    : [];
}
