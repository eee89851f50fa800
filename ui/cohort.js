// A Cohort: its quotas, its parent, the ClusterQueues in it, and every change of its spec.

import {hashOf, noteInAddress, withLog} from "./address.js";
import {amount} from "./amounts.js";
import {changesTable, stepText} from "./changes.js";
import {command, linkAndDigest, plainMarkdown, showActions} from "./commands.js";
import {el, table} from "./dom.js";
import {natural} from "./order.js";
import {ask} from "./server.js";
import {overviewOf} from "./span.js";
import {tabs} from "./tabs.js";

/** @typedef {import("./main").ViewContext} ViewContext */
/** @typedef {import("./page_answers").Overview} Overview */
/** @typedef {import("./answers").ObjectHistory} ObjectHistory */

const queuesMax = 200;

/** @param {string} cohort @param {string} [text] */
export function cohortLink(cohort, text) {
  return el("a", {href: hashOf(withLog({view: "cohort", cohort}))}, text ?? cohort);
}

/** @param {Overview["cohorts"][number]} cohort */
function standing(cohort) {
  if (!cohort.object) return ["It has no object: ClusterQueues that name it lend to each other, without more quota."];
  return [
    cohort.parent ? "It is in Cohort " : "It is a root.",
    cohort.parent ? cohortLink(cohort.parent) : "",
    ` Its weight in fair sharing is ${cohort.weight ?? "not known"}.`,
  ];
}

/** @param {Overview["cohorts"][number]} cohort */
function queuesOf(cohort) {
  if (cohort.queues.length === 0) return el("p", {}, "No ClusterQueue is in it.");
  const left = cohort.queues.length - queuesMax;
  return el(
    "p",
    {},
    ...[...cohort.queues]
      .sort(natural)
      .slice(0, queuesMax)
      .flatMap((queue) => [el("a", {href: hashOf(withLog({view: "queue", queue}))}, queue), " "]),
    left > 0 ? `and ${left} more` : "",
  );
}

/** @param {ViewContext} context @param {string} name @param {ObjectHistory} history */
function paragraph({log}, name, history) {
  const newest = history.rows.slice(-10).map((row) => `${row.time} ${stepText(row)}`);
  return (
    `**Cohort ${plainMarkdown(name)}**: ${plainMarkdown(newest.join("; ") || "no change in this span")}. ` +
    linkAndDigest(log.chain)
  );
}

/** @param {ViewContext} context */
export async function cohortView(context) {
  const {root, address, signal, progress} = context;
  const overview = await overviewOf(address, 400, signal, progress);
  address.cohort ||= overview.cohorts[0]?.cohort ?? "";
  const name = address.cohort;
  if (!name) {
    root.replaceChildren(el("p", {}, "No Cohort was seen in this log."));
    showActions({commands: [command("audit", "quota")]});
    return;
  }
  noteInAddress(address);
  const object = `cohort/${name}`;
  const span = ["from", "to"].flatMap((end) => (address[end] ? [`--${end}`, address[end]] : []));
  const commands = [command("audit", "history", object, ...span)];
  showActions({commands});
  const history = /** @type {ObjectHistory} */ (
    await ask("audit/history", {queue: object, from: overview.from, to: overview.to}, signal)
  );
  const known = overview.cohorts.find((one) => one.cohort === name);
  showActions({
    commands,
    name: `cohort-${name}`,
    json: history,
    markdown: () => paragraph(context, name, history),
    csv: () => [
      ["time", "seq", "flavor", "resource", "field", "old", "new", "writer"],
      ...history.rows.map((row) => [
        row.time,
        row.seq,
        row.flavor,
        row.resource,
        row.field,
        JSON.stringify(row.old),
        JSON.stringify(row.new),
        row.writer,
      ]),
    ],
  });
  root.replaceChildren(
    el("h2", {}, "Cohort ", name),
    tabs(
      overview.cohorts
        .map(({cohort}) => ({title: cohort, to: {...address, cohort}, current: cohort === name}))
        .sort((one, other) => natural(one.title, other.title)),
    ),
    el("p", {class: "lead"}, ...(known ? standing(known) : ["It is no more at the log's end."])),
    ...(known && known.quotas.length > 0
      ? [
          table(
            "Its own quotas at the log's end",
            ["Flavor", "Resource", "nominalQuota", "borrowingLimit", "lendingLimit"],
            known.quotas.map((one) => [
              one.flavor,
              one.resource,
              amount(one.nominal, one.resource),
              amount(one.borrowingLimit, one.resource),
              amount(one.lendingLimit, one.resource),
            ]),
          ),
        ]
      : []),
    el("h3", {}, "ClusterQueues"),
    known ? queuesOf(known) : "",
    el(
      "section",
      {"aria-labelledby": "changes"},
      el("h3", {id: "changes"}, "Changes"),
      changesTable("Changes of its quotas and weight", history.rows),
    ),
  );
}
