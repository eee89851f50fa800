// A worker list of MultiKueue: who was selected, in the list, draining and frozen, and why at a moment.

import {noteInAddress} from "./address.js";
import {barChart} from "./bars.js";
import {command, linkAndDigest, plainMarkdown, showActions} from "./commands.js";
import {el, table} from "./dom.js";
import {stateWords} from "./fleet.js";
import {chip} from "./facts.js";
import {natural} from "./order.js";
import {whyPanelBox} from "./panel.js";
import {savedMoments} from "./saved.js";
import {atRest, momentsOf, scrubber} from "./scrubber.js";
import {ask, askFolded} from "./server.js";
import {overviewOf, zoomButtons} from "./span.js";
import {tabs} from "./tabs.js";
import {compareTimes, msOf, show} from "./times.js";
import {unseenPart} from "./why.js";

/** @typedef {import("./main").ViewContext} ViewContext */
/** @typedef {import("./page_answers").WorkerSeries} WorkerSeries */
/** @typedef {import("./answers").WorkersHistory} WorkersHistory */
/** @typedef {import("./answers").WorkersWhy} WorkersWhy */

const decisionsMax = 1000;
/** @type {("selected" | "listed" | "draining" | "frozen")[]} */
const flags = ["selected", "listed", "draining", "frozen"];

/** @param {WorkerSeries["workers"][number]} worker */
const nameOf = (worker) => worker.cluster || worker.multiKueueCluster;

/** The decisions of the Placement, the newest ones. @param {ViewContext} context @param {string} from
 *  @param {string} to */
async function decisionsOf({address, signal}, from, to) {
  const where = `kind=PlacementDecision cluster=hub name~${JSON.stringify(address.list)}`;
  const answer = await ask("log/cat", {where, from, to, last: decisionsMax, output: "json"}, signal);
  return String(answer.text)
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter((event) => event.facts?.placement === address.list);
}

/** @param {WorkersHistory} history @param {any[]} decisions @returns {import("./bars").BarMark[]} */
function marksOf(history, decisions) {
  return [
    ...decisions.map((event) => ({
      time: msOf(event.logTime),
      kind: /** @type {const} */ ("decision"),
      text: `decision: ${(event.facts.clusters ?? []).join(", ") || "no worker"}`,
    })),
    ...history.rows.map((row) => ({
      time: msOf(row.time),
      kind: row.writer === "fairlead" ? /** @type {const} */ ("ours") : /** @type {const} */ ("foreign"),
      text: `list written: ${row.new.join(", ") || "empty"}`,
    })),
  ];
}

/** The answer of `audit why`, as a table. @param {WorkersWhy} why */
function whyTable(why) {
  return [
    el(
      "p",
      {},
      `The list is ${why.list.join(", ") || "empty"}: ${why.use}. `,
      why.frozenSince ? `It has been frozen since ${show(why.frozenSince)}. ` : "",
      why.wish ? `It is to become ${why.wish.join(", ") || "empty"}. ` : "",
      why.foreign ? `${why.foreign}.` : "",
    ),
    ...unseenPart(why.unseen),
    table(
      `Its clusters at ${show(why.asOf.time)}`,
      ["Cluster", "In the list", "Selected", "How it is", "Since", "Ends", "Held by", "Because"],
      why.workers.map((worker) => [
        worker.cluster || worker.multiKueueCluster,
        worker.listed ? "yes" : "no",
        worker.selected ? "yes" : "no",
        [worker.standing, worker.leftOut ? `; ${worker.leftOut}` : ""],
        show(worker.since),
        Object.entries(worker.windowsEnd)
          .map(([name, time]) => `${name} ${show(time)}`)
          .join("; "),
        worker.heldBy.flatMap((held) => [chip(held.seq, held.workload), " "]),
        worker.because.flatMap((fact) => [chip(fact.seq, fact.time ? show(fact.time) : "pruned"), " "]),
      ]),
    ),
  ];
}

/** @param {ViewContext} context @param {WorkersWhy} why @param {WorkersHistory} history */
function paragraph({log}, why, history) {
  const last = history.rows.findLast((row) => compareTimes(row.time, why.asOf.time) <= 0);
  return (
    `**Worker list ${plainMarkdown(why.multiKueueConfig)}** was ${plainMarkdown(why.list.join(", ") || "empty")} at ` +
    `${why.asOf.time} (seq ${why.asOf.seq}): ` +
    why.workers
      .map((worker) => plainMarkdown(`${worker.cluster || worker.multiKueueCluster} ${worker.standing}`))
      .join("; ") +
    ". " +
    (last
      ? `It had been written at ${last.time} (seq ${last.seq})` +
        (last.writer === "fairlead" ? `: ${plainMarkdown(`${last.rule}, ${last.text}`)}. ` : ", by another writer. ")
      : "") +
    linkAndDigest(log.chain)
  );
}

/** Asks why once the cursor has come to rest. @param {ViewContext} context
 *  @param {ReturnType<typeof whyPanelBox>} box @param {WorkerSeries} series @param {WorkersHistory} history */
function whyPanel(context, {panel, fill}, series, history) {
  const {address, signal} = context;
  const object = `multikueueconfig/${address.list}`;
  return atRest(signal, panel, async (time, either) => {
    const commands = [command("audit", "why", object, "--as-of", time)];
    showActions({commands});
    const why = /** @type {WorkersWhy} */ (await ask("audit/why", {queue: object, "as-of": time}, either));
    fill(
      [el("h3", {}, `Why, at ${show(why.asOf.time)} (seq ${why.asOf.seq})`), ...whyTable(why)],
      `${show(why.asOf.time)}: the list is ${why.list.join(", ") || "empty"}.`,
    );
    panel.dataset.time = why.asOf.time;
    showActions({
      commands,
      name: `list-${address.list}`,
      json: {why, history, series},
      csv: () => [
        ["cluster", "multiKueueCluster", "line", "time", "seq", "value"],
        ...series.workers.flatMap((worker) =>
          flags.flatMap((flag) =>
            worker.lines[flag].map(([at, seq, value]) => [
              worker.cluster,
              worker.multiKueueCluster,
              flag,
              at,
              seq,
              value,
            ]),
          ),
        ),
      ],
      markdown: () => paragraph(context, why, history),
    });
  });
}

/** The table behind the bars. @param {WorkerSeries} series */
function stepsTable(series) {
  const rows = series.workers
    .flatMap((worker) =>
      flags.flatMap((flag) => worker.lines[flag].map((step) => /** @type {const} */ ([nameOf(worker), flag, step]))),
    )
    .sort(([, , a], [, , b]) => compareTimes(a[0], b[0]) || a[1] - b[1]);
  return el(
    "details",
    {class: "behind"},
    el("summary", {}, "Table"),
    table(
      "Steps of the worker list, the newest last",
      ["Time", "Seq", "Cluster", "Line", "Value"],
      rows
        .slice(-2000)
        .map(([name, flag, [time, seq, value]]) => [
          show(time),
          seq,
          name,
          flag,
          value === null ? "none" : String(value),
        ]),
    ),
  );
}

/** @param {ViewContext} context */
export async function listView(context) {
  const {root, address, signal, progress} = context;
  const overview = await overviewOf(address, 400, signal, progress);
  address.list ||= overview.lists[0]?.list ?? "";
  if (!address.list) {
    root.replaceChildren(el("p", {}, "No worker list of MultiKueue was seen in this log."));
    showActions({commands: [command("audit", "quota")]});
    return;
  }
  noteInAddress(address);
  const asked = {list: address.list, from: overview.from, to: overview.to};
  const series = /** @type {WorkerSeries} */ (await askFolded("ui/api/series", asked, signal, progress));
  const object = `multikueueconfig/${address.list}`;
  const history = /** @type {WorkersHistory} */ (
    await ask("audit/history", {queue: object, from: series.from, to: series.to}, signal)
  );
  const decisions = await decisionsOf(context, series.from, series.to);
  const from = msOf(series.from),
    to = Math.max(msOf(series.to), msOf(series.from) + 1);
  const chart = barChart({
    title: `${address.list}: which clusters were selected, in the list, draining and frozen`,
    rows: series.workers.map((worker) => ({
      title: nameOf(worker),
      flags: flags.map((flag) => ({name: flag, style: flag, steps: worker.lines[flag]})),
    })),
    marks: marksOf(history, decisions),
    from,
    to,
  });
  const steps = [
    series.from,
    ...series.workers.flatMap((worker) => flags.flatMap((flag) => worker.lines[flag].map((step) => step[0]))),
    ...history.rows.map((row) => row.time),
    ...decisions.map((event) => String(event.logTime)),
    ...(address.at ? [address.at] : []),
  ];
  const moments = momentsOf(savedMoments(object) ?? steps, series.from, series.to);
  const box = whyPanelBox();
  const why = whyPanel(context, box, series, history);
  const moveTo = (/** @type {string} */ time) => {
    chart.setCursor(msOf(time));
    noteInAddress({at: time});
    void why(time);
  };
  const slide = scrubber(series.from, series.to, moments, moveTo);
  const known = overview.lists.find((one) => one.list === address.list);
  root.replaceChildren(
    el("h2", {}, "Worker list ", address.list),
    tabs(
      overview.lists
        .map(({list}) => ({title: list, to: {...address, list, at: ""}, current: list === address.list}))
        .sort((one, other) => natural(one.title, other.title)),
    ),
    el("p", {class: "lead"}, ...(known ? stateWords([known.state]) : ["It is no more at the log's end."])),
    ...box.parts,
    chart.element,
    slide.slider,
    el(
      "p",
      {class: "legend"},
      ...flags.flatMap((flag) => [el("span", {class: `bar-sample bar-${flag}`, "aria-hidden": "true"}), ` ${flag} · `]),
      "▲ our writes · ✕ foreign writes · ◆ decisions ",
      box.size,
      " ",
      ...zoomButtons(context, overview),
    ),
    stepsTable(series),
  );
  chart.align(slide.slider);
  slide.move(address.at || series.to);
}
