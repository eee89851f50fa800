// A cluster: what its nodes offer, what of that is usable and accepted, and the newest events of its nodes.

import {noteInAddress} from "./address.js";
import {amountText} from "./amounts.js";
import {blastLink} from "./blast_link.js";
import {stepChart, tableBehind} from "./charts.js";
import {command, linkAndDigest, plainMarkdown, showActions} from "./commands.js";
import {el, table} from "./dom.js";
import {stateWords} from "./fleet.js";
import {chip} from "./facts.js";
import {causesOf, nodeBars, nodeEventsOf} from "./nodes.js";
import {natural} from "./order.js";
import {askFolded} from "./server.js";
import {overviewOf, zoomButtons, zooming} from "./span.js";
import {tabs} from "./tabs.js";
import {msOf, show} from "./times.js";

/** @typedef {import("./main").ViewContext} ViewContext */
/** @typedef {import("./page_answers").Series} Series */

const newestEvents = 100;
/** @type {[name: string, look: Partial<import("./charts").Line>][]} */
const looks = [
  ["offered", {width: 1, dash: [2, 3]}],
  ["usable", {width: 1.5, dash: [4, 3]}],
  ["accepted", {width: 2.5, filled: true}],
];

/** How a node was observed, in words. @param {any} event */
function nodeWords(event) {
  if (event.fact === "ObjectGone") return "gone";
  const facts = event.facts ?? {};
  /** @type {{key: string, effect: string}[]} */
  const taints = facts.taints ?? [];
  return [
    facts.ready === false ? "not ready" : "ready",
    ...(facts.unschedulable ? ["cordoned"] : []),
    ...taints.map((taint) => `taint ${taint.key}:${taint.effect}`),
  ].join(", ");
}

/** @param {ViewContext} context @param {import("./page_answers").Overview} overview @param {Series} series
 *  @param {Series["pairs"][number]} pair */
function layerChart(context, overview, series, pair) {
  const {address} = context;
  const lines = looks
    .filter(([name]) => (pair.lines[name] ?? []).length > 0)
    .map(([name, look]) => ({name, steps: pair.lines[name] ?? [], style: name, ...look}));
  const title = `${pair.flavor || "In all"} ${pair.resource}`;
  const chart = stepChart({
    title: `${address.cluster} ${title}: offered, usable and accepted`,
    resource: pair.resource,
    lines,
    height: 100,
    from: msOf(series.from),
    to: Math.max(msOf(series.to), msOf(series.from) + 1),
    ...zooming(context, overview),
  });
  return {title, lines, chart, resource: pair.resource};
}

/** The nodes over time, and their newest events. @param {ViewContext} context @param {Series} series */
async function nodesPart({address, signal, progress}, series) {
  const where = `cluster=${JSON.stringify(address.cluster)} kind=Node`;
  const {events, more} = await nodeEventsOf(where, series.to, signal);
  if (events.length === 0)
    return [el("p", {}, "The log has no event of a node of this cluster: it reports itself in sums.")];
  const causes = await causesOf(series.from, series.to, signal);
  const {from, to} = series;
  const suppressed = /** @type {import("./page_answers").SuppressedNodes} */ (
    await askFolded("ui/api/suppressed", {cluster: address.cluster, from, to}, signal, progress)
  );
  const newest = events.slice(-newestEvents).reverse();
  return [
    nodeBars(events, causes, suppressed, msOf(from), Math.max(msOf(to), msOf(from) + 1)),
    ...(more ? [el("p", {class: "note"}, `Drawn are the newest ${events.length} events of its nodes.`)] : []),
    table(
      `The newest ${newest.length} events of its nodes`,
      ["Time", "Node, and what it blocked", "Observed", "Event"],
      newest.map((event) => [
        show(event.logTime),
        blastLink(`node/${event.name}`, event.name),
        nodeWords(event),
        chip(event.seq, event.fact),
      ]),
    ),
  ];
}

/** @param {ViewContext} context @param {import("./page_answers").Overview} overview */
function paragraph({address, log}, overview) {
  const known = overview.clusters.find((one) => one.cluster === address.cluster);
  const values = (known?.capacity ?? []).map(
    (one) =>
      `${one.flavor || "all"} ${one.resource}: ` +
      `${amountText(one.accepted, one.resource)} accepted of ${amountText(one.usable, one.resource)} of ` +
      amountText(one.offered, one.resource),
  );
  return (
    `**Cluster ${plainMarkdown(address.cluster)}** is ${known?.state ?? "no more there"} at the end of the log` +
    (known?.hold ? `, a loss since ${known.hold.since} is held until ${known.hold.until}` : "") +
    `. ${plainMarkdown(values.join("; ") || "No capacity is known")}. ${linkAndDigest(log.chain)}`
  );
}

/** @param {ViewContext} context */
export async function clusterView(context) {
  const {root, address, signal, progress} = context;
  const overview = await overviewOf(address, 400, signal, progress);
  address.cluster ||= overview.clusters[0]?.cluster ?? "";
  if (!address.cluster) {
    root.replaceChildren(el("p", {}, "No cluster was seen in this log."));
    return;
  }
  noteInAddress(address);
  const series = /** @type {Series} */ (
    await askFolded("ui/api/series", {cluster: address.cluster, from: overview.from, to: overview.to}, signal, progress)
  );
  const known = overview.clusters.find((one) => one.cluster === address.cluster);
  const drawn = series.pairs.map((pair) => layerChart(context, overview, series, pair));
  const where = `cluster=${address.cluster} kind=Node`;
  const nodes = el("div", {}, "…");
  showActions({
    commands: [command("log", "cat", "--where", where, "--last", String(newestEvents))],
    name: `cluster-${address.cluster}`,
    json: series,
    markdown: () => paragraph(context, overview),
    csv: () => [
      ["flavor", "resource", "line", "time", "seq", "value"],
      ...series.pairs.flatMap((pair) =>
        Object.entries(pair.lines).flatMap(([line, steps]) =>
          steps.map(([time, seq, value]) => [pair.flavor, pair.resource, line, time, seq, value]),
        ),
      ),
    ],
  });
  root.replaceChildren(
    el("h2", {}, address.cluster),
    tabs(
      overview.clusters
        .map(({cluster}) => ({
          title: cluster,
          to: {...address, cluster, open: ""},
          current: cluster === address.cluster,
        }))
        .sort((one, other) => natural(one.title, other.title)),
    ),
    el(
      "p",
      {class: "lead"},
      ...(known ? stateWords([known.state]) : []),
      known ? `Its capacity is known from ${known.source ?? "no source"}.` : "It is no more at the log's end.",
      known?.hold ? ` A loss since ${show(known.hold.since)} is held until ${show(known.hold.until)}.` : "",
      " ",
      blastLink(`cluster/${address.cluster}`),
    ),
    el(
      "p",
      {class: "legend"},
      "dotted: offered · dashed: usable · filled: accepted · drag, wheel or two fingers zoom ",
      ...zoomButtons(context, overview),
    ),
    ...drawn.flatMap((one) => [
      el("h3", {}, one.title),
      one.chart.element,
      tableBehind(one.title, one.lines, one.resource),
    ]),
    el("section", {"aria-labelledby": "nodes"}, el("h3", {id: "nodes"}, "Nodes"), nodes),
  );
  for (const one of drawn) one.chart.draw();
  nodes.replaceChildren(...(await nodesPart(context, series)));
}
