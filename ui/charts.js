// Step charts on dygraphs, with a cursor, marks and the table behind them.

import {amount, amountOf, amountText, axisLabel} from "./amounts.js";
import {el, table} from "./dom.js";
import {axisTime, compareTimes, msOf, nsOf, show, textOf, zoneName} from "./times.js";

/** @typedef {import("./page_answers").Step} Step */
/**
 * @typedef {object} Line
 * @property {string} name
 * @property {Step[]} steps ascending
 * @property {string} style a name in page.css: colour and dash say the same twice
 * @property {number} [width]
 * @property {number[]} [dash]
 * @property {boolean} [filled]
 */
/** @typedef {{time: number, kind: "ours" | "foreign" | "loss" | "imagined", style?: string, text: string}} Mark */
/** @typedef {{from: number, style: string, text: string}} Band from when on a writer's value was in force */
/** @typedef {{from: number, to: number, text: string}} Gap a stretch in which a source was silent */

// The legend of dygraphs writes style attributes, which the page's policy forbids; ours is a table.
Dygraph.PLUGINS = Dygraph.PLUGINS.filter((plugin) => plugin !== Dygraph.Plugins.Legend);

/** The step in force at a time; undefined: none yet. @param {Step[]} steps @param {string} time RFC 3339 */
export function stepAt(steps, time) {
  const ns = nsOf(time);
  let low = 0,
    high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const step = steps[middle];
    if (step && nsOf(step[0]) <= ns) low = middle + 1;
    else high = middle;
  }
  return steps[low - 1];
}

/** A colour of page.css as canvas understands it. @param {string} style */
export function colourOf(style) {
  const probe = el("span", {class: `line-${style}`, hidden: true});
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

/**
 * Rows for dygraphs: at each time at which a line moves, all of them.
 * @param {Line[]} lines @param {number} from @param {number} to
 */
function rowsOf(lines, from, to) {
  const moved = lines.map((line) => line.steps.map((step) => msOf(step[0])));
  const between = moved.flat().filter((time) => time > from && time < to);
  const times = [...new Set([from, to, ...between])].sort((a, b) => a - b);
  const next = lines.map(() => 0);
  return times.map((time) => [
    time,
    ...lines.map((line, index) => {
      const at = moved[index] ?? [];
      while ((at[next[index] ?? 0] ?? Infinity) <= time) next[index] = (next[index] ?? 0) + 1;
      const step = line.steps[(next[index] ?? 0) - 1];
      const value = step ? amountOf(step[2]) : NaN;
      return Number.isNaN(value) ? null : value;
    }),
  ]);
}

/**
 * Draws stretches of silence as hatching, whose value was in force as a band at the foot, and marks as shapes above it.
 * @param {CanvasRenderingContext2D} context @param {{x: number, y: number, w: number, h: number}} area
 * @param {(ms: number) => number} xOf @param {Mark[]} marks @param {Gap[]} gaps @param {Band[]} bands
 */
function drawUnder(context, area, xOf, marks, gaps, bands) {
  context.save();
  context.beginPath();
  context.rect(area.x, area.y, area.w, area.h);
  context.clip();
  context.lineWidth = 1;
  context.strokeStyle = colourOf("gap");
  for (const gap of gaps) {
    const begin = Math.max(area.x, xOf(gap.from)),
      end = Math.min(area.x + area.w, xOf(gap.to));
    context.save();
    context.beginPath();
    context.rect(begin, area.y, Math.max(1, end - begin), area.h);
    context.clip();
    context.beginPath();
    for (let x = begin - area.h; x < end; x += 8) {
      context.moveTo(x, area.y + area.h);
      context.lineTo(x + area.h, area.y);
    }
    context.stroke();
    context.restore();
  }
  bands.forEach((band, index) => {
    const begin = Math.max(area.x, xOf(band.from)),
      next = bands[index + 1];
    context.fillStyle = colourOf(band.style);
    context.fillRect(begin, area.y + area.h - 3, (next ? xOf(next.from) : area.x + area.w) - begin, 3);
  });
  // Those of a what-if are drawn above the others.
  for (const mark of marks)
    drawMark(context, xOf(mark.time), area.y + area.h - (mark.kind === "imagined" ? 21 : 9), mark);
  context.restore();
}

/** @type {Record<Mark["kind"], string>} */
const shapes = {ours: "▲", foreign: "✕", loss: "⚑", imagined: "△"};

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {Mark} mark */
function drawMark(context, x, y, {kind, style}) {
  context.strokeStyle = context.fillStyle = colourOf(style ?? kind);
  context.lineWidth = 1.5;
  context.beginPath();
  if (kind === "ours" || kind === "imagined") {
    context.moveTo(x, y - 5);
    context.lineTo(x - 4, y + 4);
    context.lineTo(x + 4, y + 4);
    context.closePath();
    if (kind === "ours") context.fill();
    else context.stroke();
  } else if (kind === "foreign") {
    context.moveTo(x - 4, y - 4);
    context.lineTo(x + 4, y + 4);
    context.moveTo(x + 4, y - 4);
    context.lineTo(x - 4, y + 4);
    context.stroke();
  } else {
    context.moveTo(x, y + 5);
    context.lineTo(x, y - 5);
    context.lineTo(x + 7, y - 2);
    context.lineTo(x, y + 1);
    context.stroke();
  }
}

/**
 * @typedef {object} ChartOptions
 * @property {string} title for those who do not see it
 * @property {string} resource decides the unit of the axis
 * @property {Line[]} lines
 * @property {number} from @property {number} to
 * @property {Mark[]} [marks] @property {Gap[]} [gaps] @property {Band[]} [bands]
 * @property {number} [height]
 * @property {(ms: number) => void} [pick] a click
 * @property {(from: number, to: number) => void} [zoom] a drag, a turn of the wheel, or two fingers
 * @property {() => void} [whole] a double click
 * @property {[begin: number, end: number]} [limits] of the log: no zoom leads out of them
 */

const readOutReach = 6; // pixels between the pointer and a mark that is read out
const wheelRest = 350; // ms after which a turn of the wheel has ended
const leastSpan = 10; // ms that a zoom shows at least

// When the page was scrolled last: a wheel that scrolls goes on scrolling over a chart.
let scrolledAt = -Infinity;
addEventListener("scroll", () => (scrolledAt = performance.now()), {passive: true, capture: true});

/** One finger scrolls the page, two zoom. @returns {import("./dygraph").Interaction} */
function interaction() {
  const model = Dygraph.defaultInteractionModel;
  const withTwo = Object.fromEntries(
    ["touchstart", "touchmove"].map((name) => [
      name,
      (/** @type {Event} */ event, /** @type {import("./dygraph").Graph} */ drawn, /** @type {object} */ state) => {
        if (/** @type {TouchEvent} */ (event).touches.length > 1) model[name]?.(event, drawn, state);
      },
    ]),
  );
  return {...model, ...withTwo};
}

/**
 * What the lines were where the pointer is. It is for those who point; others have the table at the cursor.
 * @param {ChartOptions} options @param {HTMLElement} place @param {number} ms @param {number} msPerPixel
 */
function readOut(options, place, ms, msPerPixel) {
  const time = textOf(Math.ceil(ms));
  const near = (options.marks ?? []).filter((mark) => Math.abs(mark.time - ms) < readOutReach * msPerPixel);
  const band = options.bands?.findLast((one) => one.from <= ms);
  const gap = (options.gaps ?? []).find((one) => one.from <= ms && ms <= one.to);
  place.replaceChildren(
    el("strong", {}, show(time)),
    ...[...options.lines]
      .reverse()
      .map((line) => el("div", {}, `${line.name} ${amountText(stepAt(line.steps, time)?.[2], options.resource)}`)),
    ...(band ? [el("div", {}, `written by ${band.text}`)] : []),
    ...near.slice(-3).map((mark) => el("div", {}, `${shapes[mark.kind]} ${mark.text}`)),
    ...(gap ? [el("div", {}, `not seen: ${gap.text}`)] : []),
  );
}

/**
 * A chart; give it `element` a place in the document, then call draw().
 * @param {ChartOptions} options
 */
export function stepChart(options) {
  const plot = el("div", {class: options.height && options.height < 120 ? "plot low" : "plot"});
  const cursor = el("div", {class: "cursor", hidden: true});
  const second = el("div", {class: "cursor second", hidden: true});
  const delta = el("div", {class: "delta", hidden: true});
  const hover = el("div", {class: "read-out", hidden: true});
  const frame = el(
    "div",
    {class: "chart", role: "img", "aria-label": options.title},
    plot,
    cursor,
    second,
    delta,
    hover,
  );
  /** @type {import("./dygraph").Graph | undefined} */
  let graph;
  /** @type {number | undefined} */
  let at;
  /** @type {number | undefined} */
  let mark;
  /** @type {number | undefined} */
  let turned;

  /** @param {HTMLElement} line @param {number | undefined} ms */
  function placeLine(line, ms) {
    if (!graph) return;
    const area = graph.getArea();
    const x = ms === undefined ? -1 : graph.toDomXCoord(ms);
    line.hidden = !(x >= area.x - 1 && x <= area.x + area.w + 1);
    line.style.left = `${x}px`;
    line.style.top = `${area.y}px`;
    line.style.height = `${area.h}px`;
  }
  function place() {
    placeLine(cursor, at);
    placeLine(second, mark);
    if (!graph) return;
    delta.hidden = second.hidden || delta.textContent === "";
    const area = graph.getArea();
    delta.style.top = `${area.y}px`;
    delta.style.right = `${frame.clientWidth - area.x - area.w}px`;
  }

  /** Draws another span at once, and asks for its steps when the hand rests. @param {[number, number]} window */
  function turnTo([from, to]) {
    graph?.updateOptions({dateWindow: [from, to]});
    clearTimeout(turned);
    turned = window.setTimeout(() => {
      if (!frame.isConnected) return;
      const [begin, end] = options.limits ?? [options.from, options.to];
      if (from <= begin && to >= end) options.whole?.();
      else options.zoom?.(from, to);
    }, wheelRest);
  }
  /** @param {WheelEvent} event */
  function onWheel(event) {
    if (!graph || !options.zoom || (!event.ctrlKey && performance.now() - scrolledAt < 500)) return;
    const [from, to] = graph.xAxisRange();
    const [begin, end] = options.limits ?? [options.from, options.to];
    const centre = graph.toDataXCoord(event.clientX - plot.getBoundingClientRect().left);
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 33 : 1;
    const scale = Math.exp(Math.max(-1, Math.min(1, (lines * event.deltaY) / (event.ctrlKey ? 100 : 400))));
    const window_ = /** @type {[number, number]} */ ([
      Math.max(begin, centre - (centre - from) * scale),
      Math.min(end, centre + (to - centre) * scale),
    ]);
    const nothing = window_[0] === from && window_[1] === to;
    if (nothing || window_[1] - window_[0] < leastSpan) return;
    event.preventDefault();
    turnTo(window_);
  }
  /** @param {PointerEvent} event */
  function onPointer(event) {
    const area = graph?.getArea();
    const x = event.clientX - plot.getBoundingClientRect().left;
    hover.hidden = !graph || !area || event.pointerType === "touch" || x < area.x || x > area.x + area.w;
    if (!graph || !area || hover.hidden) return;
    const ms = graph.toDataXCoord(x);
    readOut(options, hover, ms, graph.toDataXCoord(x + 1) - ms || 1);
    const left = x > area.x + area.w / 2;
    hover.style.left = left ? "auto" : `${x + 12}px`;
    hover.style.right = left ? `${frame.clientWidth - x + 12}px` : "auto";
    hover.style.top = `${area.y}px`;
  }
  frame.addEventListener("wheel", onWheel, {passive: false});
  frame.addEventListener("pointermove", onPointer);
  frame.addEventListener("pointerleave", () => (hover.hidden = true));
  frame.addEventListener("touchend", () => {
    const [from, to] = graph?.xAxisRange() ?? [options.from, options.to];
    if (Math.abs(from - options.from) + Math.abs(to - options.to) > leastSpan) turnTo([from, to]);
  });

  return {
    element: frame,
    draw() {
      // A view that follows a hub may have been made anew while it awaited an answer.
      if (!plot.isConnected) return;
      const span = options.to - options.from;
      graph = new Dygraph(plot, rowsOf(options.lines, options.from, options.to), {
        labels: ["time", ...options.lines.map((line) => line.name)],
        colors: options.lines.map((line) => colourOf(line.style)),
        series: Object.fromEntries(
          options.lines.map((line) => [
            line.name,
            {strokeWidth: line.width ?? 1.5, strokePattern: line.dash ?? null, fillGraph: line.filled ?? false},
          ]),
        ),
        stepPlot: true,
        fillAlpha: 0.18,
        legend: "never",
        includeZero: true,
        dateWindow: [options.from, options.to],
        axisLineColor: colourOf("axis"),
        gridLineColor: colourOf("grid"),
        highlightCircleSize: 0,
        connectSeparatedPoints: false,
        interactionModel: interaction(),
        axes: {
          x: {axisLabelFormatter: (ms) => axisTime(Number(ms), span), axisLabelWidth: 78, ticker: timeTicks},
          y: {axisLabelFormatter: (value) => axisLabel(value, options.resource), axisLabelWidth: 48},
        },
        underlayCallback: (context, area, drawn) =>
          drawUnder(
            context,
            area,
            (ms) => drawn.toDomXCoord(ms),
            options.marks ?? [],
            options.gaps ?? [],
            options.bands ?? [],
          ),
        drawCallback: () => place(),
        clickCallback: (_, ms) => options.pick?.(ms),
        zoomCallback: (from, to) => {
          if (from > options.from || to < options.to) options.zoom?.(from, to);
          else options.whole?.();
        },
      });
      plot.querySelectorAll("canvas").forEach((canvas) => canvas.setAttribute("aria-hidden", "true"));
      place();
    },
    /** Lays an element below the plot, from its beginning to its end. @param {HTMLElement} element */
    align(element) {
      const area = graph?.getArea();
      if (!area) return;
      element.style.marginLeft = `${area.x}px`;
      element.style.width = `${area.w}px`;
    },
    /** Moves the cursor. @param {number} ms */
    setCursor(ms) {
      at = ms;
      place();
    },
    /** Shows the second cursor, and what differs between the two. @param {number | undefined} ms @param {string} text */
    setSecond(ms, text) {
      mark = ms;
      delta.textContent = text;
      place();
    },
    destroy() {
      graph?.destroy();
    },
  };
}

/** Round times, at most one for each 90 pixels. @type {import("./dygraph").Ticker} */
function timeTicks(from, to, pixels) {
  const steps = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800,
  ];
  const least = (to - from) / 1000 / Math.max(1, Math.floor(pixels / 90));
  const step = 1000 * (steps.find((seconds) => seconds >= least) ?? Math.ceil(least / 604800) * 604800);
  const ticks = [];
  for (let ms = Math.ceil(from / step) * step; ms <= to; ms += step)
    ticks.push({v: ms, label: axisTime(ms, to - from)});
  return ticks;
}

/**
 * The table behind a chart: made when it is opened.
 * @param {string} caption @param {Line[]} lines @param {string} [resource] that the values are amounts of
 */
export function tableBehind(caption, lines, resource = "") {
  const rowsMax = 2000;
  const details = el(
    "details",
    {
      class: "behind",
      toggle: () => {
        if (!details.open || details.childElementCount > 1) return;
        const rows = lines
          .flatMap((line) => line.steps.map((step) => /** @type {const} */ ([line.name, step])))
          .sort(([, a], [, b]) => compareTimes(a[0], b[0]) || (a[1] ?? 0) - (b[1] ?? 0));
        const cut = rows.length - rowsMax;
        details.append(
          ...(cut > 0 ? [el("p", {}, `The first ${cut} rows are left out: zoom in to see them.`)] : []),
          table(
            `${caption} (${zoneName()})`,
            ["Time", "Seq", "Line", "Value", "Writer"],
            rows
              .slice(-rowsMax)
              .map(([name, [time, seq, value, writer]]) => [
                show(time),
                seq ?? "",
                name,
                amount(value, resource),
                writer ?? "",
              ]),
          ),
        );
      },
    },
    el("summary", {}, "Table"),
  );
  return details;
}

/**
 * A small chart without axes, for overviews.
 * @param {string} title @param {Line[]} lines @param {number} from @param {number} to
 */
export function sparkline(title, lines, from, to) {
  const width = 240,
    height = 48;
  const rows = rowsOf(lines, from, to);
  const greatest = Math.max(1e-9, ...rows.flatMap((row) => row.slice(1).map((value) => value ?? 0)));
  const x = (/** @type {number} */ ms) => ((ms - from) / Math.max(1, to - from)) * width;
  const y = (/** @type {number} */ value) => height - 2 - (value / greatest) * (height - 4);
  const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("preserveAspectRatio", "none");
  picture.setAttribute("class", "spark");
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", title);
  lines.forEach((line, index) => {
    let path = "",
      last = /** @type {number | null} */ (null);
    for (const row of rows) {
      const value = row[index + 1] ?? null;
      const place = x(row[0] ?? from).toFixed(1);
      const level = value === null ? "" : y(value).toFixed(1);
      if (value !== null) path += last === null ? `M${place} ${level}` : `H${place}V${level}`;
      else if (last !== null) path += `H${place}`;
      last = value;
    }
    const drawn = document.createElementNS("http://www.w3.org/2000/svg", "path");
    drawn.setAttribute("d", path || "M0 0");
    drawn.setAttribute("class", `line-${line.style}`);
    picture.append(drawn);
  });
  return picture;
}
