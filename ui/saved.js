// A page that was saved as a file (`fairlead serve --save`): its answers are in the document, and nothing is asked.

import {msOf} from "./times.js";

/** @typedef {Record<string, any>} Answer */
/**
 * What engine/main/saved_answers.h wrote.
 * @typedef {object} Saved
 * @property {string} queue empty: none @property {string} namespace of a tenant; empty: none
 * @property {Answer | null} pool @property {Answer} [pods] of the namespace
 * @property {string} from @property {string} to
 * @property {Answer} log @property {Answer} overview @property {Answer} hour @property {Answer} diff
 * @property {Answer} proof
 * @property {Answer[]} series
 * @property {Record<string, Answer>} history by object
 * @property {Record<string, Record<string, Answer>>} why by object and time
 * @property {Record<string, Record<string, Answer>>} whyNot the same
 * @property {Record<string, Answer>} events by terms
 * @property {Record<string, string>} records by seq @property {Record<string, string>} changes by seq
 * @property {Answer | null} waiting in the queue at the end @property {Record<string, Answer>} waits by Workload
 * @property {Answer | null} depth of the queue
 * @property {Record<string, Answer>} times by seq @property {Record<string, Answer>} suppressed by cluster
 */

/** @returns {Saved | null} */
function read() {
  const element = document.getElementById("answers");
  return element ? JSON.parse(element.textContent ?? "") : null;
}

/** The answers of this file; null on a page with a server. */
export const saved = read();

/** What to say of a question that the file has no answer to. */
export function notSaved() {
  return (
    `This file holds only answers about ${saved?.queue || saved?.namespace} from ${saved?.from} to ${saved?.to}: ` +
    "ask this one with the command below, or with `fairlead serve`."
  );
}

/** The moments of an object about which the file has answers; null on a page with a server.
 *  @param {string} object "QUEUE FLAVOR RESOURCE" or "multikueueconfig/NAME" */
export function savedMoments(object) {
  return saved ? Object.keys(saved.why[object] ?? {}).sort((a, b) => msOf(a) - msOf(b)) : null;
}

/**
 * An answer for a span within that of the file: the steps are all there, and the page draws a part of them.
 * @param {Answer | undefined} answer @param {Record<string, unknown>} asked
 */
function withinSpan(answer, {from, to}) {
  if (!answer || !saved) return undefined;
  const begin = String(from || saved.from),
    end = String(to || saved.to);
  const inside = msOf(begin) >= msOf(saved.from) - 1 && msOf(end) <= msOf(saved.to) + 1;
  return inside ? {...answer, from: begin, to: end} : undefined;
}

/** @param {Saved} all @param {Record<string, any>} asked */
function seriesOf(all, asked) {
  const found = all.series.find(
    (one) =>
      (asked.queue && one.queue === asked.queue) ||
      (asked.cluster && one.cluster === asked.cluster) ||
      (asked.list && one.list === asked.list) ||
      (asked.namespace && one.namespace === asked.namespace) ||
      (asked.superCluster && one.superCluster === asked.superCluster) ||
      (asked.tenant && one.tenant === asked.tenant),
  );
  if (!found?.pairs) return found;
  const {flavor, resource} = asked;
  const pairs = found.pairs.filter(
    (/** @type {Answer} */ pair) => (!flavor || pair.flavor === flavor) && (!resource || pair.resource === resource),
  );
  return {...found, pairs};
}

/**
 * Whether there is more to see of an object of the pool: a page with a server has all, a file what it was saved about.
 * @param {Record<string, string>} asked
 */
export function holds(asked) {
  if (!saved) return true;
  return asked.pod ? asked.pod in saved.why : seriesOf(saved, asked) !== undefined;
}

/** @param {Saved} all @param {Record<string, any>} asked */
function eventsOf(all, {where = "", from = "", to = ""}) {
  const one = /^seq:(\d+)$/.exec(from)?.[1];
  if (one && from === to) return all.records[one] === undefined ? undefined : {text: all.records[one]};
  const found = all.events[where];
  return found && {text: found.text};
}

/** @param {Saved} all @param {Record<string, any>} asked */
function poolOf({pool, pods, namespace}, asked) {
  if (asked.namespace) return asked.namespace === namespace ? pods : undefined;
  if (!pool) return undefined;
  const namespaces = pool.namespaces.filter(
    (/** @type {Answer} */ one) =>
      (!asked.tenant || one.tenant === asked.tenant) && (!asked.superCluster || asked.superCluster in one.placements),
  );
  return {...pool, namespaces};
}

/**
 * The answer of the file to a question; undefined: it has none.
 * @param {string} path @param {Record<string, any>} asked @returns {any}
 */
export function savedAnswer(path, asked) {
  if (!saved) return undefined;
  const {queue = "", flavor, resource} = asked;
  const ofPool = asked.pod || asked.namespace || "";
  const object = flavor ? `${queue} ${flavor} ${resource}` : queue || ofPool;
  switch (path) {
    case "ui/api/log":
      return {...saved.log, link: null};
    case "ui/api/overview":
      return asked.buckets === 60 ? saved.hour : withinSpan(saved.overview, asked);
    case "ui/api/series":
      return withinSpan(seriesOf(saved, asked), asked);
    case "ui/api/pool":
      return poolOf(saved, asked);
    case "ui/api/changes":
      return {changes: saved.changes, times: saved.times};
    case "ui/api/suppressed":
      return withinSpan(saved.suppressed[asked.cluster], asked);
    case "ui/api/proof":
      return asked.begin ? undefined : saved.proof;
    case "audit/waiting":
      if (asked.workload) return saved.waits[asked.workload];
      return asked.queue === saved.queue && asked["as-of"] === saved.to ? (saved.waiting ?? undefined) : undefined;
    case "ui/api/waiting":
      return asked.queue === saved.queue ? withinSpan(saved.depth ?? undefined, asked) : undefined;
    case "audit/history":
      return saved.history[queue || ofPool];
    case "audit/why":
      return saved.why[object]?.[asked["as-of"]];
    case "audit/why-not":
      return saved.whyNot[object]?.[asked["as-of"]];
    case "audit/diff":
      return asked.from === saved.from && asked.to === saved.to && !queue ? saved.diff : undefined;
    case "log/cat":
      return eventsOf(saved, asked);
    default:
      return undefined;
  }
}
