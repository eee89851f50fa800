// A queue: a chart for each (flavor, resource), one cursor through all of them, and why the quota is what it is there.

import {hashOf, noteInAddress, withLog} from "./address.js";
import {amount, deltaText} from "./amounts.js";
import {changesTable} from "./changes.js";
import {stepAt, stepChart, tableBehind} from "./charts.js";
import {cohortLink} from "./cohort.js";
import {command, showActions} from "./commands.js";
import {el} from "./dom.js";
import {bandsOf, choices, chosenPair, completed, gapsOf, marksOf, noQueue, writersLegend} from "./pairs.js";
import {whyPanelBox} from "./panel.js";
import {savedMoments} from "./saved.js";
import {atRest, momentsOf, scrubber} from "./scrubber.js";
import {ask, askFolded} from "./server.js";
import {zoomButtons, zooming} from "./span.js";
import {compareTimes, msOf, show, spanText} from "./times.js";
import {fillWaiting} from "./waiting.js";
import {bothAxes, whenButton, whenPart, whenStrip} from "./when.js";
import {paragraph, spoken, whySentences} from "./why.js";

/** @typedef {import("./main").ViewContext} ViewContext */
/** @typedef {import("./page_answers").Series} Series */
/** @typedef {Series["pairs"][number]} Pair */
/** @typedef {import("./answers").QuotaHistory} History */

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

/**
 * What the cursors are at. Of a pair of which steps were left out, quota and wish between two steps are those of the why
 * panel's answer alone.
 * @typedef {object} Cursors
 * @property {string} at the cursor @property {string} mark the second one, or ""
 * @property {Why | undefined} why the answer about `at`, once it is there
 */
/** @typedef {import("./answers").QuotaWhy} Why */

/** @param {Pair} pair */
const isPartial = (pair) => pair.reduced || Boolean(pair.leftOut);

/** The value of a line at the cursor. @param {Pair} pair @param {string} name @param {Cursors} cursors */
function valueAt(pair, name, {at, why}) {
  const step = stepAt(pair.lines[name] ?? [], at);
  if (!isPartial(pair) || (name !== "nominal" && name !== "desired")) return {text: step?.[2] ?? null, step};
  return {text: why ? why.value[name] : undefined, step: undefined};
}

/** The lines at the cursor, and what they differ by from the second one. @param {Pair} pair @param {Cursors} cursors
 *  @param {Set<string>} hidden @param {() => void} redraw */
function valuesTable(pair, cursors, hidden, redraw) {
  const {at, mark} = cursors;
  const rows = [...looks].reverse().filter(([name]) => (pair.lines[name] ?? []).length > 0);
  const earlier = mark && compareTimes(mark, at) < 0;
  return el(
    "table",
    {class: "legend-table"},
    el(
      "caption",
      {},
      `At ${show(at)}`,
      ...(mark
        ? [
            `; the mark is at ${show(mark)}, ${spanText(Math.abs(msOf(at) - msOf(mark)))} ${earlier ? "before" : "after"}. `,
            el("a", {href: diffLink(mark, at)}, "What differs between the two"),
          ]
        : []),
      isPartial(pair) ? ". Steps are left out at this scale: zoom in to see all." : "",
    ),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        ["Show", "Line", "Value", ...(mark ? ["At the mark", "Change"] : []), "Since"].map((text) =>
          el("th", {scope: "col"}, text),
        ),
      ),
    ),
    el(
      "tbody",
      {},
      rows.map(([name]) => {
        const {text, step} = valueAt(pair, name, cursors);
        const marked = mark ? (stepAt(pair.lines[name] ?? [], mark)?.[2] ?? null) : null;
        const [from, to] = earlier ? [marked, text] : [text, marked];
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
          el("td", {class: "value"}, text === undefined ? "…" : amount(text, pair.resource)),
          ...(mark
            ? [
                el("td", {}, amount(marked, pair.resource)),
                el("td", {class: "change"}, deltaText(from, to, pair.resource)),
              ]
            : []),
          el("td", {}, step ? `${show(step[0])}, seq ${step[1]}` : ""),
        );
      }),
    ),
  );
}

/** The link to `audit diff` between two moments. @param {string} one @param {string} other */
function diffLink(one, other) {
  const [a, b] = [one, other].sort(compareTimes);
  return hashOf(withLog({view: "diff", a: a ?? "", b: b ?? ""}));
}

/**
 * Asks why, once the cursor has come to rest.
 * @param {ViewContext} context @param {ReturnType<typeof whyPanelBox>} box @param {Series} series
 * @param {(why: Why) => void} known
 */
function whyPanel(context, {panel, fill}, series, known) {
  const {address, signal} = context;
  return atRest(signal, panel, async (time, either) => {
    const {queue = "", flavor = "", resource = ""} = address;
    const asked = {queue, flavor, resource, "as-of": time};
    const commands = [command("audit", "why", queue, flavor, resource, "--as-of", time)];
    showActions({commands});
    const why = /** @type {Why} */ (await ask("audit/why", asked, either));
    const whyNot = await ask("audit/why-not", asked, either);
    const [lead, written, ...rest] = whySentences(why, whyNot, resource);
    fill(
      [
        el("h3", {}, `Why, at ${show(why.asOf.time)} (seq ${why.asOf.seq})`),
        ...[lead, written].flatMap((part) => part ?? []),
        ...(bothAxes() ? whenPart(why) : []),
        ...rest,
      ],
      spoken(why, resource),
    );
    known(why);
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
 * @param {ViewContext} context @param {import("./page_answers").Overview} overview @param {Series} series
 * @param {import("./answers").QuotaHistory} history @param {(ms: number) => void} pick @param {Set<string>} hidden
 */
function chartsOf(context, overview, series, history, pick, hidden) {
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
      bands: bandsOf(history, pair, from),
      pick,
      ...(isChosen(pair) ? {} : {height: 100}),
      ...zooming(context, overview),
    });
    return {pair, chart, table: tableBehind(`${address.queue} ${pair.flavor} ${pair.resource}`, lines, pair.resource)};
  });
}

/** The moments at which the cursor stops: all steps of the pair and all changes of the queue.
 *  @param {ViewContext} context @param {Series} series @param {Pair} pair @param {History} history */
function stopsOf({address}, series, pair, history) {
  const steps = Object.values(pair.lines).flatMap((line) => line.map((step) => step[0]));
  const changes = [...history.rows, ...history.settings].map((row) => row.time);
  const kept = savedMoments(`${address.queue} ${pair.flavor} ${pair.resource}`);
  return momentsOf(
    kept ?? [series.from, ...steps, ...changes, ...[address.at, address.mark].flatMap((time) => (time ? [time] : []))],
    series.from,
    series.to,
  );
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
  const history = /** @type {History} */ (
    await ask("audit/history", {queue: address.queue, from: series.from, to: series.to}, signal)
  );
  const pair = chosenPair(context, series);
  const from = msOf(series.from),
    to = Math.max(msOf(series.to), from + 1);
  const axes = bothAxes() ? await whenStrip(history, pair, from, to, signal) : null;
  const hidden = new Set((address.hide ?? "").split(",").filter(Boolean));
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
  /** @type {Cursors} */
  const cursors = {at: series.to, mark: address.mark ?? "", why: undefined};
  const box = whyPanelBox();
  const why = whyPanel(context, box, series, (answer) => {
    cursors.why = answer;
    if (isPartial(pair)) showValues();
  });
  const showValues = () => values.replaceChildren(valuesTable(pair, cursors, hidden, redraw));
  const setMark = el(
    "button",
    {
      type: "button",
      id: "set-mark",
      "aria-keyshortcuts": "m",
      click: () => {
        cursors.mark = cursors.mark === cursors.at ? "" : cursors.at;
        showCursors();
      },
    },
    "Mark here",
  );
  const showCursors = () => {
    const {at, mark} = cursors;
    const text = mark ? betweenText(pair, mark, at) : "";
    for (const one of drawn) {
      one.chart.setCursor(msOf(at));
      one.chart.setSecond(mark ? msOf(mark) : undefined, one.pair === pair ? text : "");
    }
    setMark.textContent = mark === at ? "Remove the mark" : "Mark here";
    showValues();
    noteInAddress({at, mark});
  };
  const moveTo = (/** @type {string} */ time) => {
    cursors.at = time;
    cursors.why = undefined;
    showCursors();
    void why(time);
  };
  const slide = scrubber(series.from, series.to, stopsOf(context, series, pair, history), moveTo);
  const drawn = chartsOf(context, overview, series, history, slide.moveToMs, hidden);
  const waiting = el("div", {}, "…");
  root.replaceChildren(
    el("h2", {}, address.queue),
    ...cohortPart(overview, address.queue),
    choices(context, series, queues),
    ...box.parts,
    ...chartPart(drawn.slice(0, 1)),
    slide.slider,
    ...(axes ? [axes.strip] : []),
    el(
      "p",
      {class: "legend"},
      box.size,
      " ",
      setMark,
      " ",
      whenButton(rerun),
      " ",
      ...zoomButtons(context, overview),
      " ",
      el("a", {href: hashOf({...address, view: "whatif", at: "", mark: ""})}, "What if the windows were others?"),
      el("br"),
      ...writersLegend(history),
      "hatched: a source was silent · drag, wheel or two fingers zoom, a double ",
      "click goes back",
    ),
    ...(axes?.behind ?? []),
    values,
    ...drawn.slice(0, 1).map((one) => one.table),
    el("section", {"aria-labelledby": "waiting"}, el("h3", {id: "waiting"}, "Who waits"), waiting),
    el(
      "section",
      {"aria-labelledby": "changes"},
      el("h3", {id: "changes"}, "Changes"),
      changesTable("Changes of its limits, cohort and rules", history.settings),
    ),
    ...drawn.slice(1).flatMap((one) => [...chartPart([one]), one.table]),
  );
  for (const one of drawn) one.chart.draw();
  drawn[0]?.chart.align(slide.slider);
  if (axes) drawn[0]?.chart.align(axes.strip);
  slide.move(address.at || series.to);
  await fillWaiting(context, overview, address.queue, waiting);
}

/** What the quota did from one moment to another. @param {Pair} pair @param {string} one @param {string} other */
function betweenText(pair, one, other) {
  const [from = one, to = other] = [one, other].sort(compareTimes);
  const value = (/** @type {string} */ time) => stepAt(pair.lines.nominal ?? [], time)?.[2];
  const change = isPartial(pair) ? "" : deltaText(value(from), value(to), pair.resource);
  return `${change ? `quota ${change} in ` : ""}${spanText(msOf(to) - msOf(from))}`;
}

/** @param {import("./page_answers").Overview} overview @param {string} queue */
function cohortPart(overview, queue) {
  const of = overview.cohorts.find((one) => one.queues.includes(queue));
  return of ? [el("p", {class: "lead"}, "In Cohort ", cohortLink(of.cohort), ".")] : [];
}

/** @param {ReturnType<typeof chartsOf>} drawn */
function chartPart(drawn) {
  return drawn.flatMap((one) => [el("h3", {}, `${one.pair.flavor} ${one.pair.resource}`), one.chart.element]);
}
