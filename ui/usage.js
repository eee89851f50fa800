// Who used what: bands of what was granted, used, idle and borrowed over time, and a table of the rows that sorts.

import {goWith, noteInAddress} from "./address.js";
import {command, linkAndDigest, plainMarkdown, showActions} from "./commands.js";
import {el, svg} from "./dom.js";
import {longTable} from "./rows.js";
import {ask} from "./server.js";
import {overviewOf, zoomButtons} from "./span.js";
import {axisTime, msOf, show} from "./times.js";

/** @typedef {import("./main").ViewContext} ViewContext */
/** @typedef {import("./answers").UsageReport} UsageReport */
/** @typedef {UsageReport["rows"][number]} Row */

const views = ["queue", "cohort", "flavor", "resource", "cluster", "namespace", "owner"];
/** @type {[string, string][]} */
const periods = [
  ["1h", "hours"],
  ["1d", "days"],
  ["month", "months"],
];
const periodsMax = 744; // the hours of a month: more are no bars
/** @type {("granted" | "used" | "own" | "borrowed" | "idle" | "reserved" | "unknown" | "capacity" | "above" | "down" | "planned")[]} */
const columns = [
  "granted",
  "used",
  "own",
  "borrowed",
  "idle",
  "reserved",
  "unknown",
  "capacity",
  "above",
  "down",
  "planned",
];
/** The parts of a bar from below. @type {("own" | "idle" | "borrowed")[]} */
const bands = ["own", "idle", "borrowed"];
/** @type {Record<string, string>} */
const meaning = {own: "used of its own quota", idle: "granted and not used", borrowed: "used beyond its own quota"};

/** @param {Row} row */
const seriesOf = (row) => [row.side, row.cluster, row.key, row.flavor, row.resource].join(" ");
/** @param {Row} row */
const nameOf = (row) =>
  [row.key, row.flavor, row.resource, row.side === "hub" ? "" : `on ${row.cluster}`].filter(Boolean).join(" ");
/** @param {string | null} text */
const hours = (text) => Number(text ?? 0);

/** The bars of one series: a bar a period. @param {Row[]} rows ascending @param {string} title */
function bandChart(rows, title) {
  const first = rows[0],
    last = rows.at(-1);
  if (!first || !last) return el("p", {}, "Nothing of it is in this span.");
  const from = msOf(first.from),
    to = Math.max(msOf(last.to), from + 1);
  // By namespace and owner only use is known: the bar is that.
  const partsOf = (/** @type {Row} */ row) =>
    row.granted === null
      ? [{band: "own", value: hours(row.used)}]
      : bands.map((band) => ({band, value: hours(row[band])}));
  const perHour = (/** @type {Row} */ row, /** @type {number} */ value) =>
    value / Math.max(1 / 3600, (msOf(row.to) - msOf(row.from)) / 3600e3);
  const most = Math.max(
    0,
    ...rows.map((row) =>
      perHour(
        row,
        partsOf(row).reduce((sum, {value}) => sum + value, 0),
      ),
    ),
  );
  const width = 1000,
    height = 160;
  const xOf = (/** @type {string} */ time) => ((msOf(time) - from) / (to - from)) * width;
  const bars = rows.flatMap((row) => {
    let top = height;
    return partsOf(row).map(({band, value}) => {
      const size = most > 0 ? (perHour(row, value) / most) * height : 0;
      top -= size;
      return svg(
        "rect",
        {
          class: `band band-${band}`,
          x: xOf(row.from),
          y: top,
          width: Math.max(1, xOf(row.to) - xOf(row.from)),
          height: size,
        },
        svg("title", {}, `${meaning[band]}: ${value} resource-hours from ${show(row.from)} to ${show(row.to)}`),
      );
    });
  });
  const ticks = [0, 0.25, 0.5, 0.75].map((part) =>
    el("span", {class: "tick"}, axisTime(from + part * (to - from), to - from)),
  );
  ticks.forEach((tick, index) => (tick.style.left = `${index * 25}%`));
  return el(
    "div",
    {class: "chart bands"},
    el("small", {class: "most"}, `${Number(most.toPrecision(4))} at once, on average of a period`),
    svg(
      "svg",
      {viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": title},
      ...bars,
    ),
    el("div", {class: "track track-axis"}, ...ticks),
  );
}

/** @param {string} id @param {string} label @param {[value: string, text: string][]} options @param {string} chosen
 *  @param {(value: string) => void} change */
function choice(id, label, options, chosen, change) {
  return el(
    "label",
    {},
    `${label} `,
    el(
      "select",
      {id, change: (event) => change(/** @type {HTMLSelectElement} */ (event.target).value)},
      options.map(([value, text]) => el("option", {value, selected: value === chosen}, text)),
    ),
  );
}

/** The columns of the table; those that are in no row are left out. @param {Row[]} rows
 *  @param {(row: Row) => void} pick @returns {import("./rows").Column<Row>[]} */
function tableColumns(rows, pick) {
  /** @type {("side" | "cluster" | "flavor" | "resource")[]} */
  const words = ["side", "cluster", "flavor", "resource"];
  return [
    {
      title: "key",
      cell: (row) => el("button", {type: "button", class: "chip", click: () => pick(row)}, row.key || "none"),
      key: (row) => row.key,
    },
    ...words.map((name) => ({
      title: name,
      cell: (/** @type {Row} */ row) => row[name],
      key: (/** @type {Row} */ row) => row[name],
    })),
    ...columns
      .filter((name) => rows.some((row) => row[name] !== null))
      .map((name) => ({
        title: name,
        cell: (/** @type {Row} */ row) => row[name] ?? "",
        key: (/** @type {Row} */ row) => hours(row[name]),
      })),
  ];
}

/** @param {UsageReport} report @param {string} chain */
function paragraph(report, chain) {
  const lines = report.rows
    .slice(0, 20)
    .map(
      (row) =>
        `- ${plainMarkdown(nameOf(row))}: granted ${row.granted ?? "-"}, used ${row.used}, idle ${row.idle ?? "-"}`,
    );
  return `**Use from ${report.from} to ${report.to}**, in resource-hours, by ${report.by}:\n\n${lines.join("\n")}\n\n${linkAndDigest(chain)}`;
}

/** @param {ViewContext} context */
export async function usageView(context) {
  const {root, address, signal, progress, log} = context;
  const overview = await overviewOf(address, 400, signal, progress);
  const by = address.by || "queue";
  const span = msOf(overview.to) - msOf(overview.from);
  const sizes = /** @type {Record<string, number>} */ ({"1h": 3600e3, "1d": 86400e3, month: 28 * 86400e3});
  const every = address.every || (span <= periodsMax * 3600e3 ? "1h" : "1d");
  const asked = {by, from: address.from || "", to: address.to || ""};
  const report = /** @type {UsageReport} */ (await ask("ui/api/usage", asked, signal));
  const fine = span / (sizes[every] ?? 1) <= periodsMax;
  const cut = fine ? /** @type {UsageReport} */ (await ask("ui/api/usage", {...asked, every}, signal)) : undefined;
  const chosen = report.rows.find((row) => seriesOf(row) === address.series) ?? busiest(report.rows);
  const place = el("div", {});
  const draw = (/** @type {Row | undefined} */ row) => {
    if (!row) return place.replaceChildren(el("p", {}, "No queue was granted or used anything in this span."));
    const rows = (cut?.rows ?? []).filter((one) => seriesOf(one) === seriesOf(row));
    const title = `${nameOf(row)}: used, idle and borrowed over time`;
    place.replaceChildren(
      el("h3", {}, nameOf(row)),
      fine
        ? bandChart(rows, title)
        : el("p", {}, "So many periods are no bars: choose longer ones, or a shorter span."),
      el(
        "p",
        {class: "legend"},
        ...bands.flatMap((band) => [
          el("span", {class: `band-sample band-${band}`, "aria-hidden": "true"}),
          ` ${band}: ${meaning[band]} · `,
        ]),
      ),
    );
  };
  const words = [
    "usage",
    "--by",
    by,
    ...Object.entries({from: asked.from, to: asked.to}).flatMap(([name, value]) => (value ? [`--${name}`, value] : [])),
  ];
  showActions({
    commands: [command(...words), command(...words, "--every", every, "-o", "csv")],
    name: `usage-by-${by}`,
    json: report,
    markdown: () => paragraph(report, log.chain),
    csv: () => csvRows(cut ?? report),
  });
  root.replaceChildren(
    el("h2", {}, "Who used what"),
    el("p", {class: "lead"}, `${show(report.from)} to ${show(report.to)}, in resource-hours.`),
    el(
      "p",
      {class: "choices"},
      choice(
        "usage-by",
        "By",
        views.map((one) => [one, one]),
        by,
        (value) => goWith({by: value, series: "", sort: ""}),
      ),
      " ",
      choice("usage-every", "Bars of", periods, every, (value) => goWith({every: value})),
      " ",
      ...zoomButtons(context, overview),
    ),
    place,
    longTable({
      caption: `Use by ${by}; a key draws its bars`,
      rows: report.rows,
      sort: address.sort ?? "",
      sorted: (sort) => noteInAddress({sort}),
      columns: tableColumns(report.rows, (row) => {
        noteInAddress({series: seriesOf(row)});
        draw(row);
      }),
    }),
    el(
      "p",
      {class: "note"},
      `Events ${report.firstSeq} to ${report.lastSeq}; chain there ${report.digest.slice(0, 16)}.`,
    ),
  );
  draw(chosen);
}

/** The row of which most was granted, or used. @param {Row[]} rows */
function busiest(rows) {
  const of = (/** @type {Row} */ row) => hours(row.granted ?? row.used);
  return rows.reduce(
    (/** @type {Row | undefined} */ best, row) => (best && of(best) >= of(row) ? best : row),
    undefined,
  );
}

/** @param {UsageReport} report @returns {unknown[][]} */
function csvRows(report) {
  const names = /** @type {(keyof Row)[]} */ ([
    "from",
    "to",
    "side",
    "cluster",
    "key",
    "uid",
    "flavor",
    "resource",
    ...columns,
  ]);
  return [
    [...names, "firstSeq", "lastSeq", "digest"],
    ...report.rows.map((row) => [...names.map((name) => row[name]), report.firstSeq, report.lastSeq, report.digest]),
  ];
}
