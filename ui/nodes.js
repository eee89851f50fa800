// The nodes of a cluster over time: a row of bars for each that was ever anything but ready. Flaps that moved no quota
// are one bar until it is opened.

import {noteInAddress, readAddress} from "./address.js";
import {barChart} from "./bars.js";
import {el} from "./dom.js";
import {counted, natural} from "./order.js";
import {saved} from "./saved.js";
import {ask} from "./server.js";
import {compareTimes, msOf, spanText} from "./times.js";

const eventsMax = 2000;
const rowsMax = 100;
const flapsLeast = 3; // so many in a row without a write are one bar

/** @typedef {"ready" | "not ready" | "cordoned" | "tainted" | "gone"} Condition */
/** A stretch of a node in one condition. @typedef {{time: string, seq: number, condition: Condition}} Stretch */

/** The worst of a node's condition, in a word. @param {any} event @returns {Condition} */
function conditionOf(event) {
  if (event.fact === "ObjectGone") return "gone";
  const {ready, unschedulable, taints = []} = event.facts ?? {};
  if (ready === false) return "not ready";
  if (unschedulable) return "cordoned";
  return taints.length > 0 ? "tainted" : "ready";
}

/** @param {string} text lines of JSON */
function linesOf(text) {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/**
 * The newest events of the nodes, ascending, and whether there are older ones.
 * @param {string} where @param {string} to @param {AbortSignal} signal
 */
export async function nodeEventsOf(where, to, signal) {
  /** @type {any[]} */
  let events = [];
  /** @type {{from: string, to: string} | undefined} */
  let next = {from: "", to};
  while (next && events.length < eventsMax) {
    const answer = await ask("log/cat", {...next, where, last: 1000, output: "json"}, signal);
    events = [...linesOf(answer.text), ...events];
    next = answer.next;
  }
  return {events, more: Boolean(next)};
}

/**
 * The events that a write of a quota names as its cause, with the time of the first such write.
 * @param {string} from @param {string} to @param {AbortSignal} signal
 */
export async function causesOf(from, to, signal) {
  const where = "kind=PatchIntended kind=ClusterQueue";
  /** @type {{time: string, because: number[]}[]} */
  const writes = saved
    ? Object.values(saved.history).flatMap((history) => history.rows ?? [])
    : linesOf((await ask("log/cat", {where, from, to, last: 1000, output: "json"}, signal)).text).map((event) => ({
        time: event.logTime,
        because: event.reason?.because ?? [],
      }));
  /** @type {Map<number, string>} */
  const causes = new Map();
  for (const {time, because} of writes)
    for (const seq of because ?? []) {
      const known = causes.get(seq);
      if (!known || compareTimes(time, known) < 0) causes.set(seq, time);
    }
  return causes;
}

/** The conditions of each node in turn, of those that were not always ready. @param {any[]} events ascending */
export function stretchesOf(events) {
  /** @type {Map<string, Stretch[]>} */
  const nodes = new Map();
  for (const event of events) {
    const all = nodes.get(event.name) ?? [];
    const condition = conditionOf(event);
    if (all.at(-1)?.condition !== condition) all.push({time: event.logTime, seq: event.seq, condition});
    nodes.set(event.name, all);
  }
  return [...nodes]
    .filter(([, all]) => all.some((one) => one.condition !== "ready" && one.condition !== "gone"))
    .sort(([a], [b]) => natural(a, b));
}

/**
 * Runs of flaps without a write: from the first time that the node was not ready to the last time that it came back. A
 * write that names one later, when the node was back, is about other things as well.
 * @param {Stretch[]} all @param {Map<number, string>} causes
 */
export function flapsOf(all, causes) {
  /** @type {{first: number, last: number, count: number}[]} */
  const runs = [];
  let run = {first: -1, last: -1, count: 0};
  const end = () => {
    if (run.count >= flapsLeast) runs.push(run);
    run = {first: -1, last: -1, count: 0};
  };
  all.forEach(({condition, seq}, index) => {
    const back = all[index + 1];
    if (condition === "ready") return;
    const write = causes.get(seq);
    const isWritten = write && (!back || compareTimes(write, back.time) <= 0);
    if (condition === "gone" || isWritten) return end();
    run = {first: run.count ? run.first : index, last: index, count: run.count + 1};
  });
  end();
  return runs;
}

/** @type {Exclude<Condition, "gone">[]} */
const drawn = ["ready", "not ready", "cordoned", "tainted"];

/**
 * The bars of a node. A run of flaps is one flag of its own unless it is open.
 * @param {Stretch[]} all @param {ReturnType<typeof flapsOf>} runs
 */
function flagsOf(all, runs) {
  const inRun = (/** @type {number} */ index) => runs.some((run) => run.first <= index && index <= run.last);
  const conditions = drawn.map((name) => ({
    name,
    style: name.replace(" ", "-"),
    steps: all.map(
      ({time, seq, condition}, index) =>
        /** @type {import("./bars").FlagStep} */ ([time, seq, condition === name && !inRun(index)]),
    ),
  }));
  const flaps = runs.map((run) => ({
    name: `${run.count} flaps without a write`,
    style: "flaps",
    steps: [run.first, run.last + 1].flatMap((index) => {
      const one = all[index];
      return one ? [/** @type {import("./bars").FlagStep} */ ([one.time, one.seq, index === run.first])] : [];
    }),
  }));
  return [...conditions, ...flaps];
}

/** How long a node was so, in words. @param {Stretch[]} all @param {number} to */
function wordsOf(all, to) {
  const words = drawn.slice(1).flatMap((condition) => {
    const times = all.flatMap((one, index) => (one.condition === condition ? [{one, next: all[index + 1]}] : []));
    if (times.length === 0) return [];
    const sum = times.reduce((ms, {one, next}) => ms + (next ? msOf(next.time) : to) - msOf(one.time), 0);
    return [
      `${condition} ${times.length === 1 ? "once" : `${times.length} times`}, ${spanText(Math.round(sum / 1000) * 1000)}`,
    ];
  });
  return words.join("; ");
}

/**
 * A row of bars for each node that was not always ready.
 * @param {any[]} events ascending @param {Map<number, string>} causes @param {number} from @param {number} to ms
 */
export function nodeBars(events, causes, from, to) {
  const nodes = stretchesOf(events);
  if (nodes.length === 0) return el("p", {}, "Every node was ready all the time.");
  const place = el("div", {});
  const open = () => new Set((readAddress().open ?? "").split(",").filter(Boolean));
  const draw = () => {
    const chart = barChart({
      title: "Nodes that were not always ready",
      rows: nodes.slice(0, rowsMax).map(([name, all]) => {
        const runs = flapsOf(all, causes);
        const isOpen = open().has(name);
        const flaps = runs.reduce((sum, run) => sum + run.count, 0);
        const toggle = el(
          "button",
          {
            type: "button",
            class: "toggle",
            "aria-expanded": String(isOpen),
            "aria-label": `${name}: ${flaps} flaps without a write`,
            click: () => {
              const now = open();
              if (!now.delete(name)) now.add(name);
              noteInAddress({open: [...now].join(",")});
              draw();
            },
          },
          `${isOpen ? "▾" : "▸"} ${flaps} flaps`,
        );
        return {
          title: name,
          words: wordsOf(all, to),
          flags: flagsOf(all, isOpen ? [] : runs),
          ...(runs.length ? {head: toggle} : {}),
        };
      }),
      marks: [],
      from,
      to,
    });
    place.replaceChildren(chart.element);
  };
  draw();
  return el(
    "div",
    {},
    place,
    el(
      "p",
      {class: "legend"},
      ...["ready", "not-ready", "cordoned", "tainted", "flaps"].flatMap((style) => [
        el("span", {class: `bar-sample bar-${style}`, "aria-hidden": "true"}),
        ` ${style === "flaps" ? "flaps without a write" : style.replace("-", " ")} · `,
      ]),
      nodes.length > rowsMax ? `the first ${rowsMax} of ${nodes.length} nodes` : counted(nodes.length, "node"),
    ),
  );
}
