// One object of the super cluster pool over time, and why it is as it is: a tenant's namespace or pod, a super cluster,
// a tenant.

import {hashOf, noteInAddress, withLog} from "./address.js";
import {stepChart, tableBehind} from "./charts.js";
import {command, linkAndDigest, plainMarkdown, showActions} from "./commands.js";
import {el, table} from "./dom.js";
import {chip} from "./facts.js";
import {stateWords} from "./fleet.js";
import {gapsOf} from "./pairs.js";
import {amountsText, namespaceTable, placementsText, podTable, poolLink} from "./pool_tables.js";
import {savedMoments} from "./saved.js";
import {atRest} from "./scrubber.js";
import {ask, askFolded} from "./server.js";
import {zoomButtons, zooming} from "./span.js";
import {msOf, show} from "./times.js";
import {unseenPart} from "./why.js";

/** @typedef {import("./main").ViewContext} ViewContext */
/** @typedef {import("./page_answers").Overview} Overview */
/** @typedef {import("./page_answers").Pool} Pool */
/** @typedef {import("./page_answers").ShareSeries} ShareSeries */
/** @typedef {import("./page_answers").PoolSeries} PoolSeries */
/** @typedef {import("./answers").PlacementWhy} PlacementWhy */
/** @typedef {import("./answers").PlacementHistory} PlacementHistory */
/** @typedef {import("./charts").Line} Line */
/** @typedef {import("./charts").Step} Step */

/** Looks of lines that are told apart by their order. @type {Partial<Line>[]} */
const looks = [
  {style: "nominal", width: 2.5},
  {style: "accepted", width: 2, dash: [6, 2]},
  {style: "used", width: 2, dash: [2, 2]},
  {style: "granted", width: 2, dash: [10, 4]},
  {style: "desired", width: 2, dash: [4, 3]},
  {style: "assigned", width: 2, dash: [8, 2, 2, 2]},
];

/** @param {string} name @param {Step[]} steps @param {number} index @returns {Line} */
function lineOf(name, steps, index) {
  const look = looks[index % looks.length] ?? {};
  return {name, steps, style: "nominal", ...look};
}

/** What the colours mean. @param {Line[]} lines */
function legendOf(lines) {
  return el(
    "p",
    {class: "legend"},
    ...lines.flatMap((line) => [
      el("span", {class: `sample line-${line.style}`, "aria-hidden": "true"}),
      `${line.name} `,
    ]),
  );
}

/**
 * A chart with its heading, its legend and its table.
 * @param {ViewContext} context @param {Overview} overview
 * @param {{title: string, resource: string, lines: Line[], from: string, to: string,
 *   marks?: import("./charts").Mark[], gaps?: import("./charts").Gap[], pick?: (ms: number) => void}} options
 */
function titledChart(context, overview, options) {
  const chart = stepChart({
    ...options,
    from: msOf(options.from),
    to: Math.max(msOf(options.to), msOf(options.from) + 1),
    height: 200,
    ...zooming(context, overview),
  });
  return {
    chart,
    parts: [
      el("h3", {}, options.title),
      chart.element,
      legendOf(options.lines),
      tableBehind(options.title, options.lines),
    ],
  };
}

/**
 * A slider over the moments at which something moved: the arrow keys go from one to the next.
 * @param {string[]} moments ascending @param {string} at @param {(time: string) => void} moved
 */
function momentSlider(moments, at, moved) {
  const before = moments.findLastIndex((time) => msOf(time) <= msOf(at) + 0.0005);
  const slider = el("input", {
    type: "range",
    id: "scrubber",
    class: "moment",
    min: 0,
    max: Math.max(0, moments.length - 1),
    step: 1,
    value: Math.max(0, before),
    "aria-label": "Moment",
  });
  const move = (/** @type {number} */ index) => {
    const time = moments[index] ?? at;
    slider.value = String(index);
    slider.setAttribute("aria-valuetext", show(time));
    moved(time);
  };
  slider.addEventListener("input", () => move(Number(slider.value)));
  const near = (/** @type {number} */ ms) => {
    const index = moments.findLastIndex((time) => msOf(time) <= ms);
    move(Math.max(0, index));
  };
  return {slider, near, begin: () => move(Math.max(0, before))};
}

/** @param {PlacementWhy} why */
function lead(why) {
  const slices = Object.values(why.placements).reduce((sum, count) => sum + count, 0);
  const lacks = why.reason ?? why.undecided;
  return el(
    "p",
    {class: "lead"},
    el(
      "strong",
      {},
      why.pod === undefined
        ? `${slices} of ${why.expected} slices are placed: ${placementsText(why.placements)}. `
        : why.superCluster === null
          ? "The pod has no super cluster. "
          : `The pod is on ${why.superCluster}. `,
    ),
    why.slice ? `A slice is ${amountsText(why.slice)}. ` : "No slice was read. ",
    lacks ? `Missing: ${lacks}.` : "Nothing is missing.",
  );
}

/** @param {PlacementWhy} why */
function clusterRows(why) {
  const ofPod = why.pod !== undefined;
  return table(
    `The super clusters at ${show(why.asOf.time)}`,
    ["Super cluster", "State", "Slices", "Usable", "Held by others", "Room", ...(ofPod ? ["Left"] : []), "Short of"],
    why.clusters.map((one) => [
      poolLink({superCluster: one.id}, one.id),
      stateWords([one.state]),
      one.slices,
      one.usable ? amountsText(one.usable) : "not known yet",
      amountsText(one.others),
      one.room,
      ...(ofPod ? [amountsText(one.left ?? {})] : []),
      one.devices?.reason ? `${one.devices.reason}: ${one.devices.detail}` : (one.short ?? "nothing"),
    ]),
  );
}

/** @param {PlacementWhy} why */
function decisions(why) {
  if (why.changes.length === 0) return el("p", {}, "The log has no decision about it.");
  return el(
    "ul",
    {},
    [...why.changes]
      .reverse()
      .map((change) =>
        el(
          "li",
          {},
          change.time ? `${show(change.time)}: ` : "",
          `${change.rule}, ${change.text}${change.answer ? `, ${change.answer.outcome}` : ""} `,
          change.seq === null ? null : chip(change.seq, "write"),
          ...change.facts.flatMap((fact) => [" ", chip(fact.seq, fact.changed ?? fact.text ?? "pruned")]),
        ),
      ),
  );
}

/** The answer of `audit why --namespace` or `--pod`. @param {PlacementWhy} why */
function whyParts(why) {
  return [
    el("h3", {}, `Why, at ${show(why.asOf.time)} (seq ${why.asOf.seq})`),
    lead(why),
    ...unseenPart(why.unseen),
    clusterRows(why),
    el("h4", {}, "Decisions, the newest first"),
    decisions(why),
  ];
}

/** @param {PlacementWhy} why @param {string} name @param {string} chain */
function paragraph(why, name, chain) {
  const last = why.changes.at(-1);
  return (
    `**${plainMarkdown(name)}** at ${why.asOf.time} (seq ${why.asOf.seq}): ` +
    (why.pod === undefined
      ? plainMarkdown(`of ${why.expected} slices ${placementsText(why.placements)}`)
      : plainMarkdown(why.superCluster ?? "no super cluster")) +
    `. ${plainMarkdown(why.reason ?? why.undecided ?? "Nothing is missing")}. ` +
    (last?.time ? `${plainMarkdown(`${last.rule}, ${last.text}`)} at ${last.time}. ` : "") +
    linkAndDigest(chain)
  );
}

/** @param {ShareSeries} series */
function linesOf(series) {
  const whole = series.shares.find((one) => one.id === "");
  const parts = series.shares.filter((one) => one.id !== "");
  const some = (/** @type {Line[]} */ lines) => lines.filter((line) => line.steps.length > 0);
  return {
    slices: some([
      ...(whole ? [{name: "expected", steps: whole.lines.expected, style: "offered", width: 1.5, dash: [2, 3]}] : []),
      ...parts.map((one, index) => lineOf(one.id, one.lines.placed, index)),
    ]),
    pods: some([
      ...(whole ? [{name: "waiting", steps: whole.lines.waiting, style: "loss", width: 1.5, dash: [2, 3]}] : []),
      ...parts.map((one, index) => lineOf(one.id, one.lines.pods, index)),
    ]),
  };
}

/** @param {ViewContext} context @param {string} namespace */
async function podsOf({signal}, namespace) {
  try {
    return /** @type {Pool} */ (await ask("ui/api/pool", {namespace}, signal));
  } catch (error) {
    if (signal.aborted) throw error;
    return null; // it is no more there, or not in this file
  }
}

/** A namespace, or one of its pods. @param {ViewContext} context @param {Overview} overview */
export async function namespaceView(context, overview) {
  const {root, address, signal, progress, log} = context;
  const namespace = address.pod ? address.pod.split("/").slice(0, 2).join("/") : (address.namespace ?? "");
  const asked = address.pod ? {pod: address.pod} : {namespace};
  const option = address.pod ? ["--pod", address.pod] : ["--namespace", namespace];
  const name = address.pod || namespace;
  showActions({commands: [command("audit", "why", ...option)]});
  const span = {from: overview.from, to: overview.to};
  const series = /** @type {ShareSeries} */ (await askFolded("ui/api/series", {namespace, ...span}, signal, progress));
  const history = /** @type {PlacementHistory} */ (await ask("audit/history", {namespace, ...span}, signal));
  const pool = await podsOf(context, namespace);
  const steps = series.shares.flatMap((one) => Object.values(one.lines).flatMap((line) => line.map((step) => step[0])));
  const times = savedMoments(name) ?? [span.from, ...steps, ...history.rows.map((row) => row.time), span.to];
  const moments = [...new Set(times)]
    .filter((time) => msOf(time) >= msOf(span.from) && msOf(time) <= msOf(span.to))
    .sort((a, b) => msOf(a) - msOf(b));
  const marks = history.rows.map((row) => ({
    time: msOf(row.time),
    kind: row.writer === "fairlead" ? /** @type {const} */ ("ours") : /** @type {const} */ ("foreign"),
    text: `placements ${JSON.stringify(row.new)}`,
  }));
  const panel = el("section", {class: "why", id: "why", "aria-label": "Why"});
  const tenant = namespace.split("/")[0] ?? "";
  const fill = atRest(signal, panel, async (time, either) => {
    const commands = [command("audit", "why", ...option, "--as-of", time)];
    const why = /** @type {PlacementWhy} */ (await ask("audit/why", {...asked, "as-of": time}, either));
    panel.replaceChildren(...whyParts(why));
    panel.dataset.time = why.asOf.time;
    showActions({
      commands,
      name: name.replace(/[^A-Za-z0-9.-]+/g, "-").slice(0, 100),
      json: {why, history, series},
      markdown: () => paragraph(why, name, log.chain),
      csv: () => [
        ["superCluster", "line", "time", "seq", "value", "writer"],
        ...series.shares.flatMap((one) =>
          Object.entries(one.lines).flatMap(([line, of]) =>
            of.map(([at, seq, value, writer]) => [one.id, line, at, seq, value, writer]),
          ),
        ),
      ],
    });
  });
  const lines = linesOf(series);
  const gaps = gapsOf(
    /** @type {import("./answers").QuotaHistory} */ (/** @type {unknown} */ (history)),
    msOf(span.from),
    msOf(span.to),
  );
  /** @param {number} ms */
  const pick = (ms) => slide.near(ms);
  const drawn = [
    titledChart(context, overview, {
      title: `${namespace}: slices`,
      resource: "",
      lines: lines.slices,
      ...span,
      marks,
      gaps,
      pick,
    }),
    titledChart(context, overview, {title: `${namespace}: pods`, resource: "", lines: lines.pods, ...span, gaps, pick}),
  ];
  const slide = momentSlider(moments, address.at || span.to, (time) => {
    for (const one of drawn) one.chart.setCursor(msOf(time));
    noteInAddress({at: time});
    void fill(time);
  });
  root.replaceChildren(
    el("h2", {}, address.pod ? `Pod ${address.pod}` : `Namespace ${namespace}`),
    el(
      "p",
      {},
      el("a", {href: hashOf(withLog({view: "pool"}))}, "Pool"),
      " · tenant ",
      poolLink({tenant}, tenant),
      ...(address.pod ? [" · namespace ", poolLink({namespace}, namespace)] : []),
    ),
    panel,
    ...(drawn[0]?.parts.slice(0, 2) ?? []),
    slide.slider,
    ...(drawn[0]?.parts.slice(2) ?? []),
    el(
      "p",
      {class: "legend"},
      "▲ our writes · ✕ foreign writes · hatched: a source was silent · drag, wheel or two ",
      "fingers zoom ",
      ...zoomButtons(context, overview),
    ),
    ...(drawn[1]?.parts ?? []),
    ...(pool ? [el("h3", {}, "Pods"), podTable("Its pods at the log's end", pool)] : []),
  );
  for (const one of drawn) one.chart.draw();
  slide.begin();
}

/**
 * The charts of a super cluster or a tenant: one for each resource.
 * @param {ViewContext} context @param {Overview} overview @param {PoolSeries} series @param {string} name
 */
function resourceCharts(context, overview, series, name) {
  return series.resources.map((one) =>
    titledChart(context, overview, {
      title: `${name}: ${one.resource}`,
      resource: one.resource,
      lines: Object.entries(one.lines)
        .filter(([, steps]) => steps.length > 0)
        .map(([line, steps], index) => lineOf(line, steps, index)),
      from: series.from,
      to: series.to,
    }),
  );
}

/** @param {ViewContext} context @param {PoolSeries} series @param {Pool | null} pool @param {string[]} line */
function showObject(context, series, pool, line) {
  const [what = "", name = ""] = line;
  const words = pool?.namespaces.map((one) => `${one.tenant}/${one.namespace} ${placementsText(one.placements)}`) ?? [];
  showActions({
    commands: [command("audit", "why", "--namespace", ...(pool?.namespaces[0] ? namespaceOf(pool.namespaces[0]) : []))],
    name: `${what}-${name}`.replace(/[^A-Za-z0-9.-]+/g, "-").slice(0, 100),
    json: {series, pool},
    markdown: () =>
      `**${plainMarkdown(`${what} ${name}`)}** from ${series.from} to ${series.to}: ` +
      `${plainMarkdown(words.slice(0, 10).join("; ") || "no namespace")}. ${linkAndDigest(context.log.chain)}`,
    csv: () => [
      ["resource", "line", "time", "seq", "value"],
      ...series.resources.flatMap((one) =>
        Object.entries(one.lines).flatMap(([of, steps]) =>
          steps.map(([time, seq, value]) => [one.resource, of, time, seq, value]),
        ),
      ),
    ],
  });
}

/** @param {Pool["namespaces"][number]} one */
const namespaceOf = (one) => [`${one.tenant}/${one.namespace}`];

/** @param {ViewContext} context @param {Overview} overview @param {"superCluster" | "tenant"} kind
 *  @param {string} title @param {(pool: Pool) => import("./dom").Child[]} standing */
async function objectView(context, overview, kind, title, standing) {
  const {root, address, signal, progress} = context;
  const name = address[kind] ?? "";
  const series = /** @type {PoolSeries} */ (
    await askFolded("ui/api/series", {[kind]: name, from: overview.from, to: overview.to}, signal, progress)
  );
  /** @type {Pool | null} */
  let pool = null;
  try {
    pool = /** @type {Pool} */ (await ask("ui/api/pool", {[kind]: name}, signal));
  } catch (error) {
    if (signal.aborted) throw error; // else it is no more at the log's end
  }
  showObject(context, series, pool, [title, name]);
  const drawn = resourceCharts(context, overview, series, name);
  root.replaceChildren(
    el("h2", {}, `${title} ${name}`),
    el("p", {}, el("a", {href: hashOf(withLog({view: "pool"}))}, "Pool")),
    el("p", {class: "lead"}, ...(pool ? standing(pool) : ["It is no more at the log's end."])),
    el("p", {class: "legend"}, "drag, wheel or two fingers zoom ", ...zoomButtons(context, overview)),
    ...drawn.flatMap((one) => one.parts),
    ...(pool ? [el("h3", {}, "Namespaces"), namespaceTable(pool)] : []),
  );
  for (const one of drawn) one.chart.draw();
}

/** @param {ViewContext} context @param {Overview} overview */
export async function superClusterView(context, overview) {
  await objectView(context, overview, "superCluster", "Super cluster", (pool) => {
    const one = pool.superClusters.find((row) => row.id === context.address.superCluster);
    if (!one) return ["It is no more at the log's end."];
    return [
      ...stateWords([one.state, ...(one.overflowing ? ["overflowing"] : [])]),
      ` ${amountsText(one.held) || "Nothing"} held of ${amountsText(one.accepted) || "what is not known yet"}. `,
      one.cluster
        ? el("a", {href: hashOf(withLog({view: "cluster", cluster: one.cluster}))}, `Member ${one.cluster}`)
        : "",
    ];
  });
}

/** @param {ViewContext} context @param {Overview} overview */
export async function tenantView(context, overview) {
  await objectView(context, overview, "tenant", "Tenant", (pool) => {
    const one = pool.tenants.find((row) => row.tenant === context.address.tenant);
    if (!one) return ["It is no more at the log's end."];
    return [
      ...stateWords([one.state]),
      ` Its slices sum to ${amountsText(one.slices)}, its limit is ${amountsText(one.limit) || "none"}; `,
      `${one.namespaces} namespaces, ${one.pods} pods, of which ${one.waiting} wait.`,
    ];
  });
}
