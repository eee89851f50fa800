// Chips that name an event, and the dialog that shows it with its record.

import {blastLinkOf} from "./blast_link.js";
import {command} from "./commands.js";
import {el, openDialog} from "./dom.js";
import {Refusal, ask} from "./server.js";
import {show} from "./times.js";

/** What an event is about, in a few words. @param {any} event a line of `log cat` */
export function aboutOf(event) {
  if (event.name) return `${event.kind} ${event.namespace ? event.namespace + "/" : ""}${event.name}`;
  if (event.intent) return `seq ${event.intent}`;
  return event.kind ?? event.cluster ?? event.identity ?? event.deadline ?? "";
}

/**
 * What events changed, by seq: the program's words, "gpu-6: Ready -> NotReady".
 * @param {number[]} seqs @param {AbortSignal} [signal] @returns {Promise<Record<string, string>>}
 */
export async function changesOf(seqs, signal) {
  if (seqs.length === 0) return {};
  const answer = await ask("ui/api/changes", {seqs: seqs.join(",")}, signal);
  return answer.changes;
}

/**
 * The same, and of each when it was so and when the hub knew.
 * @param {number[]} seqs @param {AbortSignal} [signal]
 * @returns {Promise<{changes: Record<string, string>, times: Record<string, import("./answers").Times>}>}
 */
export async function timesOf(seqs, signal) {
  if (seqs.length === 0) return {changes: {}, times: {}};
  return ask("ui/api/changes", {seqs: seqs.join(","), times: "true"}, signal);
}

/** Since when it was so, in words. @param {import("./answers").Times} times */
export function soText({from, to, how, by}) {
  const between = from ? `between ${show(from)} and ${show(to)}` : `before ${show(to)}`;
  switch (how) {
    case "said":
      return `${show(to)}, says the API server of ${by}`;
    case "created":
      return `${show(to)}, says the API server: it was created`;
    case "answered":
      return `${between}: sent, and answered`;
    case "unseen":
      return `${between}: not seen before, its source was silent or no hub ran`;
    case "listed":
      return `${between}: seen for the first time soon after the hub started, maybe as it was listed`;
    default:
      return "the log has no other time of it, and no silence of its source then";
  }
}

/** One sentence about an event. @param {import("./answers").Times} times */
function whenText(times) {
  return `The hub knew at ${show(times.known)}. When it was so: ${soText(times)}.`;
}

/** Opens the record of an event. @param {number} seq */
export async function openFact(seq) {
  try {
    const answer = await ask("log/cat", {from: `seq:${seq}`, to: `seq:${seq}`, raw: "true", output: "json"});
    const record = answer.text ? JSON.parse(answer.text) : null;
    if (!record) return openDialog(`Event ${seq}`, el("p", {}, "The log no longer keeps this event: it was pruned."));
    const {changes, times} = await timesOf([seq]);
    const changed = changes[seq],
      when = times[seq];
    openDialog(
      `Event ${seq}`,
      changed ? el("p", {class: "lead"}, changed) : null,
      el("p", {}, `${record.fact} ${aboutOf(record)}, of ${record.source}, ${show(record.logTime)}`),
      when ? el("p", {id: "event-when"}, whenText(when)) : null,
      blastLinkOf(record),
      el("pre", {tabindex: 0, "aria-label": "The record"}, JSON.stringify(record, null, 2)),
      el("code", {class: "command"}, command("log", "cat", "--from", `seq:${seq}`, "--to", `seq:${seq}`, "--raw")),
    );
  } catch (error) {
    openDialog(`Event ${seq}`, el("p", {role: "alert"}, error instanceof Refusal ? error.message : String(error)));
  }
}

/** A chip that opens the event. @param {number} seq @param {string} text what the event is */
export function chip(seq, text) {
  return el(
    "button",
    {type: "button", class: "chip", "data-seq": seq, click: () => openFact(seq)},
    text,
    " ",
    el("small", {}, `seq ${seq}`),
  );
}
