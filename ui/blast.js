// The blast radius of an object: which workloads did not fit because of it, and which quotas it lowered.

import {hashOf, noteInAddress, withLog} from "./address.js";
import {amountText} from "./amounts.js";
import {command, linkAndDigest, plainMarkdown, showActions} from "./commands.js";
import {el, table} from "./dom.js";
import {chip} from "./facts.js";
import {counted} from "./order.js";
import {longTable} from "./rows.js";
import {ask} from "./server.js";
import {msOf, show, spanText} from "./times.js";

/** @typedef {import("./main").ViewContext} ViewContext */
/** @typedef {import("./answers").BlockedBy} BlockedBy */

/** @param {ViewContext} context */
export async function blastView(context) {
  const {root, address, signal, log} = context;
  const {object = "", from = "", to = ""} = address;
  const chooser = el(
    "form",
    {
      class: "choices",
      submit: (event) => {
        event.preventDefault();
        noteInAddress({object: /** @type {HTMLInputElement} */ (chooser.querySelector("input")).value.trim()});
        context.rerun();
      },
    },
    el("label", {}, "Object ", el("input", {id: "where", value: object, placeholder: "node/gpu-6", size: 30})),
    " ",
    el("button", {}, "Ask"),
  );
  if (!object) {
    root.replaceChildren(
      el("h2", {}, "Blast radius"),
      el("p", {}, "Which workloads did not fit because of node/NAME, claim/NAME, window/NAME or cluster/NAME?"),
      chooser,
    );
    showActions({commands: [command("audit", "blocked-by", "node/NAME")]});
    return;
  }
  const answer = /** @type {BlockedBy} */ (await ask("audit/blocked-by", {object, from, to}, signal));
  const given = Object.entries({from, to}).flatMap(([name, value]) => (value ? [`--${name}`, value] : []));
  const lost = answer.resourceSeconds.map(
    ({resource, amount}) => `${amountText(amount, resource)} ${resource} seconds`,
  );
  const summary =
    answer.workloads.length === 0
      ? "No workload waited because of it."
      : `${counted(answer.workloads.length, "workload")} did not fit because of it` +
        (lost.length ? `: ${lost.join(", ")}.` : ".");
  showActions({
    commands: [command("audit", "blocked-by", object, ...given)],
    name: `blocked-by-${object.replace(/[^A-Za-z0-9.-]+/g, "-").slice(0, 100)}`,
    json: answer,
    markdown: () => `**${plainMarkdown(object)}**: ${plainMarkdown(summary)} ${linkAndDigest(log.chain)}`,
    csv: () => [
      ["namespace", "name", "waited"],
      ...answer.workloads.map((one) => [one.namespace, one.name, Number(one.waited)]),
    ],
  });
  root.replaceChildren(
    el("h2", {}, "Blast radius of ", object),
    chooser,
    el("p", {class: "lead"}, summary),
    ...(answer.workloads.length > 0
      ? [
          longTable({
            caption: "Workloads that did not fit because of it",
            rows: answer.workloads,
            columns: [
              {
                title: "Workload",
                cell: ({namespace, name}) =>
                  el(
                    "a",
                    {href: hashOf(withLog({view: "waiting", workload: `${namespace}/${name}`, from, to}))},
                    `${namespace}/${name}`,
                  ),
                key: ({namespace, name}) => `${namespace}/${name}`,
              },
              {title: "Waited", cell: ({waited}) => spanText(Number(waited) * 1000), key: ({waited}) => Number(waited)},
            ],
          }),
        ]
      : []),
    answer.quotas.length === 0
      ? el("p", {}, "It lowered no quota.")
      : table(
          "Quotas that were lowered because of it",
          ["Time", "Queue", "Flavor", "Resource", "From", "To", "Write"],
          [...answer.quotas]
            .sort((a, b) => msOf(a.time) - msOf(b.time))
            .map((one) => [
              show(one.time),
              el(
                "a",
                {
                  href: hashOf(
                    withLog({
                      view: "queue",
                      queue: one.clusterQueue,
                      flavor: one.flavor,
                      resource: one.resource,
                      at: one.time,
                    }),
                  ),
                },
                one.clusterQueue,
              ),
              one.flavor,
              one.resource,
              amountText(one.from, one.resource),
              amountText(one.to, one.resource),
              chip(one.seq, "intent"),
            ]),
        ),
  );
}
