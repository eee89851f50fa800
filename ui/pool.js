// The super cluster pool: super clusters, tenants, their namespaces and the pods that wait, as they are at the log's
// end. What one of them was over time is in pool_object.js.

import {noteInAddress} from "./address.js";
import {command, linkAndDigest, plainMarkdown, showActions} from "./commands.js";
import {el} from "./dom.js";
import {namespaceView, superClusterView, tenantView} from "./pool_object.js";
import {namespaceTable, podTable, superClusterTable, tenantTable} from "./pool_tables.js";
import {saved} from "./saved.js";
import {askFolded} from "./server.js";
import {overviewOf} from "./span.js";

/** @typedef {import("./main").ViewContext} ViewContext */
/** @typedef {import("./page_answers").Pool} Pool */

/** @param {ViewContext} context @param {Pool} pool */
function paragraph({log}, pool) {
  const short = pool.namespaces.filter((one) => one.states[0] !== "steady");
  const named = short.slice(0, 10).map((one) => `${one.tenant}/${one.namespace} ${one.states.join(", ")}`);
  return (
    `**Pool**: ${pool.superClusters.length} super clusters, ${pool.tenants.length} tenants, ` +
    `${pool.namespaces.length + pool.namespacesLeftOut} namespaces, of which ${short.length} lack something` +
    `${named.length ? `: ${plainMarkdown(named.join("; "))}` : ""}; ` +
    `${pool.pods.length + pool.podsLeftOut} pods wait. ${linkAndDigest(log.chain)}`
  );
}

/** @param {ViewContext} context */
async function allOfIt(context) {
  const {root, signal, progress} = context;
  const pool = /** @type {Pool} */ (await askFolded("ui/api/pool", {}, signal, progress));
  const short = pool.namespaces.find((one) => one.states[0] !== "steady") ?? pool.namespaces[0];
  const commands = short ? [command("audit", "why", "--namespace", `${short.tenant}/${short.namespace}`)] : [];
  showActions({
    commands: commands.length ? commands : [command("audit", "quota")],
    name: "pool",
    json: pool,
    markdown: () => paragraph(context, pool),
    csv: () => [
      ["tenant", "namespace", "states", "slices", "expected", "placements", "reason", "pods", "waiting"],
      ...pool.namespaces.map((one) => [
        one.tenant,
        one.namespace,
        one.states.join(" "),
        one.slices,
        one.expected,
        JSON.stringify(one.placements),
        one.reason,
        one.pods,
        one.waiting,
      ]),
    ],
  });
  /** @param {string} id @param {string} title @param {HTMLElement} body */
  const section = (id, title, body) => el("section", {"aria-labelledby": id}, el("h3", {id}, title), body);
  root.replaceChildren(
    el("h2", {}, "Pool"),
    ...(saved
      ? [
          el(
            "p",
            {class: "note", id: "pool-left-out"},
            "This file has the pool at the end of the log. Over time it has ",
            saved.namespace ? `${saved.namespace} and what that depends on` : "none of it",
            ": save another with --pool-namespace TENANT/NAME for the rest.",
          ),
        ]
      : []),
    section("pool-namespaces", "Namespaces", namespaceTable(pool)),
    section(
      "pool-pods",
      "Pods that wait",
      pool.pods.length ? podTable("Pods without a super cluster at the log's end", pool) : el("p", {}, "No pod waits."),
    ),
    section("pool-clusters", "Super clusters", superClusterTable(pool)),
    section("pool-tenants", "Tenants", tenantTable(pool)),
  );
}

/** @param {ViewContext} context */
export async function poolView(context) {
  const {root, address, signal, progress} = context;
  const overview = await overviewOf(address, 400, signal, progress);
  if (!overview.pool) {
    root.replaceChildren(el("p", {}, "No super cluster pool was seen in this log."));
    showActions({commands: [command("audit", "quota")]});
    return;
  }
  noteInAddress(address);
  if (address.pod || address.namespace) await namespaceView(context, overview);
  else if (address.superCluster) await superClusterView(context, overview);
  else if (address.tenant) await tenantView(context, overview);
  else await allOfIt(context);
}
