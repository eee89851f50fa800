// Workloads that wait: those of a queue with what each lacks, how many waited for what over time, and one of them with
// its intervals and their causes.

import {hashOf, noteInAddress, readAddress, withLog} from "./address.js";
import {amountText} from "./amounts.js";
import {barChart} from "./bars.js";
import {stepChart, tableBehind} from "./charts.js";
import {command, linkAndDigest, plainMarkdown, showActions} from "./commands.js";
import {el, table} from "./dom.js";
import {changesOf, chip} from "./facts.js";
import {counted, natural} from "./order.js";
import {longTable} from "./rows.js";
import {saved} from "./saved.js";
import {Refusal, ask, askFolded} from "./server.js";
import {overviewOf, zoomButtons, zooming} from "./span.js";
import {tabs} from "./tabs.js";
import {msOf, show, spanText} from "./times.js";

/** @typedef {import("./main").ViewContext} ViewContext */
/** @typedef {import("./answers").WaitingList} WaitingList */
/** @typedef {import("./answers").Waiting} Waiting */
/** @typedef {import("./answers").WaitInterval} WaitInterval */
/** @typedef {WaitingList["workloads"][number]} Row */
/** @typedef {import("./page_answers").WaitingDepth} WaitingDepth */

/** What a Workload waits for, in words: what docs/waiting.md says of each class. @type {Record<string, string>} */
const meaning = {
  unknown: "not known",
  queue: "Kueue has not looked yet",
  quota: "quota of its queue or cohort",
  preemption: "others that are being stopped",
  topology: "a place in the topology",
  device: "devices",
  config: "a correction of its configuration",
  hold: "somebody, or a backoff, holds it",
  check: "an admission check",
  worker: "a worker cluster",
};
export const waitClasses = Object.keys(meaning);

/** @param {string | null} fit */
function fitText(fit) {
  return {now: "fits now", quota: "fits, others hold it", no: "does not fit"}[fit ?? ""] ?? "";
}

/** @param {WaitInterval["shortage"]} shortage */
function shortageText(shortage) {
  return shortage
    .map(
      ({flavor, resource, amount, source}) =>
        `${amountText(amount, resource)} ${resource} of ${flavor}${source === "message" ? " (says Kueue)" : ""}`,
    )
    .join(", ");
}

/** A span of so many seconds. @param {string} seconds */
const secondsText = (seconds) => spanText(Number(seconds) * 1000);

/** @param {string} of a class */
function className(of) {
  return [el("span", {class: `bar-sample bar-wait-${of}`, "aria-hidden": "true"}), ` ${of}`];
}

/** @param {{namespace: string, name: string}} workload */
function linkTo({namespace, name}) {
  const {from = "", to = ""} = readAddress();
  const address = withLog({view: "waiting", workload: `${namespace}/${name}`, from, to});
  return el("a", {href: hashOf(address)}, `${namespace}/${name}`);
}

/** @param {Row[]} rows @param {string} caption */
function rowsTable(rows, caption) {
  return longTable({
    caption,
    rows,
    sort: readAddress().sort ?? "",
    sorted: (sort) => noteInAddress({sort}),
    columns: [
      {title: "Workload", cell: linkTo, key: (row) => `${row.namespace}/${row.name}`},
      {title: "Waits for", cell: (row) => className(row.class), key: (row) => row.class},
      {title: "Reason", cell: (row) => row.reason, key: (row) => row.reason},
      {title: "Fit", cell: (row) => fitText(row.fit), key: (row) => row.fit ?? ""},
      {title: "Since", cell: (row) => show(row.since), key: (row) => msOf(row.since)},
      {title: "Waited", cell: (row) => secondsText(row.waited), key: (row) => Number(row.waited)},
      {title: "Lacks", cell: (row) => shortageText(row.shortage), key: (row) => shortageText(row.shortage)},
    ],
  });
}

/** @param {Row[]} rows */
function countedClasses(rows) {
  const counts = waitClasses.map((of) => /** @type {const} */ ([of, rows.filter((row) => row.class === of).length]));
  return counts.filter(([, count]) => count > 0).map(([of, count]) => `${count} for ${of} (${meaning[of]})`);
}

/** How many waited, by class, over time. @param {ViewContext} context
 *  @param {import("./page_answers").Overview} overview @param {string} queue */
async function depthPart(context, overview, queue) {
  const {signal, progress} = context;
  const {from, to} = overview;
  const depth = /** @type {WaitingDepth} */ (await askFolded("ui/api/waiting", {queue, from, to}, signal, progress));
  if (depth.classes.length === 0) return {chart: undefined, parts: [el("p", {}, "None waited in this span.")]};
  const lines = depth.classes.map((one) => ({name: one.class, steps: one.steps, style: `wait-${one.class}`, width: 2}));
  const title = `${queue}: how many workloads waited, by what for`;
  const chart = stepChart({
    title,
    resource: "workloads",
    lines,
    height: 100,
    from: msOf(from),
    to: Math.max(msOf(to), msOf(from) + 1),
    ...zooming(context, overview),
  });
  return {
    chart,
    parts: [
      chart.element,
      el(
        "p",
        {class: "legend"},
        ...lines.flatMap(({name}) => [
          el("span", {class: `sample line-wait-${name}`, "aria-hidden": "true"}),
          `${name} · `,
        ]),
      ),
      tableBehind(title, lines, "workloads"),
    ],
  };
}

/**
 * The Workloads that wait in a queue at a moment, and the queue's depth over the span: below a queue's chart.
 * @param {ViewContext} context @param {import("./page_answers").Overview} overview @param {string} queue
 * @param {HTMLElement} place
 */
export async function fillWaiting(context, overview, queue, place) {
  const time = saved ? saved.to : overview.to;
  /** @type {WaitingList} */
  let answer;
  try {
    answer = await ask("audit/waiting", {queue, "as-of": time}, context.signal);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // A part of a view: what else it shows is still good.
    place.replaceChildren(el("p", {class: "note"}, error.message));
    return undefined;
  }
  const rows = answer.workloads;
  const depth = await depthPart(context, overview, queue);
  place.replaceChildren(
    el(
      "p",
      {},
      rows.length === 0
        ? `No workload waits at ${show(time)}.`
        : `${counted(rows.length, "workload")} at ${show(time)}: ${countedClasses(rows).join(", ")}.`,
    ),
    ...(rows.length > 0 ? [rowsTable(rows, `Workloads that wait in ${queue}, the longest first`)] : []),
    ...depth.parts,
  );
  depth.chart?.draw();
  return answer;
}

/** @param {string} title @param {WaitInterval[]} intervals @returns {import("./bars").Row} */
function barsOf(title, intervals) {
  return {
    title,
    words: intervals.map((one) => `${one.class} from ${show(one.from)} to ${show(one.to)}`).join("; ") || "none",
    flags: waitClasses.map((of) => ({
      name: of,
      style: `wait-${of}`,
      steps: intervals
        .filter((one) => one.class === of)
        .flatMap((one) => [
          /** @type {import("./bars").FlagStep} */ ([one.from, 0, true]),
          /** @type {import("./bars").FlagStep} */ ([one.to, 0, false]),
        ]),
    })),
  };
}

/** @param {string} caption @param {WaitInterval[]} intervals @param {Record<string, string>} changes */
function intervalsTable(caption, intervals, changes) {
  return table(
    caption,
    ["From", "To", "Waits for", "Reason", "Fit", "Lacks", "Checks", "Began with", "Kueue's words"],
    intervals.map((one) => [
      show(one.from),
      show(one.to),
      className(one.class),
      [one.reason, one.changes > 0 ? ` (${counted(one.changes, "change")})` : ""],
      fitText(one.fit),
      shortageText(one.shortage),
      one.checks.map(({name, state}) => `${name} ${state}`).join(", "),
      [one.because ?? "", ...one.causes.flatMap((seq) => [" ", chip(seq, changes[seq] ?? "event")])],
      one.message,
    ]),
  );
}

/** @param {Waiting} answer */
const intervalsOf = (answer) => answer.waits.flatMap((wait) => wait.intervals);

/** @param {ViewContext} context @param {Waiting} answer */
function paragraph({log}, answer) {
  const last = intervalsOf(answer).at(-1);
  return (
    `**Workload ${plainMarkdown(`${answer.namespace}/${answer.name}`)}** is ${answer.state}; it waited ` +
    `${secondsText(answer.waited)} in ${counted(answer.waits.length, "wait")}` +
    (last ? `, at last for ${last.class} (${plainMarkdown(last.reason || "no reason")}` : "") +
    (last && last.shortage.length ? `; it lacked ${plainMarkdown(shortageText(last.shortage))}` : "") +
    `${last ? ")" : ""}. ${linkAndDigest(log.chain)}`
  );
}

/** One Workload. @param {ViewContext} context @param {string} workload */
async function workloadPart(context, workload) {
  const {address, signal} = context;
  const span = {from: address.from, to: address.to};
  const answer = /** @type {Waiting} */ (await ask("audit/waiting", {workload, ...span}, signal));
  const all = [...intervalsOf(answer), ...answer.workers.flatMap((one) => one.intervals)];
  const changes = await changesOf([...new Set(all.flatMap((one) => one.causes))].slice(0, 500), signal);
  const given = Object.entries(span).flatMap(([name, value]) => (value ? [`--${name}`, value] : []));
  showActions({
    commands: [command("audit", "waiting", workload, ...given)],
    name: `waiting-${workload.replace(/[^A-Za-z0-9.-]+/g, "-").slice(0, 100)}`,
    json: answer,
    markdown: () => paragraph(context, answer),
    csv: () => [
      ["where", "from", "to", "class", "reason", "fit", "changes", "message"],
      ...[{cluster: "hub", intervals: intervalsOf(answer)}, ...answer.workers].flatMap(({cluster, intervals}) =>
        intervals.map((one) => [cluster, one.from, one.to, one.class, one.reason, one.fit, one.changes, one.message]),
      ),
    ],
  });
  const rows = [barsOf("hub", intervalsOf(answer)), ...answer.workers.map((one) => barsOf(one.cluster, one.intervals))];
  const from = all[0] ? Math.min(...all.map((one) => msOf(one.from))) : msOf(answer.created);
  const to = Math.max(from + 1, ...all.map((one) => msOf(one.to)));
  return [
    el("h2", {}, "Workload ", workload),
    el(
      "p",
      {class: "lead"},
      `${answer.state}; created ${show(answer.created)}, in LocalQueue ${answer.queue || "none"} of ClusterQueue `,
      answer.clusterQueue
        ? el("a", {href: hashOf(withLog({view: "queue", queue: answer.clusterQueue}))}, answer.clusterQueue)
        : "that is not known",
      `. It waited ${secondsText(answer.waited)} in ${counted(answer.waits.length, "wait")}.`,
    ),
    ...(all.length > 0
      ? [barChart({title: `What ${workload} waited for`, rows, marks: [], from, to}).element]
      : [el("p", {}, "No wait of it is in this span.")]),
    el("p", {class: "legend"}, ...waitClasses.flatMap((of) => [...className(of), `: ${meaning[of]} · `])),
    ...answer.waits.map((wait) =>
      intervalsTable(
        `Waited ${secondsText(wait.waited)} from ${show(wait.from)}, then ${wait.end}`,
        wait.intervals,
        changes,
      ),
    ),
    ...answer.workers.map((one) => intervalsTable(`Its copy on ${one.cluster}`, one.intervals, changes)),
  ];
}

/** @param {ViewContext} context */
export async function waitingView(context) {
  const {root, address, signal, progress} = context;
  if (address.workload) {
    root.replaceChildren(...(await workloadPart(context, address.workload)));
    return;
  }
  const overview = await overviewOf(address, 400, signal, progress);
  address.queue ||= overview.queues[0]?.queue ?? "";
  if (!address.queue) {
    root.replaceChildren(el("p", {}, "No ClusterQueue was seen in this log."));
    showActions({commands: [command("audit", "waiting")]});
    return;
  }
  noteInAddress({queue: address.queue});
  const place = el("div", {}, "…");
  root.replaceChildren(
    el("h2", {}, "Who waits in ", address.queue),
    tabs(
      overview.queues
        .map(({queue}) => ({title: queue, to: {...address, queue}, current: queue === address.queue}))
        .sort((one, other) => natural(one.title, other.title)),
    ),
    place,
    el("p", {class: "legend"}, ...zoomButtons(context, overview)),
  );
  const answer = await fillWaiting(context, overview, address.queue, place);
  showActions({
    commands: [command("audit", "waiting", "--queue", address.queue, ...(address.to ? ["--as-of", address.to] : []))],
    name: `waiting-${address.queue}`,
    json: answer,
    csv: () => [
      ["namespace", "name", "clusterQueue", "class", "reason", "fit", "since", "waited", "shortage"],
      ...(answer?.workloads ?? []).map((one) => [
        one.namespace,
        one.name,
        one.clusterQueue,
        one.class,
        one.reason,
        one.fit,
        one.since,
        Number(one.waited),
        shortageText(one.shortage),
      ]),
    ],
  });
}
