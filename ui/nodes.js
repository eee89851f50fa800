// The nodes of a cluster over time: a row of bars for each that was ever anything but ready. Flaps that moved no quota
// are one bar until it is opened.

import {noteInAddress, readAddress} from "./address.js";
import {barChart, stretches} from "./bars.js";
import {el, table} from "./dom.js";
import {counted, natural} from "./order.js";
import {saved} from "./saved.js";
import {ask} from "./server.js";
import {compareTimes, msOf, show, spanText, textOf, zoneName} from "./times.js";

const eventsMax = 2000;
const rowsMax = 100;
const tableMax = 2000;
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

/** @typedef {import("./page_answers").SuppressedNodes} SuppressedNodes */

/**
 * The conditions of each node in turn, of those that were not always ready, or that flapped.
 * @param {any[]} events ascending @param {SuppressedNodes} suppressed
 */
export function stretchesOf(events, suppressed) {
  const flapped = new Set(suppressed.nodes.map((one) => one.node));
  /** @type {Map<string, Stretch[]>} */
  const nodes = new Map();
  for (const event of events) {
    const all = nodes.get(event.name) ?? [];
    const condition = conditionOf(event);
    if (all.at(-1)?.condition !== condition) all.push({time: event.logTime, seq: event.seq, condition});
    nodes.set(event.name, all);
  }
  return [...nodes]
    .filter(
      ([name, all]) => flapped.has(name) || all.some((one) => one.condition !== "ready" && one.condition !== "gone"),
    )
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

/** @type {Record<string, string>} */
const legend = {flaps: "flaps without a write", suppressed: "suppressed: it flapped, and did not count for growing"};
/** @type {Exclude<Condition, "gone">[]} */
const drawn = ["ready", "not ready", "cordoned", "tainted"];

/** @param {SuppressedNodes["nodes"][number] | undefined} suppressed @returns {import("./bars").Flag} */
const suppression = (suppressed) => ({
  name: "suppressed",
  style: "suppressed",
  steps: (suppressed?.steps ?? []).map(([time, seq, until]) => [time, seq, until !== null]),
});

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

/** How often and how long, in words. @param {string} what @param {[from: number, to: number][]} times */
function timesText(what, times) {
  const sum = times.reduce((ms, [from, to]) => ms + to - from, 0);
  const often = times.length === 1 ? "once" : `${times.length} times`;
  return times.length ? [`${what} ${often}, ${spanText(Math.round(sum / 1000) * 1000)}`] : [];
}

/**
 * How long a node was so, in words.
 * @param {Stretch[]} all @param {import("./bars").Flag} suppressed @param {number} from @param {number} to
 */
function wordsOf(all, suppressed, from, to) {
  const words = drawn.slice(1).flatMap((condition) =>
    timesText(
      condition,
      all.flatMap((one, index) => {
        const next = all[index + 1];
        return one.condition === condition ? [[msOf(one.time), next ? msOf(next.time) : to]] : [];
      }),
    ),
  );
  const held = stretches(suppressed.steps, from, to);
  return [
    ...words,
    ...timesText(
      "suppressed",
      held.map((one) => [one.from, one.to]),
    ),
  ].join("; ");
}

/**
 * The table behind the bars, made when it is opened.
 * @param {[name: string, all: Stretch[]][]} nodes @param {SuppressedNodes} suppressed @param {number} to
 */
function tableBehindBars(nodes, suppressed, to) {
  const end = show(textOf(to));
  const rows = () => [
    ...nodes.flatMap(([name, all]) =>
      all.map((one, index) => [name, one.condition, show(one.time), show(all[index + 1]?.time ?? textOf(to)), one.seq]),
    ),
    ...suppressed.nodes.flatMap(({node, steps}) =>
      steps.flatMap(([time, seq, until], index) => {
        const next = steps[index + 1];
        return until === null ? [] : [[node, "suppressed", show(time), next ? show(next[0]) : end, seq]];
      }),
    ),
  ];
  const details = el(
    "details",
    {
      class: "behind",
      toggle: () => {
        if (!details.open || details.childElementCount > 1) return;
        const all = rows();
        details.append(
          table(`The bars (${zoneName()})`, ["Node", "State", "From", "To", "Seq"], all.slice(0, tableMax)),
          ...(all.length > tableMax ? [el("p", {}, `${all.length - tableMax} more are left out.`)] : []),
        );
      },
    },
    el("summary", {}, "Table"),
  );
  return details;
}

/**
 * A row of bars for each node that was not always ready, or that flapped.
 * @param {any[]} events ascending @param {Map<number, string>} causes @param {SuppressedNodes} suppressed
 * @param {number} from @param {number} to ms
 */
export function nodeBars(events, causes, suppressed, from, to) {
  const nodes = stretchesOf(events, suppressed);
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
        const held = suppression(suppressed.nodes.find((one) => one.node === name));
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
          words: wordsOf(all, held, from, to),
          flags: [...flagsOf(all, isOpen ? [] : runs), held],
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
      ...["ready", "not-ready", "cordoned", "tainted", "flaps", "suppressed"].flatMap((style) => [
        el("span", {class: `bar-sample bar-${style}`, "aria-hidden": "true"}),
        ` ${legend[style] ?? style.replace("-", " ")} · `,
      ]),
      suppressed.leftOut ? "too many events to say when nodes were suppressed: zoom in · " : "",
      nodes.length > rowsMax ? `the first ${rowsMax} of ${nodes.length} nodes` : counted(nodes.length, "node"),
    ),
    tableBehindBars(nodes, suppressed, to),
  );
}
