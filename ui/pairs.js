// A pair of a queue: which one a view is about, and what marks its charts.

import {hashOf, noteInAddress, withLog} from "./address.js";
import {stepText} from "./changes.js";
import {el} from "./dom.js";
import {natural} from "./order.js";
import {Refusal} from "./server.js";
import {overviewOf} from "./span.js";
import {tabs} from "./tabs.js";
import {msOf} from "./times.js";

/** @typedef {import("./main").ViewContext} ViewContext */
/** @typedef {import("./page_answers").Series} Series */
/** @typedef {Series["pairs"][number]} Pair */
/** @typedef {import("./answers").QuotaHistory} History */

/** @typedef {import("./answers").QuotaChange | import("./answers").SettingChange} Row */
const otherStyles = ["foreign", "writer-2", "writer-3", "writer-4"]; // more share the last one

/** @param {Row} row */
export function writerOf(row) {
  return row.writer === "fairlead" ? "fairlead" : (row.by?.[0]?.manager ?? "another writer");
}

/** A colour for each writer of a queue, ours first. @param {History} history @returns {Map<string, string>} */
export function writersOf(history) {
  const styles = new Map([["fairlead", "ours"]]);
  for (const row of [...history.rows, ...history.settings])
    if (!styles.has(writerOf(row)))
      styles.set(writerOf(row), otherStyles[Math.min(styles.size, otherStyles.length) - 1] ?? "foreign");
  return styles;
}

/** @param {Pair} pair @param {{flavor: string | null, resource: string | null}} row */
const isOf = (pair, row) => row.flavor === pair.flavor && row.resource === pair.resource;

/**
 * Writes of this pair, and of what the whole queue has, as shapes.
 * @param {History} history @param {Pair} pair @returns {import("./charts").Mark[]}
 */
export function marksOf(history, pair) {
  const styles = writersOf(history);
  /** @param {Row} row @param {string} text @returns {import("./charts").Mark} */
  const mark = (row, text) => ({
    time: msOf(row.time),
    kind: row.writer === "fairlead" ? "ours" : "foreign",
    style: styles.get(writerOf(row)) ?? "foreign",
    text: `${writerOf(row)}: ${text}`,
  });
  // A limit that our write changed is part of the mark of its nominalQuota.
  const settings = history.settings.filter(
    (row) => row.writer !== "fairlead" && (row.flavor === null || isOf(pair, row)),
  );
  return [
    ...history.rows.filter((row) => isOf(pair, row)).map((row) => mark(row, `${row.old} to ${row.new}`)),
    ...settings.map((row) => mark(row, stepText(row))),
  ];
}

/**
 * Whose value was in force, from each change that took effect to the next.
 * @param {History} history @param {Pair} pair @param {number} from @returns {import("./charts").Band[]}
 */
export function bandsOf(history, pair, from) {
  const styles = writersOf(history);
  const first = pair.lines.nominal?.[0];
  const began = first?.[3] === "fairlead" && msOf(first[0]) <= from ? [{from, style: "ours", text: "fairlead"}] : [];
  return [
    ...began,
    ...history.rows
      .filter((row) => isOf(pair, row) && row.tookEffect)
      .map((row) => ({
        from: msOf(row.tookEffect?.time ?? row.time),
        style: styles.get(writerOf(row)) ?? "foreign",
        text: writerOf(row),
      })),
  ];
}

/** Who wrote, and in which colour. @param {History} history */
export function writersLegend(history) {
  return [...writersOf(history)].flatMap(([name, style]) => [
    el("span", {class: `line-${style}`, "aria-hidden": "true"}, name === "fairlead" ? "▲" : "✕"),
    ` ${name} · `,
  ]);
}

/**
 * Silent stretches.
 * @param {History} history @param {number} from @param {number} to @returns {import("./charts").Gap[]}
 */
export function gapsOf(history, from, to) {
  /** @param {import("./answers").Place | null} place @param {number} otherwise */
  const bound = (place, otherwise) => (place?.time ? msOf(place.time) : otherwise);
  return history.unseen.map((one) => ({
    from: one.since ? msOf(one.since) : bound(one.from, from),
    to: bound(one.to, to),
    text: one.text,
  }));
}

/**
 * The choice of queue, flavor and resource.
 * @param {ViewContext} context @param {Series} series @param {string[]} queues
 */
export function choices(context, series, queues) {
  const {address} = context;
  const go = (/** @type {Record<string, string>} */ change) => {
    location.hash = hashOf(withLog({...address, ...change}));
  };
  return tabs(
    series.pairs.map(({flavor, resource}) => ({
      title: `${flavor} ${resource}`,
      to: {...address, flavor, resource},
      current: flavor === address.flavor && resource === address.resource,
    })),
    el(
      "label",
      {},
      "Queue ",
      el(
        "select",
        {
          id: "queue",
          change: (event) =>
            go({queue: /** @type {HTMLSelectElement} */ (event.target).value, flavor: "", resource: "", at: ""}),
        },
        [...queues].sort(natural).map((queue) => el("option", {selected: queue === address.queue}, queue)),
      ),
    ),
    " ",
  );
}

/** Completes the address: the first queue in trouble, its first pair that is ours. @param {ViewContext} context */
export async function completed(context) {
  const {address, signal, progress} = context;
  const overview = await overviewOf(address, 400, signal, progress);
  const named = overview.queues.find((one) => one.queue === address.queue);
  const queue = named ?? (address.queue ? undefined : overview.queues[0]);
  if (!address.queue && queue) address.queue = queue.queue;
  if (queue && (!address.flavor || !address.resource)) {
    const pair = queue.pairs.find((one) => one.desired !== null) ?? queue.pairs[0];
    address.flavor = pair?.flavor ?? "";
    address.resource = pair?.resource ?? "";
  }
  noteInAddress(address);
  return overview;
}

/** The pair of the address; a Refusal names those that there are. @param {ViewContext} context @param {Series} series */
export function chosenPair({address}, series) {
  const pair = series.pairs.find((one) => one.flavor === address.flavor && one.resource === address.resource);
  if (pair) return pair;
  throw new Refusal(
    `${address.queue} has no ${address.flavor} ${address.resource} in this log. ` +
      `Choose one of: ${series.pairs.map((one) => `${one.flavor} ${one.resource}`).join(", ")}`,
  );
}

/** What to say of a log without queues. */
export const noQueue = "No ClusterQueue was seen in this log.";
