// Links to what is in the super cluster pool, and its tables.

import {hashOf, withLog} from "./address.js";
import {amountText} from "./amounts.js";
import {el, table} from "./dom.js";
import {stateWords} from "./fleet.js";
import {holds} from "./saved.js";
import {show} from "./times.js";

/** @typedef {import("./page_answers").Pool} Pool */

/** A link, where there is more to see of it. @param {Record<string, string>} address @param {string} text */
export function poolLink(address, text) {
  if (!holds(address)) return el("span", {}, text);
  return el("a", {href: hashOf(withLog({view: "pool", ...address}))}, text);
}

/** @param {Record<string, string>} amounts */
export function amountsText(amounts) {
  return Object.entries(amounts)
    .map(([resource, amount]) => `${resource} ${amountText(amount, resource)}`)
    .join(", ");
}

/** @param {Record<string, number>} placements */
export function placementsText(placements) {
  return (
    Object.entries(placements)
      .map(([id, slices]) => `${id} ${slices}`)
      .join(", ") || "none"
  );
}

/** @param {string} caption @param {number} leftOut */
function captionOf(caption, leftOut) {
  return leftOut > 0 ? `${caption}, and ${leftOut} more` : caption;
}

/** @param {Pool} pool */
export function superClusterTable(pool) {
  return table(
    "Super clusters at the log's end",
    ["Super cluster", "State", "Member", "Held", "Of", "Namespaces"],
    pool.superClusters.map((one) => [
      poolLink({superCluster: one.id}, one.id),
      stateWords([one.state, ...(one.overflowing ? ["overflowing"] : [])]),
      one.cluster === null
        ? "no member has this id"
        : el("a", {href: hashOf(withLog({view: "cluster", cluster: one.cluster}))}, one.cluster),
      amountsText(one.held) || "nothing",
      amountsText(one.accepted) || "not known yet",
      one.namespaces,
    ]),
  );
}

/** @param {Pool} pool */
export function tenantTable(pool) {
  return table(
    "Tenants at the log's end",
    ["Tenant", "State", "Slices", "Limit", "Namespaces", "Pods", "Pods that wait"],
    pool.tenants.map((one) => [
      poolLink({tenant: one.tenant}, one.tenant),
      stateWords([one.state]),
      amountsText(one.slices),
      amountsText(one.limit) || "none",
      one.namespaces,
      one.pods,
      one.waiting,
    ]),
  );
}

/** @param {Pool} pool */
export function namespaceTable(pool) {
  return table(
    captionOf("Namespaces at the log's end, those that lack something first", pool.namespacesLeftOut),
    ["Namespace", "State", "Slices", "Of", "Where", "Pods", "What is missing"],
    pool.namespaces.map((one) => {
      const namespace = `${one.tenant}/${one.namespace}`;
      return [
        poolLink({namespace}, namespace),
        stateWords(one.states),
        one.slices,
        one.expected,
        placementsText(one.placements),
        one.waiting > 0 ? `${one.pods}, ${one.waiting} wait` : one.pods,
        one.reason ?? "nothing",
      ];
    }),
  );
}

/** @param {string} caption @param {Pool} pool */
export function podTable(caption, pool) {
  return table(
    captionOf(caption, pool.podsLeftOut),
    ["Pod", "Super cluster", "Waits since", "What is missing"],
    pool.pods.map((one) => {
      const pod = `${one.tenant}/${one.namespace}/${one.pod}`;
      return [
        poolLink({pod}, pod),
        one.superCluster === null ? "none" : poolLink({superCluster: one.superCluster}, one.superCluster),
        one.waitsSince ? show(one.waitsSince) : "",
        one.reason ?? "nothing",
      ];
    }),
  );
}
