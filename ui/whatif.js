// What if: history under other debounce windows, beside what happened. The answer is that of `fairlead whatif`.

import {noteInAddress, readAddress} from "./address.js";
import {amount, amountOf, deltaText} from "./amounts.js";
import {stepChart, tableBehind} from "./charts.js";
import {command, linkAndDigest, plainMarkdown, showActions} from "./commands.js";
import {el, table} from "./dom.js";
import {chip} from "./facts.js";
import {choices, chosenPair, completed, gapsOf, marksOf, noQueue} from "./pairs.js";
import {Refusal, ask, askFolded} from "./server.js";
import {zoomButtons, zooming} from "./span.js";
import {durationMs, msOf, show} from "./times.js";
import {unseenPart} from "./why.js";

/** @typedef {import("./main").ViewContext} ViewContext */
/** @typedef {import("./page_answers").PageWhatIf} PageWhatIf */
/** @typedef {import("./page_answers").Series} Series */
/** @typedef {import("./page_answers").Setting} Setting */
/** @typedef {import("./answers").Totals} Totals */
/** @typedef {NonNullable<PageWhatIf["whatIf"]>} WhatIf */

const durations = [
  "0s",
  "1s",
  "2s",
  "5s",
  "10s",
  "15s",
  "30s",
  "1m0s",
  "2m0s",
  "5m0s",
  "10m0s",
  "15m0s",
  "30m0s",
  "1h0m0s",
  "2h0m0s",
  "6h0m0s",
  "12h0m0s",
  "24h0m0s",
];
const shownFirst = ["shrinkWindow", "growWindow", "firstQuiet", "minGrowInterval", "massShrinkHold"];

/** The values that a slider has, ascending, those in force and in the address among them. @param {Setting} setting
 *  @param {string} chosen */
export function valuesOf(setting, chosen) {
  const counts = setting.most === 100 ? Array(101).keys() : [...Array(101).keys()].map((step) => step * 100);
  const values = setting.most === null ? durations : [...counts].map(String);
  const order = (/** @type {string} */ text) => (setting.most === null ? durationMs(text) : Number(text));
  return [...new Set([...values, setting.value, chosen])]
    .filter((value) => setting.zero || order(value) > 0)
    .sort((a, b) => order(a) - order(b));
}

/** The settings in the address, by name: "growWindow=30s,shrinkWindow=5s". @param {string} [text] */
function settingsIn(text) {
  const pairs = (text ?? "").split(",").filter(Boolean);
  return new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
}

/** @param {Setting} setting @param {Map<string, string>} chosen @param {() => void} changed */
function slider(setting, chosen, changed) {
  const values = valuesOf(setting, chosen.get(setting.name) ?? setting.value);
  const output = el("output", {for: `set-${setting.name}`});
  const field = el("input", {type: "range", id: `set-${setting.name}`, min: 0, max: values.length - 1, step: 1});
  const say = () => {
    const value = values[Number(field.value)] ?? setting.value;
    output.textContent = value === setting.value ? `${value} (as it is)` : `${value} instead of ${setting.value}`;
    field.setAttribute("aria-valuetext", output.textContent);
    return value;
  };
  const set = (/** @type {string} */ value) => {
    field.value = String(values.indexOf(value));
    say();
  };
  set(chosen.get(setting.name) ?? setting.value);
  field.addEventListener("input", say);
  field.addEventListener("change", () => {
    const value = say();
    if (value === setting.value) chosen.delete(setting.name);
    else chosen.set(setting.name, value);
    changed();
  });
  const row = el("div", {class: "setting"}, el("label", {for: `set-${setting.name}`}, setting.name), field, output);
  return {row, reset: () => set(setting.value)};
}

/** @param {Setting[]} settings @param {Map<string, string>} chosen @param {() => void} changed */
function form(settings, chosen, changed) {
  const sliders = settings.map((setting) => ({name: setting.name, ...slider(setting, chosen, changed)}));
  const first = sliders.filter((one) => shownFirst.includes(one.name));
  const rest = sliders.filter((one) => !shownFirst.includes(one.name));
  return el(
    "fieldset",
    {class: "sliders"},
    el("legend", {}, "Debounce windows"),
    ...first.map((one) => one.row),
    el(
      "details",
      {open: rest.some((one) => chosen.has(one.name))},
      el("summary", {}, "All of them"),
      ...rest.map((one) => one.row),
    ),
    el(
      "button",
      {
        type: "button",
        id: "reset",
        click: () => {
          chosen.clear();
          for (const one of sliders) one.reset();
          changed();
        },
      },
      "As it is",
    ),
  );
}

/** @type {[title: string, of: (totals: Totals) => string | number][]} */
const fixedTotals = [
  ["Writes", (totals) => totals.writes],
  ["of these of ClusterQueues", (totals) => totals.queueWrites],
  ["Nominations", (totals) => totals.nominations],
  ["Writes of statuses", (totals) => totals.statusWrites],
  ["Over-quota, seconds", (totals) => totals.overQuotaSeconds],
  ["Slowest shrink, seconds", (totals) => totals.slowestShrinkSeconds],
];

/** Rows of the totals: a name and its value in each world. @param {WhatIf["totals"]} totals */
export function totalRows({history, sameConfiguration, whatIf}) {
  const worlds = [history, sameConfiguration, whatIf];
  /** @param {"overQuotaResourceHours" | "underQuotaResourceHours"} name @param {string} title */
  const hours = (name, title) =>
    [...new Set(worlds.flatMap((world) => Object.keys(world[name])))]
      .sort()
      .map((resource) => [
        `${title}, ${resource} hours`,
        ...worlds.map((world) => amount(world[name][resource] ?? "0", resource)),
      ]);
  return [
    ...fixedTotals.map(([title, of]) => [title, ...worlds.map(of)]),
    ...hours("overQuotaResourceHours", "Over-quota"),
    ...hours("underQuotaResourceHours", "Under-quota"),
  ];
}

/**
 * What is less and what is more than in history, of the totals in which less is better.
 * @param {WhatIf["totals"]} totals
 */
export function compared({history, whatIf}) {
  /** @param {string} title @param {Record<string, string>} before @param {Record<string, string>} after */
  const hours = (title, before, after) =>
    [...new Set([...Object.keys(before), ...Object.keys(after)])]
      .sort()
      .map((resource) => ({
        resource,
        name: `${title} ${resource} hours`,
        before: before[resource] ?? "0",
        after: after[resource] ?? "0",
      }));
  const words = [
    {resource: "", name: "writes", before: String(history.writes), after: String(whatIf.writes)},
    ...hours("over-quota", history.overQuotaResourceHours, whatIf.overQuotaResourceHours),
    ...hours("under-quota", history.underQuotaResourceHours, whatIf.underQuotaResourceHours),
  ].flatMap(({resource, name, before, after}) => {
    const [was, would] = [amountOf(before), amountOf(after)];
    if (was === would) return [];
    const part = was > 0 ? ` (${would > was ? "+" : "-"}${Math.round((100 * Math.abs(would - was)) / was)}%)` : "";
    const by = deltaText(before, after, resource).replace(/^[+-]/, "");
    return [{better: would < was, text: `${by} ${would < was ? "fewer" : "more"} ${name}${part}`}];
  });
  return {
    better: words.filter((one) => one.better).map((one) => one.text),
    worse: words.filter((one) => !one.better).map((one) => one.text),
  };
}

/** Which world is better, and by how much. @param {WhatIf} whatIf */
function verdict({totals}) {
  const {better, worse} = compared(totals);
  const judged =
    better.length && worse.length
      ? "Some is better and some is worse"
      : better.length
        ? "What if is better"
        : worse.length
          ? "What if is worse"
          : "No total differs";
  return el(
    "p",
    {class: "lead", id: "verdict"},
    el("strong", {}, `${judged}. `),
    better.length ? `Better: ${better.join(", ")}. ` : "",
    worse.length ? `Worse: ${worse.join(", ")}.` : "",
  );
}

/** @param {WhatIf["differences"][number]["whatIf"]} write @param {string} time */
function writeCell(write, time) {
  return write ? `${show(time)} ${write.rule}: ${write.text}` : "no write";
}

/** @param {WhatIf} whatIf */
function differences(whatIf) {
  const {differences: rows, differencesLeftOut: more, same} = whatIf;
  if (rows.length === 0) return [el("p", {}, `No write differs; ${same} are the same.`)];
  return [
    el(
      "details",
      {class: "behind", id: "differences"},
      el("summary", {}, `${rows.length + more} writes differ, ${same} are the same`),
      ...(more > 0 ? [el("p", {}, `Shown are the first ${rows.length}; the command prints all.`)] : []),
      table(
        "Writes that differ",
        ["Object", "As it was", "What if"],
        rows.map(({object, history, whatIf: imagined}) => [
          object,
          [
            writeCell(history, history?.time ?? ""),
            history?.seq ? " " : "",
            history?.seq ? chip(history.seq, "in history") : "",
          ],
          writeCell(imagined, imagined?.time ?? ""),
        ]),
      ),
    ),
  ];
}

/** The writes of the other world: steps of its nominalQuota. @param {import("./charts").Step[]} steps */
function imaginedMarks(steps) {
  return steps
    .slice(1)
    .filter((step) => step[3] === "fairlead")
    .map((step) => ({time: msOf(step[0]), kind: /** @type {const} */ ("imagined"), text: `to ${step[2]}`}));
}

/**
 * @typedef {object} Shown
 * @property {Series} series @property {import("./answers").QuotaHistory} history
 * @property {import("./page_answers").Overview} overview
 */

/** @param {ViewContext} context @param {Shown} shown @param {PageWhatIf | null} answer */
function chartOf(context, {series, history, overview}, answer) {
  const {address} = context;
  const pair = chosenPair(context, series);
  const imagined = answer?.series?.pairs[0]?.lines.nominal ?? [];
  const from = msOf(series.from),
    to = Math.max(msOf(series.to), msOf(series.from) + 1);
  /** @type {import("./charts").Line[]} */
  const lines = [
    {name: "usable", steps: pair.lines.usable ?? [], style: "usable", width: 1, dash: [4, 3]},
    {name: "accepted", steps: pair.lines.accepted ?? [], style: "accepted", width: 1, filled: true},
    {name: "nominal", steps: pair.lines.nominal ?? [], style: "nominal", width: 2.5},
    {name: "what if", steps: imagined, style: "imagined", width: 2.5, dash: [6, 4]},
  ].filter((line) => line.steps.length > 0);
  const title = `${address.queue} ${pair.flavor} ${pair.resource}`;
  const chart = stepChart({
    title: `${title}: nominalQuota as it was and under the other windows`,
    resource: pair.resource,
    lines,
    from,
    to,
    marks: [...marksOf(history, pair), ...imaginedMarks(imagined)],
    gaps: gapsOf(history, from, to),
    ...zooming(context, overview),
  });
  return {chart, lines, title, resource: pair.resource};
}

/** @param {string[]} settings @param {...string} place */
function whatIfCommand(settings, ...place) {
  return command("whatif", ...settings.flatMap((setting) => ["--set", setting]), ...place);
}

/** @param {ViewContext} context @param {WhatIf} whatIf @param {string[]} settings */
function paragraph({log}, whatIf, settings) {
  const {history, whatIf: other} = whatIf.totals;
  const hours = (/** @type {Record<string, string>} */ sums) =>
    Object.entries(sums)
      .map(([resource, sum]) => `${sum} ${resource} hours`)
      .join(", ") || "none";
  return (
    `**What if ${plainMarkdown(settings.join(", "))}**: from ${whatIf.from.time} (seq ${whatIf.from.seq}) to ` +
    `${whatIf.to.time} (seq ${whatIf.to.seq}) there would have been ${other.writes} writes instead of ` +
    `${history.writes}, over-quota ${plainMarkdown(hours(other.overQuotaResourceHours))} instead of ` +
    `${plainMarkdown(hours(history.overQuotaResourceHours))}, under-quota ` +
    `${plainMarkdown(hours(other.underQuotaResourceHours))} instead of ` +
    `${plainMarkdown(hours(history.underQuotaResourceHours))}. ` +
    linkAndDigest(log.chain)
  );
}

/**
 * What is below the view: the command, and the answer for other programs.
 * @param {ViewContext} context @param {Shown} shown @param {PageWhatIf | null} answer @param {string[]} settings
 * @param {{from?: string | undefined, to: string}} span
 */
function actions(context, {series, history}, answer, settings, span) {
  const {address} = context;
  const pair = chosenPair(context, series);
  const place = [...(span.from ? ["--from", span.from] : []), "--to", span.to];
  const ofPair = ["flavor", "resource"].flatMap((name) => (address[name] ? [`--${name}`, address[name]] : []));
  const lines = {as_it_was: pair.lines.nominal ?? [], what_if: answer?.series?.pairs[0]?.lines.nominal ?? []};
  const whatIf = answer?.whatIf;
  showActions({
    commands: [
      settings.length
        ? whatIfCommand(settings, ...place)
        : command("audit", "history", address.queue ?? "", ...ofPair, ...place),
    ],
    name: "what-if",
    json: answer ?? {history, series},
    csv: () => [
      ["world", "flavor", "resource", "line", "time", "seq", "value", "writer"],
      ...Object.entries(lines).flatMap(([world, steps]) =>
        steps.map(([time, seq, value, writer]) => [
          world,
          pair.flavor,
          pair.resource,
          "nominal",
          time,
          seq,
          value,
          writer,
        ]),
      ),
    ],
    ...(whatIf ? {markdown: () => paragraph(context, whatIf, settings)} : {}),
  });
}

/** Asks, with a bar while the server folds. @param {HTMLElement} place @param {string[]} set
 *  @param {Record<string, string | undefined>} about @param {AbortSignal} signal */
async function askWhatIf(place, set, about, signal) {
  const bar = el("progress", {"aria-label": "Folding the log under the other windows"});
  const words = el("p", {}, "Folding the log under the other windows ", bar);
  place.prepend(words);
  try {
    return /** @type {PageWhatIf} */ (
      await askFolded("ui/api/whatif", {set, ...about, points: 5000}, signal, (done, total) => {
        bar.max = Math.max(1, total);
        bar.value = done;
      })
    );
  } finally {
    words.remove();
  }
}

/** Shows what happened, and beside it what would have. @param {ViewContext} context @param {HTMLElement} place
 *  @param {Shown} shown @param {PageWhatIf | null} answer */
function showResult(context, place, shown, answer) {
  const {chart, lines, title, resource} = chartOf(context, shown, answer);
  const whatIf = answer?.whatIf;
  place.replaceChildren(
    ...(whatIf ? [verdict(whatIf)] : []),
    chart.element,
    el(
      "p",
      {class: "legend"},
      "solid: nominalQuota as it was · dashed: what if · filled: accepted · ▲ our writes · △ writes of what if · ",
      "✕ foreign writes ",
      ...zoomButtons(context, shown.overview),
    ),
    tableBehind(title, lines, resource),
    ...(whatIf
      ? [
          el("h3", {}, "Both worlds in numbers"),
          table(
            `From ${show(whatIf.from.time)} to ${show(whatIf.to.time)}, all queues`,
            ["In all", "History", "Same configuration", "What if"],
            totalRows(whatIf.totals),
          ),
          ...unseenPart(whatIf.unseen),
          ...whatIf.overridden.map((one) =>
            el("p", {}, `Not affected: ${one.kind} ${one.name} sets ${one.setting} itself (${one.annotation}).`),
          ),
          ...differences(whatIf),
        ]
      : [el("p", {}, "Move a slider: the log is folded again as if that window had been so.")]),
  );
  chart.draw();
}

/** @param {ViewContext} context */
export async function whatIfView(context) {
  const {root, address, signal, progress} = context;
  const overview = await completed(context);
  if (!address.queue) {
    root.replaceChildren(el("p", {}, noQueue));
    return;
  }
  const named = [...settingsIn(address.set)].map(([name, value]) => `debounce.${name}=${value}`);
  showActions({commands: [whatIfCommand(named.length ? named : ["debounce.growWindow=1m0s"])]});
  const {settings} = /** @type {PageWhatIf} */ (await askFolded("ui/api/whatif", {}, signal, progress));
  const {queue} = address;
  const series = /** @type {Series} */ (
    await askFolded("ui/api/series", {queue, from: overview.from, to: overview.to}, signal, progress)
  );
  const history = await ask("audit/history", {queue, from: series.from, to: series.to}, signal);
  const shown = {series, history, overview};
  chosenPair(context, series);
  const chosen = settingsIn(address.set);
  const result = el("div", {id: "result"});
  const span = {from: address.from, to: address.to || `seq:${context.log.last_seq}`};
  /** @type {AbortController | undefined} */
  let last;
  const update = async () => {
    last?.abort();
    const turn = (last = new AbortController());
    const set = [...chosen].map(([name, value]) => `debounce.${name}=${value}`);
    noteInAddress({set: [...chosen].map((pair) => pair.join("=")).join(",")});
    result.setAttribute("aria-busy", "true");
    result.querySelector(".refusal")?.remove();
    try {
      const {flavor, resource} = readAddress();
      const about = {queue, flavor, resource, ...span};
      const answer = set.length ? await askWhatIf(result, set, about, AbortSignal.any([signal, turn.signal])) : null;
      if (turn.signal.aborted || signal.aborted) return;
      showResult(context, result, shown, answer);
      actions(context, shown, answer, set, span);
    } catch (error) {
      if (turn.signal.aborted || signal.aborted) return;
      const words = error instanceof Refusal ? error.message : String(error);
      result.replaceChildren(el("div", {class: "alert refusal", role: "alert"}, el("p", {}, words)));
    }
    result.removeAttribute("aria-busy");
  };
  root.replaceChildren(
    el("h2", {}, "What if: ", queue),
    choices(
      context,
      series,
      overview.queues.map((one) => one.queue),
    ),
    form(settings, chosen, () => void update()),
    result,
  );
  await update();
}
