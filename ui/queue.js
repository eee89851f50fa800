// A queue: a chart for each (flavor, resource), one cursor through all of them, and why the quota is what it is there.

import {hashOf, noteInAddress, withLog} from "./address.js";
import {stepAt, stepChart, tableBehind} from "./charts.js";
import {command, showActions} from "./commands.js";
import {el} from "./dom.js";
import {Refusal, ask, askFolded} from "./server.js";
import {overviewOf, wholeButton, zooming} from "./span.js";
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

/**
 * Writes of this pair, as shapes.
 * @param {History} history @param {Pair} pair @returns {import("./charts").Mark[]}
 */
function marksOf(history, pair) {
  return history.rows
    .filter((row) => row.flavor === pair.flavor && row.resource === pair.resource)
    .map((row) => ({
      time: msOf(row.time),
      kind: row.writer === "fairlead" ? "ours" : "foreign",
      text: `${row.old} to ${row.new}`,
    }));
}

/**
 * Silent stretches.
 * @param {History} history @param {number} from @param {number} to @returns {import("./charts").Gap[]}
 */
function gapsOf(history, from, to) {
  /** @param {import("./answers").Place | null} place @param {number} otherwise */
  const bound = (place, otherwise) => (place?.time ? msOf(place.time) : otherwise);
  return history.unseen.map((one) => ({
    from: one.since ? msOf(one.since) : bound(one.from, from),
    to: bound(one.to, to),
    text: one.text,
  }));
}

/**
 * The exact time to ask about: that of the step at the cursor, else the cursor's.
 * @param {string[]} moments @param {number} ms
 */
function exactTime(moments, ms) {
  const found = moments.find((time) => Math.abs(msOf(time) - ms) < 0.0005);
  return found ?? textOf(ms);
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
 * The slider under the charts.
 * @param {number} from @param {number} to @param {number[]} moments ascending @param {(ms: number) => void} moved
 */
function scrubber(from, to, moments, moved) {
  const thumb = el("span", {class: "thumb"});
  const slider = el(
    "div",
    {
      class: "scrubber",
      role: "slider",
      tabindex: 0,
      id: "scrubber",
      "aria-label": "Moment",
      "aria-valuemin": from,
      "aria-valuemax": to,
    },
    thumb,
  );
  let at = to;
  const set = (/** @type {number} */ ms) => {
    at = Math.min(to, Math.max(from, ms));
    slider.setAttribute("aria-valuenow", String(at));
    slider.setAttribute("aria-valuetext", show(at));
    thumb.style.left = `${to > from ? (100 * (at - from)) / (to - from) : 100}%`;
  };
  const move = (/** @type {number} */ ms) => {
    set(ms);
    moved(at);
  };
  /** @type {Record<string, () => number>} */
  const keys = {
    ArrowRight: () => moments.find((ms) => ms > at + 0.0005) ?? to,
    ArrowLeft: () => moments.findLast((ms) => ms < at - 0.0005) ?? from,
    PageUp: () => at + 3600e3,
    PageDown: () => at - 3600e3,
    Home: () => from,
    End: () => to,
  };
  keys.ArrowUp = /** @type {() => number} */ (keys.ArrowRight);
  keys.ArrowDown = /** @type {() => number} */ (keys.ArrowLeft);
  slider.addEventListener("keydown", (event) => {
    const next = keys[event.key];
    if (!next) return;
    event.preventDefault();
    move(next());
  });
  const drag = (/** @type {PointerEvent} */ event) => {
    const area = slider.getBoundingClientRect();
    move(from + ((to - from) * (event.clientX - area.left)) / Math.max(1, area.width));
  };
  slider.addEventListener("pointerdown", (event) => {
    slider.setPointerCapture(event.pointerId);
    drag(event);
  });
  slider.addEventListener("pointermove", (event) => {
    if (slider.hasPointerCapture(event.pointerId)) drag(event);
  });
  return {slider, set};
}

/**
 * The choice of queue, flavor and resource.
 * @param {ViewContext} context @param {Series} series @param {string[]} queues
 */
function choices(context, series, queues) {
  const {address} = context;
  const go = (/** @type {Record<string, string>} */ change) => {
    location.hash = hashOf(withLog({...address, ...change}));
  };
  return el(
    "p",
    {class: "choices"},
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
        queues.map((queue) => el("option", {selected: queue === address.queue}, queue)),
      ),
    ),
    " ",
    ...series.pairs.flatMap((pair) => [
      el(
        "a",
        {
          class: "tab",
          href: hashOf(withLog({...address, flavor: pair.flavor, resource: pair.resource})),
          "aria-current": pair.flavor === address.flavor && pair.resource === address.resource ? "true" : undefined,
        },
        `${pair.flavor} ${pair.resource}`,
      ),
      " ",
    ]),
  );
}

/**
 * Asks why, once the cursor has come to rest.
 * @param {ViewContext} context @param {HTMLElement} panel @param {Series} series
 */
function whyPanel(context, panel, series) {
  const {address, signal} = context;
  /** @type {AbortController | undefined} */
  let last;
  return async (/** @type {string} */ time) => {
    last?.abort();
    const turn = (last = new AbortController());
    const either = AbortSignal.any([signal, turn.signal]);
    const {queue = "", flavor = "", resource = ""} = address;
    const asked = {queue, flavor, resource, "as-of": time};
    const commands = [command("audit", "why", queue, flavor, resource, "--as-of", time)];
    showActions({commands});
    panel.setAttribute("aria-busy", "true");
    try {
      await new Promise((resolve) => setTimeout(resolve, 150));
      if (either.aborted) return;
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
    } catch (error) {
      if (either.aborted) return;
      panel.replaceChildren(
        el("p", {class: "alert", role: "alert"}, error instanceof Refusal ? error.message : String(error)),
      );
    } finally {
      if (!either.aborted) panel.removeAttribute("aria-busy");
    }
  };
}

/** Completes the address: the first queue in trouble, its first pair that is ours. @param {ViewContext} context */
async function completed(context) {
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
    root.replaceChildren(el("p", {}, "No ClusterQueue was seen in this log."));
    return;
  }
  const series = /** @type {Series} */ (
    await askFolded("ui/api/series", {queue: address.queue, from: overview.from, to: overview.to}, signal, progress)
  );
  const history = await ask("audit/history", {queue: address.queue, from: series.from, to: series.to}, signal);
  const from = msOf(series.from),
    to = msOf(series.to);
  const hidden = new Set((address.hide ?? "").split(",").filter(Boolean));
  const pair = series.pairs.find((one) => one.flavor === address.flavor && one.resource === address.resource);
  if (!pair)
    throw new Refusal(
      `${address.queue} has no ${address.flavor} ${address.resource} in this log. ` +
        `Choose one of: ${series.pairs.map((one) => `${one.flavor} ${one.resource}`).join(", ")}`,
    );
  const times = [
    ...new Set([
      ...Object.values(pair.lines)
        .flat()
        .map((step) => step[0]),
      ...(address.at ? [address.at] : []),
      ...history.rows.map((/** @type {import("./answers").Change} */ row) => row.time),
    ]),
  ]
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
    ),
    values,
    ...drawn.slice(0, 1).map((one) => one.table),
    panel,
    ...chartPart(drawn.slice(1)),
  );
  for (const one of drawn) one.chart.draw();
  drawn[0]?.chart.align(slide.slider);
  const begin = address.at ? msOf(address.at) : to;
  slide.set(begin);
  moveTo(begin);
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
