// The start: the whole log as a ruler, queues in order of trouble, clusters and worker lists as they are now.

import {enterInAddress, goWith, hashOf, noteInAddress, readAddress, withLog} from "./address.js";
import {amount, amountText, deltaText} from "./amounts.js";
import {sparkline, stepChart} from "./charts.js";
import {cohortLink} from "./cohort.js";
import {command, linkAndDigest, plainMarkdown, showActions} from "./commands.js";
import {el, table} from "./dom.js";
import {counted, filterOf, natural, ordered} from "./order.js";
import {saved} from "./saved.js";
import {ask} from "./server.js";
import {overviewOf, shiftKeys, zoomButtons, zooming} from "./span.js";
import {durationMs, msOf, show, spanText, textOf} from "./times.js";

/** @typedef {import("./page_answers").Overview} Overview */
/** @typedef {import("./main").ViewContext} ViewContext */

const marks = {ours: "▲ our writes", foreign: "✕ foreign writes", losses: "⚑ losses"};

/** Shows states as words, the worst first. @param {string[]} states */
export function stateWords(states) {
  return states.map((state) => el("span", {class: `state state-${state.replaceAll(" ", "-")}`}, state));
}

/** Each bucket that has events, and a zero behind it where the next one has none. @param {Overview} overview */
function eventsLine(overview) {
  const width = durationMs(overview.bucketWidth);
  /** @type {import("./charts").Step[]} */
  const steps = [];
  overview.buckets.forEach(([time, events], index) => {
    steps.push([time, 0, String(events)]);
    const end = msOf(time) + width,
      next = overview.buckets[index + 1];
    if (!next || msOf(next[0]) > end + 0.5) steps.push([textOf(end), 0, "0"]);
  });
  return {name: "events", steps, style: "events", filled: true, width: 1};
}

/** @param {Overview} overview @returns {import("./charts").Mark[]} */
function marksOf(overview) {
  return overview.buckets.flatMap(([time, , ours, foreign, losses]) => [
    ...(ours ? [{time: msOf(time), kind: /** @type {const} */ ("ours"), text: `${ours} of our writes`}] : []),
    ...(foreign ? [{time: msOf(time), kind: /** @type {const} */ ("foreign"), text: `${foreign} foreign writes`}] : []),
    ...(losses ? [{time: msOf(time), kind: /** @type {const} */ ("loss"), text: `${losses} losses`}] : []),
  ]);
}

/** @param {ViewContext} context @param {Overview} overview */
function ruler(context, overview) {
  const {address, log} = context;
  const end = log.last_time ?? overview.to;
  const narrowed = !address.from && !address.to && (overview.from !== overview.begin || overview.to !== end);
  const chart = stepChart({
    title: "Events over the log",
    resource: "",
    lines: [eventsLine(overview)],
    height: 100,
    marks: marksOf(overview),
    from: msOf(overview.from),
    to: Math.max(msOf(overview.to), msOf(overview.from) + 1),
    ...zooming(context, overview),
  });
  const section = el(
    "section",
    {"aria-labelledby": "ruler"},
    el("h2", {id: "ruler"}, "The log"),
    shiftKeys(context, overview, chart.element),
    el(
      "p",
      {class: "legend"},
      ...(narrowed
        ? [
            `The log goes from ${show(overview.begin)} to ${show(end)}; drawn is where something moved. `,
            el("a", {href: hashOf(withLog({...address, from: overview.begin, to: end}))}, "Show all of it"),
            ". ",
          ]
        : []),
      `Each step ${overview.bucketWidth}; `,
      ...Object.values(marks).join(" · "),
      " ",
      ...zoomButtons(context, overview),
    ),
    el(
      "details",
      {class: "behind"},
      el("summary", {}, "Table"),
      table(
        "Events",
        ["From", "Events", "Our writes", "Foreign writes", "Losses"],
        overview.buckets.map(([time, ...counts]) => [show(time), ...counts]),
      ),
    ),
  );
  return {section, draw: chart.draw};
}

/** By how much a quota is to change: "(+400)". @param {Overview["queues"][number]["pairs"][number]} pair */
function awayText({nominal, desired, resource}) {
  const delta = deltaText(nominal, desired, resource);
  return delta && `(${delta})`;
}

/** A card of a queue, whose chart is drawn when its answer comes. @param {ViewContext} context
 *  @param {Overview} overview @param {Overview["queues"][number]} queue */
function queueCard(context, overview, queue) {
  const spark = el("div", {class: "sparks"}, "…");
  const to = (/** @type {Overview["queues"][number]["pairs"][number]} */ pair) =>
    hashOf(
      withLog({
        view: "queue",
        queue: queue.queue,
        flavor: pair.flavor,
        resource: pair.resource,
        from: context.address.from ?? "",
        to: context.address.to ?? "",
      }),
    );
  const first = queue.pairs.find((pair) => pair.desired !== null) ?? queue.pairs[0];
  const card = el(
    "li",
    {class: "card"},
    el("h3", {}, first ? el("a", {href: to(first)}, queue.queue) : queue.queue, " ", ...stateWords(queue.states)),
    spark,
    el(
      "ul",
      {class: "pairs"},
      queue.pairs.map((pair) =>
        el(
          "li",
          {},
          el("a", {href: to(pair)}, `${pair.flavor} ${pair.resource}`),
          " ",
          amount(pair.nominal, pair.resource),
          ...(pair.desired !== null && pair.desired !== pair.nominal
            ? [", wanted ", amount(pair.desired, pair.resource), ` ${awayText(pair)}`]
            : []),
          ...(pair.used !== null ? [", used ", amount(pair.used, pair.resource)] : []),
        ),
      ),
    ),
  );
  const draw = (/** @type {import("./page_answers").Series | null} */ answer) => {
    if (!first || !answer) return;
    const lines = answer.pairs[0]?.lines ?? {};
    spark.replaceChildren(
      sparkline(
        `${queue.queue} ${first.flavor} ${first.resource}: quota and use`,
        [
          {name: "used", steps: lines.used ?? [], style: "used"},
          {name: "nominal", steps: lines.nominal ?? [], style: "nominal"},
        ],
        msOf(overview.from),
        msOf(overview.to),
      ),
      el("small", {}, `${first.flavor} ${first.resource}`),
    );
  };
  if (!first) spark.replaceChildren("no quota");
  const subject = [queue.queue, ...queue.states, ...queue.pairs.flatMap((pair) => [pair.flavor, pair.resource])].join(
    " ",
  );
  const of = first && {queue: queue.queue, flavor: first.flavor, resource: first.resource};
  return {card, draw, subject, of};
}

const sparksMax = 100;
const targetMax = 6000; // bytes of a request's target, of which the server reads 8 KB

/**
 * Asks for the charts of these cards, many at a time.
 * @param {ViewContext} context @param {Overview} overview @param {ReturnType<typeof queueCard>[]} cards
 */
async function drawCards({signal}, {from, to}, cards) {
  const rest = cards.filter((one) => one.of);
  const span = {from, to, points: 200};
  while (rest.length > 0) {
    if (saved) {
      const one = rest.shift();
      if (one?.of) one.draw(await ask("ui/api/series", {...one.of, ...span}, signal));
      continue;
    }
    const part = rest.splice(0, 1);
    const question = () => JSON.stringify(part.map(({of}) => [of?.queue, of?.flavor, of?.resource]));
    while (rest[0] && part.length < sparksMax && encodeURIComponent(question()).length < targetMax)
      part.push(...rest.splice(0, 1));
    const {series} = await ask("ui/api/sparks", {of: question(), ...span}, signal);
    part.forEach((one, index) => one.draw(series[index]));
  }
}

/**
 * Draws cards when they come into sight: hundreds at once would keep the server from all other questions.
 * @param {ViewContext} context @param {Overview} overview @param {ReturnType<typeof queueCard>[]} cards
 */
function drawInSight(context, overview, cards) {
  const waiting = new Map(cards.map((one) => [/** @type {Element} */ (one.card), one]));
  const observer = new IntersectionObserver(
    (seen) => {
      const due = seen.flatMap(({target, isIntersecting}) => {
        const one = isIntersecting ? waiting.get(target) : undefined;
        if (!one) return [];
        waiting.delete(target);
        observer.unobserve(target);
        return [one];
      });
      if (due.length > 0) void context.run(() => drawCards(context, overview, due));
    },
    {rootMargin: "100px"},
  );
  for (const {card} of cards) observer.observe(card);
  context.signal.addEventListener("abort", () => observer.disconnect());
}

/** The rows of a table that are named in their first cell, each with the text that a filter is about.
 *  @param {HTMLElement} element */
function rowsIn(element) {
  return [...element.querySelectorAll("tbody tr")].map((row) => ({
    element: /** @type {HTMLElement} */ (row),
    subject: row.textContent ?? "",
  }));
}

/**
 * The field that hides what does not fit, and how the rest is ordered.
 * @param {ViewContext} context
 * @param {{name: string, rows: {element: HTMLElement, subject: string}[]}[]} parts
 */
function filterForm({address}, parts) {
  const said = el("output", {for: "filter", id: "filtered"});
  const field = el("input", {
    id: "filter",
    type: "search",
    size: 32,
    value: address.filter ?? "",
    spellcheck: "false",
    "aria-keyshortcuts": "/",
    "aria-describedby": "filter-help",
    placeholder: "team-a held or /^gpu-[0-9]+$/",
  });
  let entered = false;
  const apply = () => {
    const fits = filterOf(field.value);
    field.setAttribute("aria-invalid", String(!fits));
    if (!fits) {
      said.textContent = "This is no regular expression yet.";
      return;
    }
    const counts = parts.map(({name, rows}) => {
      let shown = 0;
      for (const row of rows) {
        row.element.hidden = !fits(row.subject);
        if (!row.element.hidden) shown += 1;
      }
      return `${shown === rows.length ? "" : `${shown} of `}${counted(rows.length, name)}`;
    });
    said.textContent = counts.join(", ");
  };
  field.addEventListener("input", () => {
    apply();
    // One entry for what is typed in one go: Back undoes it.
    if (entered) noteInAddress({filter: field.value});
    else enterInAddress({filter: field.value});
    entered = true;
  });
  field.addEventListener("change", () => (entered = false));
  apply();
  return el(
    "form",
    {role: "search", submit: (event) => event.preventDefault()},
    el("label", {for: "filter"}, "Filter "),
    field,
    " ",
    el(
      "label",
      {},
      "Order ",
      el(
        "select",
        {id: "sort", change: (event) => goWith({sort: /** @type {HTMLSelectElement} */ (event.target).value})},
        el("option", {value: ""}, "trouble first"),
        el("option", {value: "name", selected: address.sort === "name"}, "by name"),
      ),
    ),
    " ",
    said,
    el(
      "p",
      {id: "filter-help", class: "note"},
      "Words that all must be there, of names and states; or between two choices; -word for what must not; /REGEXP/.",
    ),
  );
}

/** @param {Overview} overview @param {boolean} byName */
function clusters(overview, byName) {
  if (overview.clusters.length === 0) return el("p", {}, "No cluster was seen in this log.");
  return table(
    "Clusters as they are at the log's end",
    ["Cluster", "State", "Source", "Accepted of usable of offered"],
    ordered(
      overview.clusters,
      (cluster) => cluster.cluster,
      (cluster) => cluster.state,
      byName,
    ).map((cluster) => [
      el("a", {href: hashOf(withLog({view: "cluster", cluster: cluster.cluster}))}, cluster.cluster),
      [
        ...stateWords([cluster.state]),
        cluster.hold ? ` a loss since ${show(cluster.hold.since)} is held until ${show(cluster.hold.until)}` : "",
      ],
      cluster.source ?? "none",
      cluster.capacity
        .map(
          (value) =>
            `${value.flavor || "all"} ${value.resource}: ` +
            [value.accepted, value.usable, value.offered].map((text) => amountText(text, value.resource)).join(" of "),
        )
        .join("; "),
    ]),
  );
}

/** @param {Overview} overview @param {boolean} byName */
function lists(overview, byName) {
  if (overview.lists.length === 0) return [];
  return [
    el(
      "section",
      {"aria-labelledby": "lists"},
      el("h2", {id: "lists"}, "Worker lists"),
      table(
        "Worker lists as they are at the log's end",
        ["List", "State", "In the list", "Selected"],
        ordered(
          overview.lists,
          (list) => list.list,
          (list) => list.state,
          byName,
        ).map((list) => [
          el("a", {href: hashOf(withLog({view: "list", list: list.list}))}, list.list),
          stateWords([list.state]),
          [...list.listed].sort(natural).join(", ") || "no worker",
          [...list.selected].sort(natural).join(", ") || "no worker",
        ]),
      ),
    ),
  ];
}

/** @param {Overview} overview */
function cohorts(overview) {
  if (overview.cohorts.length === 0) return [];
  return [
    el(
      "section",
      {"aria-labelledby": "cohorts"},
      el("h2", {id: "cohorts"}, "Cohorts"),
      table(
        "Cohorts as they are at the log's end",
        ["Cohort", "Parent", "Weight", "Quotas of its own", "ClusterQueues"],
        [...overview.cohorts]
          .sort((one, other) => natural(one.cohort, other.cohort))
          .map((one) => [
            cohortLink(one.cohort),
            one.parent ?? "none",
            one.object ? (one.weight ?? "not known") : "no object",
            one.quotas
              .map((quota) => `${quota.flavor} ${quota.resource} ${amountText(quota.nominal, quota.resource)}`)
              .join("; ") || "none",
            one.queues.length,
          ]),
      ),
    ),
  ];
}

/** @param {Overview} overview */
function pool(overview) {
  const counts = overview.pool;
  if (!counts) return [];
  return [
    el(
      "section",
      {"aria-labelledby": "pool"},
      el("h2", {id: "pool"}, "Pool"),
      el(
        "p",
        {},
        el("a", {href: hashOf(withLog({view: "pool"}))}, "The super cluster pool"),
        `: ${counts.superClusters} super clusters, ${counts.tenants} tenants, ${counts.namespaces} namespaces, `,
        counts.troubled ? el("strong", {}, `of which ${counts.troubled} lack something`) : "which lack nothing",
        `; ${counts.pods} pods, ${counts.waiting ? `of which ${counts.waiting} wait` : "none waits"}.`,
      ),
    ),
  ];
}

/** Events, our writes, foreign writes and losses of the span. @param {Overview} overview */
function sumsOf(overview) {
  const sums = [0, 0, 0, 0];
  for (const [, ...counts] of overview.buckets)
    counts.forEach((count, index) => {
      sums[index] = (sums[index] ?? 0) + count;
    });
  return sums;
}

/** What the log's last hour brought. @param {ViewContext} context @param {Overview} overview */
async function lastHour(context, overview) {
  const end = msOf(overview.to);
  const begin = Math.max(msOf(overview.from), end - 3600e3);
  // The beginning as it was said: in whole milliseconds it may be after the end.
  const from = begin === msOf(overview.from) ? overview.from : textOf(begin);
  const hour = /** @type {Overview} */ (
    await ask("ui/api/overview", {from, to: overview.to, buckets: 60}, context.signal)
  );
  const sums = sumsOf(hour);
  return (
    `In the last ${spanText(end - begin)} of this view: ${sums[0]} events, ${sums[1]} of our writes, ` +
    `${sums[2]} foreign writes, ${sums[3]} losses.`
  );
}

/** @param {ViewContext} context @param {Overview} overview */
function paragraph({log}, overview) {
  const [events, ours, foreign, losses] = sumsOf(overview);
  const named = (/** @type {{name: string, states: string[]}[]} */ all) => {
    const troubled = all.filter((one) => !one.states.every((state) => state === "steady"));
    const words = troubled.slice(0, 10).map((one) => `${one.name} ${one.states.join(", ")}`);
    const more = troubled.length > 10 ? ` and ${troubled.length - 10} more` : "";
    return plainMarkdown(words.join("; ") || "all steady") + more;
  };
  return (
    `**Fleet** from ${overview.from} to ${overview.to}: ${events} events, ${ours} of our writes, ${foreign} foreign ` +
    `writes, ${losses} losses. ${overview.queues.length} queues: ` +
    `${named(overview.queues.map((one) => ({name: one.queue, states: one.states})))}. ` +
    `${overview.clusters.length} clusters: ` +
    `${named(overview.clusters.map((one) => ({name: one.cluster, states: [one.state]})))}. ${linkAndDigest(log.chain)}`
  );
}

/** @param {ViewContext} context */
export async function fleetView(context) {
  const {root, address, signal, progress} = context;
  const commands = [command("audit", "quota", ...(address.to ? ["--as-of", address.to] : []))];
  showActions({commands});
  const overview = await overviewOf(address, 400, signal, progress);
  const damage = overview.damage ? [el("p", {class: "alert", role: "alert"}, overview.damage)] : [];
  if (overview.totals.events === 0) {
    root.replaceChildren(
      ...damage,
      el("h2", {}, damage.length ? "Nothing can be shown" : "The log is empty"),
      el(
        "p",
        {},
        damage.length ? "The damage is at its beginning." : "Nothing has happened yet: a hub writes it once it runs.",
      ),
    );
    return;
  }
  showActions({
    commands,
    name: "fleet",
    json: overview,
    markdown: () => paragraph(context, overview),
    csv: () => [
      ["queue", "states", "flavor", "resource", "nominal", "desired", "used"],
      ...overview.queues.flatMap((one) =>
        one.pairs.map((pair) => [
          one.queue,
          one.states.join(" "),
          pair.flavor,
          pair.resource,
          pair.nominal,
          pair.desired,
          pair.used,
        ]),
      ),
    ],
  });
  const byName = readAddress().sort === "name";
  const head = ruler(context, overview);
  const changed = el("p", {class: "lead"}, "…");
  const cards = ordered(
    overview.queues,
    (queue) => queue.queue,
    (queue) => queue.states[0],
    byName,
  ).map((queue) => queueCard(context, overview, queue));
  const clusterTable = clusters(overview, byName);
  const [listPart, cohortPart] = [lists(overview, byName), cohorts(overview)];
  const parts = [
    {name: "queue", rows: cards.map(({card, subject}) => ({element: card, subject}))},
    {name: "cluster", rows: rowsIn(clusterTable)},
    {name: "worker list", rows: listPart.flatMap(rowsIn)},
    {name: "Cohort", rows: cohortPart.flatMap(rowsIn)},
  ].filter(({rows}) => rows.length > 0);
  root.replaceChildren(
    ...damage,
    changed,
    head.section,
    ...(parts.length ? [filterForm(context, parts)] : []),
    el(
      "section",
      {"aria-labelledby": "queues"},
      el("h2", {id: "queues"}, "Queues"),
      cards.length
        ? el(
            "ul",
            {class: "cards"},
            cards.map((one) => one.card),
          )
        : el("p", {}, "No ClusterQueue was seen in this log."),
    ),
    el("section", {"aria-labelledby": "clusters"}, el("h2", {id: "clusters"}, "Clusters"), clusterTable),
    ...listPart,
    ...cohortPart,
    ...pool(overview),
  );
  head.draw();
  drawInSight(context, overview, cards);
  changed.textContent = await lastHour(context, overview);
}
