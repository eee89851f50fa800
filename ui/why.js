// The why panel: the answers of `audit why` and `audit why-not` as sentences, with a chip for each fact.

import {amount, amountText, deltaText} from "./amounts.js";
import {linkAndDigest, plainMarkdown} from "./commands.js";
import {timeLeft} from "./countdown.js";
import {chip} from "./facts.js";
import {el} from "./dom.js";
import {msOf, show} from "./times.js";

/** @typedef {import("./answers").QuotaWhy} Why */
/** @typedef {import("./answers").QuotaWhyNot} WhyNot */
/** @typedef {import("./answers").Grant} Grant */

/** @param {Why} why @param {string} resource */
function value(why, resource) {
  const {nominal, desired, ours, unknown, base, overbookPercent} = why.value;
  /** @param {string | undefined} text */
  const number = (text) => amountText(text, resource);
  const parts = [...why.grants, ...(why.workers ?? [])]
    .filter((part) => part.contributes)
    .map((part) => `${number(part.contributes)} of ${part.cluster}`);
  const overbooked = overbookPercent === 100 || parts.length === 0 ? "" : `, by ${overbookPercent}%`;
  const sum = `base ${number(base)}${parts.map((part) => ` + ${part}`).join("")}${overbooked}`;
  const away = deltaText(nominal, desired, resource);
  return el(
    "p",
    {class: "lead"},
    el("strong", {}, "The quota is ", nominal === null ? "not set" : amount(nominal, resource), ". "),
    ...(!ours
      ? ["No claim names it: it is left as its administrator wrote it."]
      : unknown
        ? ["What it should be is not known yet: no value of its clusters is accepted."]
        : desired === nominal
          ? [`That is what it should be: ${sum}.`]
          : ["It should be ", amount(desired, resource), ` (${away || "not set yet"}): ${sum}.`]),
    " ",
    why.value.queueSeq ? chip(why.value.queueSeq, "observed") : null,
  );
}

/**
 * What became of a write, in parts.
 * @param {import("./answers").QuotaChange} change @param {string} time
 * @param {(text: string | null) => import("./dom").Child} number
 */
function moved(change, time, number) {
  const [before, after] = [number(change.old), number(change.new)];
  const outcome = change.writer === "fairlead" ? (change.answer?.outcome ?? "none") : "accepted";
  if (outcome === "accepted") return ["moved from ", before, " to ", after, ` at ${time}`];
  const said = outcome === "rejected" ? "was refused" : "has no answer yet";
  return ["was ", before, " when a write of ", after, ` was sent at ${time}, which ${said}`];
}

/** @param {Why} why @param {string} resource */
function written(why, resource) {
  const change = why.written;
  if (!change) return el("p", {}, "The log knows no change of it.");
  const by = (change.by ?? []).map((one) => one.manager).join(", ");
  return el(
    "p",
    {},
    "It ",
    ...moved(change, show(change.time), (text) => amount(text, resource)),
    ", written by ",
    change.writer === "fairlead" ? `Fairlead (${change.rule}: ${change.text}) ` : `${by || "another writer"} `,
    chip(change.seq, "write"),
    ...(change.because ?? []).flatMap((seq) => [" ", chip(seq, "because of")]),
    " ",
    change.answer?.seq ? chip(change.answer.seq, change.answer.outcome) : null,
  );
}

/** What the panel says, in one sentence, for those who hear it. @param {Why} why @param {string} resource */
export function spoken(why, resource) {
  const {nominal, desired} = why.value;
  const wanted = desired !== null && desired !== nominal ? `, should be ${amountText(desired, resource)}` : "";
  return `${show(why.asOf.time)}: quota ${amountText(nominal, resource)}${wanted}.`;
}

/** @param {import("./answers").Layer} layer @param {number} at */
function window_(layer, at) {
  if (layer.name === "none") return [];
  return [
    el(
      "p",
      {class: "held"},
      `${layer.name}: ${layer.text}`,
      ...(layer.until ? [`, until ${show(layer.until)} (`, timeLeft(layer.until, at), ")"] : []),
      ". ",
      ...(layer.settings ?? []).flatMap((setting) =>
        setting.seq ? [chip(setting.seq, `${setting.name} ${setting.value}`), " "] : [],
      ),
    ),
  ];
}

/** Nodes that do not count, then how many do. @param {Grant} grant */
function nodes(grant) {
  if (grant.nodes.length === 0) return [];
  const counting = grant.nodes.filter((node) => node.counts);
  const out = grant.nodes.filter(
    (node) => !node.counts && !node.reasons.every((reason) => reason.startsWith("counts for flavor")),
  );
  const list = (/** @type {Grant["nodes"]} */ some, /** @type {number} */ most) => [
    ...some
      .slice(0, most)
      .flatMap((node) => [
        chip(
          node.seq,
          `node ${node.name}${node.reasons.length ? ": " + node.reasons.join(", ") : ""}` +
            (node.suppressedUntil ? ", flaps: not for growing" : ""),
        ),
        " ",
      ]),
    some.length > most ? `and ${some.length - most} more` : "",
  ];
  return [
    el("p", {}, `${counting.length} of ${grant.nodes.length} nodes count. `, ...list(out, 12)),
    el("details", {}, el("summary", {}, "The nodes that count"), el("p", {}, ...list(counting, 60))),
  ];
}

const devicesNamed = 6;

/** Pools and devices behind the amount, those that do not count with their reasons. @param {Grant} grant */
function devices({devices: pools}) {
  if (!pools) return [];
  const all = pools.flatMap((pool) => pool.devices);
  const named = (/** @type {string[]} */ names) =>
    names.slice(0, devicesNamed).join(", ") +
    (names.length > devicesNamed ? ` and ${names.length - devicesNamed} more, to ${names.at(-1)}` : "");
  return [
    el("p", {}, `${all.filter((device) => device.counts).length} of ${all.length} devices count.`),
    el(
      "ul",
      {class: "devices"},
      pools.flatMap((pool) => {
        const name = `pool ${pool.driver}/${pool.pool}`;
        /** @type {Map<string, string[]>} by why they do not count */
        const groups = new Map();
        for (const device of pool.devices) {
          const against = device.reasons.join(", ");
          groups.set(against, [...(groups.get(against) ?? []), device.name]);
        }
        return [
          ...(pool.status === "complete"
            ? []
            : [
                el(
                  "li",
                  {class: "held"},
                  `${name} is ${pool.status}: ${pool.why}; `,
                  pool.heldUntil
                    ? `what was complete counts until ${show(pool.heldUntil)}. `
                    : "nothing of it counts. ",
                  chip(pool.seq, "slice"),
                ),
              ]),
          ...[...groups].map(([against, names]) =>
            el(
              "li",
              {},
              `${against ? `not counted, ${against}: ` : ""}${name}: ${named(names)} `,
              chip(pool.seq, "slice"),
            ),
          ),
        ];
      }),
    ),
  ];
}

/** @param {Grant} grant @param {number} at @param {string} resource */
function grantPart(grant, at, resource) {
  /** @param {string} text */
  const number = (text) => amount(text, resource);
  const bounding = grant.capacity.filter((capacity) => capacity.bounds);
  return el(
    "section",
    {class: "grant"},
    el("h4", {}, grant.cluster),
    el(
      "p",
      {},
      "Granted ",
      number(grant.granted),
      " of ",
      number(grant.assigned),
      ` assigned${grant.reason ? ` (${grant.reason})` : ""}. `,
      chip(grant.claim.editedSeq, `claim ${grant.claim.name}, generation ${grant.claim.generation}`),
      grant.claim.fault ? ` The claim is wrong: ${grant.claim.fault.message}` : "",
    ),
    grant.presence
      ? el(
          "p",
          {},
          `Its capacity is known from ${grant.presence.source ?? "no source"}, which is ${grant.presence.liveness}. `,
          grant.presence.livenessSeq ? chip(grant.presence.livenessSeq, "source") : null,
          grant.presence.hold
            ? ` A loss since ${show(grant.presence.hold.since)} is held until ${show(grant.presence.hold.until)}.`
            : "",
        )
      : null,
    ...bounding.flatMap((capacity) => [
      el(
        "p",
        {},
        `${capacity.flavor || "In all"}: `,
        number(capacity.offered),
        " offered, ",
        number(capacity.usable),
        " usable, ",
        number(capacity.accepted),
        ` accepted (${capacity.state}). `,
        ...(capacity.moved
          ? [
              "Accepted moved from ",
              amount(capacity.moved.from, resource),
              " to ",
              number(capacity.moved.to),
              ` at ${show(capacity.moved.at)} by ${capacity.moved.by}. `,
            ]
          : []),
        ...capacity.because.flatMap((fact) => [chip(fact.seq, fact.changed ?? fact.text ?? "pruned"), " "]),
      ),
      ...window_(capacity.layer, at),
    ]),
    ...nodes(grant),
    ...devices(grant),
    grant.member
      ? el(
          "p",
          {},
          "The member is known to admit ",
          number(grant.member.confirmed),
          `; its work is ${grant.member.settled ? "settled" : "not settled"}. `,
          grant.member.seq ? chip(grant.member.seq, "ManifestWork") : null,
        )
      : null,
  );
}

/** The guards that keep a write or growth back, each with the time that is left. @param {WhyNot} whyNot
 *  @param {string} resource */
function guards(whyNot, resource) {
  if (whyNot.guards.length === 0) return [];
  const at = msOf(whyNot.asOf.time);
  return [
    el(
      "section",
      {class: "why-not"},
      el("h4", {}, "Why not more"),
      el(
        "p",
        {},
        "Undamped, with every member ready, it would be ",
        whyNot.undamped === null ? "unknown" : amount(whyNot.undamped, resource),
        `; the answer is ${whyNot.answer}.`,
      ),
      el(
        "ul",
        {},
        whyNot.guards.map((guard) =>
          el(
            "li",
            {},
            `${guard.guard}: ${guard.text}`,
            ...(guard.until
              ? [`: would end at ${show(guard.until)} unless something changes, `, timeLeft(guard.until, at)]
              : []),
            " ",
            guard.seq ? chip(guard.seq, guard.cluster ?? "fact") : null,
          ),
        ),
      ),
    ),
  ];
}

/** @param {import("./answers").Unseen[]} unseen */
export function unseenPart(unseen) {
  return unseen.length
    ? [
        el(
          "ul",
          {class: "unseen"},
          unseen.map((one) => el("li", {}, `Not seen: ${one.text}`)),
        ),
      ]
    : [];
}

/**
 * @param {Why} why @param {WhyNot} whyNot @param {string} resource
 * @returns {HTMLElement[]}
 */
export function whySentences(why, whyNot, resource) {
  const at = msOf(why.asOf.time);
  return [
    value(why, resource),
    written(why, resource),
    ...unseenPart(why.unseen),
    ...guards(whyNot, resource),
    ...why.grants.map((grant) => grantPart(grant, at, resource)),
    ...(why.workers ?? []).map((worker) =>
      el(
        "section",
        {class: "grant"},
        el("h4", {}, worker.cluster),
        el(
          "p",
          {},
          `Counts by its ${worker.from}: `,
          amount(worker.usable, resource),
          " usable, ",
          amount(worker.accepted, resource),
          " accepted, ",
          amount(worker.contributes, resource),
          " contributed. ",
          ...(worker.because ?? []).flatMap((fact) => [chip(fact.seq, fact.changed ?? fact.text ?? "pruned"), " "]),
        ),
        ...window_(worker.layer, at),
      ),
    ),
    el("p", {}, "In force was ", chip(why.configuration.seq, `configuration ${why.configuration.digest.slice(0, 12)}`)),
  ];
}

/**
 * A paragraph of a post-mortem: the value, its last move and what keeps it, with the link and the log's digest.
 * @param {Why} why @param {WhyNot} whyNot @param {string} name @param {string} chain of the log's end
 */
export function paragraph(why, whyNot, name, chain) {
  const {nominal, desired} = why.value;
  const change = why.written;
  const parts = [
    `**${plainMarkdown(name)}** was ${nominal ?? "not set"} at ${why.asOf.time} (seq ${why.asOf.seq})`,
    desired !== null && desired !== nominal ? `, and should have been ${desired}. ` : ". ",
    change
      ? `It ${moved(change, change.time, (text) => text ?? "none").join("")} (seq ${change.seq})` +
        (change.writer === "fairlead"
          ? `: ${plainMarkdown(`${change.rule}, ${change.text}`)}. `
          : ", by another writer. ")
      : "",
    ...whyNot.guards
      .slice(0, 3)
      .map(
        (guard) => `${plainMarkdown(`${guard.guard}: ${guard.text}`)}${guard.until ? `, until ${guard.until}` : ""}. `,
      ),
    linkAndDigest(chain),
  ];
  return parts.join("");
}
