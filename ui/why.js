// The why panel: the answers of `audit why` and `audit why-not` as sentences, with a chip for each fact.

import {linkAndDigest, plainMarkdown} from "./commands.js";
import {chip} from "./facts.js";
import {el} from "./dom.js";
import {msOf, show, spanText} from "./times.js";

/** @typedef {import("./answers").Why} Why */
/** @typedef {import("./answers").WhyNot} WhyNot */
/** @typedef {import("./answers").Grant} Grant */
/** @typedef {import("./dom").Child} Child */

/** @param {Why} why @returns {HTMLElement} */
function value(why) {
  const {nominal, desired, ours, unknown, base} = why.value;
  const parts = why.grants.map((grant) => `${grant.contributes} of ${grant.cluster}`);
  for (const worker of why.workers ?? [])
    if (worker.contributes) parts.push(`${worker.contributes} of ${worker.cluster}`);
  const sum = `base ${base}${parts.map((part) => ` + ${part}`).join("")}`;
  return el(
    "p",
    {class: "lead"},
    el("strong", {}, `The quota is ${nominal ?? "not set"}. `),
    !ours
      ? "No claim names it: it is left as its administrator wrote it."
      : unknown
        ? "What it should be is not known yet: no value of its clusters is accepted."
        : desired === nominal
          ? `That is what it should be: ${sum}.`
          : `It should be ${desired}: ${sum}.`,
    " ",
    why.value.queueSeq ? chip(why.value.queueSeq, "observed") : null,
  );
}

/** What became of a write. @param {import("./answers").Change} change @param {string} time */
function movedText(change, time) {
  const [before, after] = [change.old ?? "none", change.new ?? "none"];
  const outcome = change.writer === "fairlead" ? (change.answer?.outcome ?? "none") : "accepted";
  if (outcome === "accepted") return `moved from ${before} to ${after} on ${time}`;
  const said = outcome === "rejected" ? "was refused" : "has no answer yet";
  return `was ${before} when a write of ${after} was sent on ${time}, which ${said}`;
}

/** @param {Why} why */
function written(why) {
  const change = why.written;
  if (!change) return el("p", {}, "The log knows no change of it.");
  const by = (change.by ?? []).map((one) => one.manager).join(", ");
  return el(
    "p",
    {},
    `It ${movedText(change, show(change.time))}, written by `,
    change.writer === "fairlead" ? `Fairlead (${change.rule}: ${change.text}) ` : `${by || "another writer"} `,
    chip(change.seq, "write"),
    ...(change.because ?? []).flatMap((seq) => [" ", chip(seq, "because of")]),
    " ",
    change.answer?.seq ? chip(change.answer.seq, change.answer.outcome) : null,
  );
}

/** @param {import("./answers").Layer} layer @param {number} at */
function window_(layer, at) {
  if (layer.name === "none") return [];
  const left = layer.until ? msOf(layer.until) - at : 0;
  return [
    el(
      "p",
      {class: "held"},
      `${layer.name}: ${layer.text}`,
      layer.until ? `, until ${show(layer.until)}${left > 0 ? ` (${spanText(left)} from the cursor)` : ""}` : "",
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
        chip(node.seq, `node ${node.name}${node.reasons.length ? ": " + node.reasons.join(", ") : ""}`),
        " ",
      ]),
    some.length > most ? `and ${some.length - most} more` : "",
  ];
  return [
    el("p", {}, `${counting.length} of ${grant.nodes.length} nodes count. `, ...list(out, 12)),
    el("details", {}, el("summary", {}, "The nodes that count"), el("p", {}, ...list(counting, 60))),
  ];
}

/** @param {Grant} grant @param {number} at */
function grantPart(grant, at) {
  const bounding = grant.capacity.filter((capacity) => capacity.bounds);
  return el(
    "section",
    {class: "grant"},
    el("h4", {}, grant.cluster),
    el(
      "p",
      {},
      `Granted ${grant.granted} of ${grant.assigned} assigned${grant.reason ? ` (${grant.reason})` : ""}. `,
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
        `${capacity.flavor || "In all"}: ${capacity.offered} offered, ${capacity.usable} usable, `,
        `${capacity.accepted} accepted (${capacity.state}). `,
        capacity.moved
          ? `Accepted moved from ${capacity.moved.from ?? "none"} to ${capacity.moved.to} on ` +
              `${show(capacity.moved.at)} by ${capacity.moved.by}. `
          : "",
        ...capacity.because.flatMap((fact) => [chip(fact.seq, fact.changed ?? fact.text ?? "pruned"), " "]),
      ),
      ...window_(capacity.layer, at),
    ]),
    ...nodes(grant),
    grant.member
      ? el(
          "p",
          {},
          `The member is known to admit ${grant.member.confirmed}; `,
          `its work is ${grant.member.settled ? "settled" : "not settled"}. `,
          grant.member.seq ? chip(grant.member.seq, "ManifestWork") : null,
        )
      : null,
  );
}

/** The guards that keep a write or growth back, each with the time that is left. @param {WhyNot} whyNot */
function guards(whyNot) {
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
        `Undamped, with every member ready, it would be ${whyNot.undamped ?? "unknown"}; `,
        `the answer is ${whyNot.answer}.`,
      ),
      el(
        "ul",
        {},
        whyNot.guards.map((guard) =>
          el(
            "li",
            {},
            `${guard.guard}: ${guard.text}`,
            guard.until
              ? `: would end on ${show(guard.until)} unless something changes, ` +
                  `${spanText(msOf(guard.until) - at)} from here`
              : "",
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
 * @param {Why} why @param {WhyNot} whyNot
 * @returns {Child[]}
 */
export function whySentences(why, whyNot) {
  const at = msOf(why.asOf.time);
  return [
    value(why),
    written(why),
    ...unseenPart(why.unseen),
    ...guards(whyNot),
    ...why.grants.map((grant) => grantPart(grant, at)),
    ...(why.workers ?? []).map((worker) =>
      el(
        "section",
        {class: "grant"},
        el("h4", {}, worker.cluster),
        el(
          "p",
          {},
          `Counts by its ${worker.from}: ${worker.usable ?? "none"} usable, ${worker.accepted ?? "none"} accepted, `,
          `${worker.contributes ?? "none"} contributed. `,
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
      ? `It ${movedText(change, change.time)} (seq ${change.seq})` +
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
