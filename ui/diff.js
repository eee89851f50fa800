// Two cursors: what differs between two moments, decisions first, then facts.

import {hashOf, noteInAddress, withLog} from "./address.js";
import {amountText} from "./amounts.js";
import {command, linkAndDigest, plainMarkdown, showActions} from "./commands.js";
import {el, table} from "./dom.js";
import {saved} from "./saved.js";
import {ask} from "./server.js";
import {isAbsolute, msOf, show, spanText} from "./times.js";
import {unseenPart} from "./why.js";

/** @typedef {import("./main").ViewContext} ViewContext */
/** @typedef {Record<string, any>} Row */
/** @typedef {import("./answers").QuotaDiff} QuotaDiff */

/** @type {[section: string, title: string, names: string[]][]} */
const sections = [
  ["quotas", "Quotas", ["queue", "flavor", "resource"]],
  ["grants", "Grants", ["claim", "queue", "flavor", "resource"]],
  ["queues", "Queues", ["queue"]],
  ["cohorts", "Cohorts", ["cohort"]],
  ["flavors", "Resource flavors", ["flavor"]],
  ["checks", "Admission checks", ["check"]],
  ["localQueues", "Local queues", ["namespace", "localQueue"]],
  ["workers", "Worker lists", ["multiKueueConfig"]],
  ["namespaces", "Namespaces of tenants", ["tenant", "namespace"]],
  ["pods", "Pods of tenants", ["tenant", "namespace", "pod"]],
  ["configuration", "Configuration", ["key"]],
  ["claims", "Claims", ["claim"]],
  ["capacity", "Capacity", ["cluster", "flavor", "resource"]],
  ["superClusters", "Super clusters", ["id"]],
];

/** A value of a row: an amount where the row is about a resource. @param {unknown} value
 *  @param {string | undefined} resource */
function valueText(value, resource) {
  if (typeof value === "object") return JSON.stringify(value);
  return resource && typeof value === "string" ? amountText(value, resource) : String(value);
}

/**
 * One side of a row: its fields, or "not there".
 * @param {any} side @param {any} other @param {string} [resource] of amounts that are shown to a person
 */
function sideText(side, other, resource) {
  if (side === null || side === undefined) return "not there";
  if (Array.isArray(side)) return side.join(", ") || "none";
  if (typeof side !== "object") return valueText(side, resource);
  const both = other !== null && typeof other === "object";
  return (
    Object.entries(side)
      .filter(([name, value]) => value !== "" && (!both || JSON.stringify(other[name]) !== JSON.stringify(value)))
      .map(([name, value]) => `${name} ${valueText(value, resource)}`)
      .join(", ") || "-"
  );
}

/** An hour before the log's end, or its beginning where it is younger. @param {ViewContext} context */
async function hourAgo({log, signal}) {
  const first = `seq:${log.first_seq}`;
  const {text} = log.last_time ? await ask("log/cat", {from: first, to: first}, signal) : {text: ""};
  const old = !text || msOf(log.last_time ?? "") - msOf(JSON.parse(text).logTime) >= 3600e3;
  return old ? "-1h" : first;
}

/** @param {QuotaDiff} diff @param {string} section @returns {Row[]} */
const rowsIn = (diff, section) => /** @type {Record<string, any>} */ (diff)[section] ?? [];

/** All rows: the title of the section, the names, and both sides. @param {QuotaDiff} diff */
function rowsOf(diff) {
  return sections.flatMap(([section, title, names]) =>
    rowsIn(diff, section).map((row) => ({
      section,
      title,
      name: names.map((name) => row[name]).join(" "),
      from: sideText(row.from, row.to),
      to: sideText(row.to, row.from),
    })),
  );
}

const markdownMax = 200;

/** A sentence, and what differs as a table. @param {ViewContext} context @param {QuotaDiff} diff */
function markdownOf({log}, diff) {
  const rows = rowsOf(diff);
  const cells = (/** @type {unknown[]} */ words) => `| ${words.map(plainMarkdown).join(" | ")} |`;
  const cut = rows.length - markdownMax;
  return [
    `**From ${diff.from.time} (seq ${diff.from.seq}) to ${diff.to.time} (seq ${diff.to.seq})** ` +
      `${rows.length ? `${rows.length} ${rows.length === 1 ? "row differs" : "rows differ"}` : "nothing differs"}` +
      `${cut > 0 ? `, the first ${markdownMax} are shown` : ""}. ${linkAndDigest(log.chain)}`,
    ...(rows.length ? ["", "| Of | Name | From | To |", "|---|---|---|---|"] : []),
    ...rows.slice(0, markdownMax).map((row) => cells([row.title, row.name, row.from, row.to])),
  ].join("\n");
}

/** The queue's chart with both moments as cursors. @param {ViewContext} context @param {QuotaDiff} diff */
function onTheChart({address}, diff) {
  if (!address.queue) return [];
  const place = {view: "queue", queue: address.queue, at: diff.to.time, mark: diff.from.time};
  return [" ", el("a", {href: hashOf(withLog(place))}, "Both on the chart of the queue")];
}

/** @param {ViewContext} context */
export async function diffView(context) {
  const {root, address, signal} = context;
  const from = address.a || saved?.from || (await hourAgo(context)),
    to = address.b || saved?.to || "";
  const fields = [
    el("input", {id: "from", value: from, size: 32}),
    el("input", {id: "to", value: to, size: 32, placeholder: "the log's end"}),
    el("input", {id: "only", value: address.queue ?? "", size: 28, placeholder: "every queue"}),
  ];
  const form = el(
    "form",
    {
      submit: (event) => {
        event.preventDefault();
        location.hash = hashOf(
          withLog({view: "diff", a: fields[0]?.value ?? "", b: fields[1]?.value ?? "", queue: fields[2]?.value ?? ""}),
        );
      },
    },
    el("label", {for: "from"}, "From "),
    fields[0],
    " ",
    el("label", {for: "to"}, "to "),
    fields[1],
    " ",
    el("label", {for: "only"}, "of "),
    fields[2],
    " ",
    el("button", {}, "Compare"),
    el(
      "p",
      {class: "note"},
      "A time (14:07, yesterday, 2026-01-01T14:07:00Z), a seq (seq:12), or a span before now or the log's end (-2h).",
    ),
  );
  const body = el("div", {}, "…");
  root.replaceChildren(el("h2", {}, "Two cursors"), form, body);
  const end = to || `seq:${context.log.last_seq}`;
  const commands = [command("audit", "diff", from, end, ...(address.queue ? [address.queue] : []))];
  showActions({commands});
  const diff = /** @type {QuotaDiff} */ (await ask("audit/diff", {from, to: end, queue: address.queue}, signal));
  // A link that was made with "-2h" must not mean another moment tomorrow.
  const isFixed = (/** @type {string} */ place) => isAbsolute(place) || /^(seq:)?[0-9]+$/.test(place);
  if (!isFixed(from)) noteInAddress({a: diff.from.time});
  if (!isFixed(end)) noteInAddress({b: diff.to.time});
  const shown = sections.flatMap(([section, title, names]) => {
    const rows = rowsIn(diff, section);
    if (rows.length === 0) return [];
    return [
      el(
        "section",
        {"aria-labelledby": `diff-${section}`},
        el("h3", {id: `diff-${section}`}, `${title} (${rows.length})`),
        table(
          title,
          [...names, "from", "to"],
          rows.map((row) => [
            ...names.map((name) => String(row[name] ?? "")),
            sideText(row.from, row.to, row.resource),
            sideText(row.to, row.from, row.resource),
          ]),
        ),
      ),
    ];
  });
  showActions({
    commands,
    name: "diff",
    json: diff,
    markdown: () => markdownOf(context, diff),
    csv: () => [
      ["section", "name", "from", "to"],
      ...rowsOf(diff).map((row) => [row.section, row.name, row.from, row.to]),
    ],
  });
  body.replaceChildren(
    el(
      "p",
      {class: "lead"},
      `From ${show(diff.from.time)} (seq ${diff.from.seq}) to ${show(diff.to.time)} (seq ${diff.to.seq}), `,
      `${spanText(msOf(diff.to.time) - msOf(diff.from.time))} later.`,
      ...onTheChart(context, diff),
    ),
    ...unseenPart(diff.unseen ?? []),
    ...(shown.length ? shown : [el("p", {}, "Nothing differs.")]),
  );
}
