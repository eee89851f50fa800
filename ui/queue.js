// A queue: a chart for each (flavor, resource), one cursor through all of them, and why the quota is what it is there.

import {hashOf, noteInAddress} from "./address.js";
import {changesTable} from "./changes.js";
import {stepAt, stepChart, tableBehind} from "./charts.js";
import {cohortLink} from "./cohort.js";
import {command, showActions} from "./commands.js";
import {el} from "./dom.js";
import {choices, chosenPair, completed, gapsOf, marksOf, noQueue} from "./pairs.js";
import {savedMoments} from "./saved.js";
import {atRest, exactTime, scrubber} from "./scrubber.js";
import {ask, askFolded} from "./server.js";
import {wholeButton, zooming} from "./span.js";
import {msOf, show, textOf} from "./times.js";
import {paragraph, whySentences} from "./why.js";

/** @typedef {import("./main").ViewContext} ViewContext */
/** @typedef {import("./answers").Series} Series */
/** @typedef {Series["pairs"][number]} Pair */
/** @typedef {import("./answers").History} History */

/**
 * The lines of a chart, the lowest first. What they mean is in `meaning`.
 * @type {[string, Partial<import("./charts").Line>][]}
 */
const looks = [
  ["used", {style: "used", filled: true, width: 1}],
  ["offered", {style: "offered", width: 1, dash: [2, 3]}],
  ["usable", {style: "usable", width: 1, dash: [4, 3]}],
  ["accepted", {style: "accepted", filled: true, width: 1.5}],
  ["assigned", {style: "assigned", width: 1.5, dash: [10, 4]}],
  ["granted", {style: "granted", width: 1.5, dash: [6, 2]}],
  ["desired", {style: "desired", width: 2, dash: [3, 3]}],
  ["nominal", {style: "nominal", width: 2.5}],
];
/** @type {Record<string, string>} */
const meaning = {
  used: "what workloads use",
  offered: "what eligible nodes offer",
  usable: "that less headroom",
  accepted: "usable after damping",
  assigned: "what claims assign: the ceiling",
  granted: "what claims are granted",
  desired: "what the quota should be",
  nominal: "nominalQuota on the hub",
};

/** @param {Pair} pair @param {Set<string>} hidden @returns {import("./charts").Line[]} */
function linesOf(pair, hidden) {
  return looks
    .filter(([name]) => !hidden.has(name) && (pair.lines[name] ?? []).length > 0)
    .map(([name, look]) => ({name, steps: pair.lines[name] ?? [], style: name, ...look}));
}

/** @param {Pair} pair @param {number} ms @param {Set<string>} hidden @param {() => void} redraw */
function legend(pair, ms, hidden, redraw) {
  return el(
    "table",
    {class: "legend-table"},
    el("caption", {}, `At ${show(ms)}`),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        ["Show", "Line", "Value", "Since"].map((text) => el("th", {scope: "col"}, text)),
      ),
    ),
    el(
      "tbody",
      {},
      [...looks]
        .reverse()
        .filter(([name]) => (pair.lines[name] ?? []).length > 0)
        .map(([name]) => {
          const step = stepAt(pair.lines[name] ?? [], ms);
          return el(
            "tr",
            {"data-line": name},
            el(
              "td",
              {},
              el("input", {
                type: "checkbox",
                checked: !hidden.has(name),
                "aria-label": `Show ${name}`,
                change: () => {
                  if (!hidden.delete(name)) hidden.add(name);
                  redraw();
                },
              }),
            ),
            el(
              "th",
              {scope: "row"},
              el("span", {class: `sample line-${name}`, "aria-hidden": "true"}),
              name,
              el("small", {}, ` ${meaning[name]}`),
            ),
            el("td", {class: "value"}, step?.[2] ?? "none"),
            el("td", {}, step ? `${show(step[0])}, seq ${step[1]}` : ""),
          );
        }),
    ),
  );
}

/**
 * Asks why, once the cursor has come to rest.
 * @param {ViewContext} context @param {HTMLElement} panel @param {Series} series
 */
function whyPanel(context, panel, series) {
  const {address, signal} = context;
  return atRest(signal, panel, async (time, either) => {
    const {queue = "", flavor = "", resource = ""} = address;
    const asked = {queue, flavor, resource, "as-of": time};
    const commands = [command("audit", "why", queue, flavor, resource, "--as-of", time)];
    showActions({commands});
    const why = await ask("audit/why", asked, either);
    const whyNot = await ask("audit/why-not", asked, either);
    panel.replaceChildren(
      el("h3", {}, `Why, at ${show(why.asOf.time)} (seq ${why.asOf.seq})`),
      ...whySentences(why, whyNot).filter((child) => child instanceof Node),
    );
    showActions({
      commands,
      name: `${queue}-${flavor}-${resource}`.replace(/[^A-Za-z0-9.-]+/g, "-").slice(0, 100),
      json: {why, whyNot, series},
      csv: () => [
        ["flavor", "resource", "line", "time", "seq", "value", "writer"],
        ...series.pairs.flatMap((pair) =>
          Object.entries(pair.lines).flatMap(([line, steps]) =>
            steps.map(([at, seq, value, writer]) => [pair.flavor, pair.resource, line, at, seq, value, writer]),
          ),
        ),
      ],
      markdown: () => paragraph(why, whyNot, `${queue} ${flavor} ${resource}`, context.log.chain),
    });
    panel.dataset.seq = String(why.asOf.seq);
    panel.dataset.time = why.asOf.time;
  });
}

/**
 * The charts of a queue: the chosen pair large, below it the others on the same axis.
 * @param {ViewContext} context @param {Series} series @param {import("./answers").History} history
 * @param {(ms: number) => void} pick @param {Set<string>} hidden
 */
function chartsOf(context, series, history, pick, hidden) {
  const {address} = context;
  const from = msOf(series.from),
    to = Math.max(msOf(series.to), msOf(series.from) + 1);
  const isChosen = (/** @type {Pair} */ pair) => pair.flavor === address.flavor && pair.resource === address.resource;
  const pairs = [...series.pairs.filter(isChosen), ...series.pairs.filter((pair) => !isChosen(pair))];
  return pairs.map((pair) => {
    const lines = linesOf(pair, hidden);
    const chart = stepChart({
      title: `${address.queue} ${pair.flavor} ${pair.resource}: quota, capacity and use`,
      resource: pair.resource,
      lines,
      from,
      to,
      marks: marksOf(history, pair),
      gaps: gapsOf(history, from, to),
      pick,
      ...(isChosen(pair) ? {} : {height: 100}),
      ...zooming(context),
    });
    return {pair, chart, table: tableBehind(`${address.queue} ${pair.flavor} ${pair.resource}`, lines)};
  });
}

/** @param {ViewContext} context */
export async function queueView(context) {
  const {root, address, signal, progress, rerun} = context;
  const overview = await completed(context);
  const queues = overview.queues.map((one) => one.queue);
  if (!address.queue) {
    root.replaceChildren(el("p", {}, noQueue));
    return;
  }
  const series = /** @type {Series} */ (
    await askFolded("ui/api/series", {queue: address.queue, from: overview.from, to: overview.to}, signal, progress)
  );
  const history = await ask("audit/history", {queue: address.queue, from: series.from, to: series.to}, signal);
  const from = msOf(series.from),
    to = msOf(series.to);
  const hidden = new Set((address.hide ?? "").split(",").filter(Boolean));
  const pair = chosenPair(context, series);
  const steps = [
    ...new Set([
      series.from,
      ...Object.values(pair.lines)
        .flat()
        .map((step) => step[0]),
      ...(address.at ? [address.at] : []),
      ...history.rows.map((/** @type {import("./answers").Change} */ row) => row.time),
      ...history.settings.map((/** @type {import("./answers").SettingChange} */ row) => row.time),
    ]),
  ];
  const times = (savedMoments(`${address.queue} ${address.flavor} ${address.resource}`) ?? steps)
    .filter((time) => msOf(time) >= from && msOf(time) <= to)
    .sort((a, b) => msOf(a) - msOf(b));
  const panel = el("section", {class: "why", id: "why", "aria-label": "Why", "aria-live": "polite"});
  panel.append(...(document.getElementById("why")?.childNodes ?? [])); // shown until the new answer is there
  const why = whyPanel(context, panel, series);
  const values = el("div", {
    id: "values",
    class: "scroll",
    tabindex: 0,
    role: "region",
    "aria-label": "Values at the cursor",
  });
  const redraw = () => {
    noteInAddress({hide: [...hidden].join(",")});
    rerun();
  };
  const drawn = chartsOf(
    context,
    series,
    history,
    (ms) => {
      slide.set(ms);
      moveTo(ms);
    },
    hidden,
  );
  const moveTo = (/** @type {number} */ ms) => {
    const time = exactTime(times, Math.min(to, Math.max(from, ms)));
    for (const one of drawn) one.chart.setCursor(msOf(time));
    values.replaceChildren(legend(pair, msOf(time) + 0.0001, hidden, redraw));
    noteInAddress({at: time});
    void why(time);
  };
  const slide = scrubber(from, to, times.map(msOf), moveTo);
  root.replaceChildren(
    el("h2", {}, address.queue),
    ...cohortPart(overview, address.queue),
    choices(context, series, queues),
    ...chartPart(drawn.slice(0, 1)),
    slide.slider,
    el(
      "p",
      {class: "legend"},
      "▲ our writes · ✕ foreign writes · hatched: a source was silent · drag to zoom, ",
      "double click to go back ",
      wholeButton(context),
      " ",
      el("button", {type: "button", click: () => zoomAround(context, from, to)}, "Zoom in"),
      " ",
      el("a", {href: hashOf({...address, view: "whatif", at: ""})}, "What if the windows were others?"),
    ),
    values,
    ...drawn.slice(0, 1).map((one) => one.table),
    panel,
    el(
      "section",
      {"aria-labelledby": "changes"},
      el("h3", {id: "changes"}, "Changes"),
      changesTable("Changes of its limits, cohort and rules", history.settings),
    ),
    ...chartPart(drawn.slice(1)),
  );
  for (const one of drawn) one.chart.draw();
  drawn[0]?.chart.align(slide.slider);
  const begin = address.at ? msOf(address.at) : to;
  slide.set(begin);
  moveTo(begin);
}

/** @param {import("./answers").Overview} overview @param {string} queue */
function cohortPart(overview, queue) {
  const of = overview.cohorts.find((one) => one.queues.includes(queue));
  return of ? [el("p", {class: "lead"}, "In Cohort ", cohortLink(of.cohort), ".")] : [];
}

/** @param {ReturnType<typeof chartsOf>} drawn */
function chartPart(drawn) {
  return drawn.flatMap((one) => [el("h3", {}, `${one.pair.flavor} ${one.pair.resource}`), one.chart.element]);
}

/**
 * Shows a quarter of the span around the cursor.
 * @param {ViewContext} context @param {number} from @param {number} to
 */
function zoomAround(context, from, to) {
  const at = Number(document.getElementById("scrubber")?.getAttribute("aria-valuenow") ?? to);
  const quarter = (to - from) / 8;
  noteInAddress({from: textOf(Math.max(from, at - quarter)), to: textOf(Math.min(to, at + quarter))});
  context.rerun();
}
