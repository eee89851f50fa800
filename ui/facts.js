// Chips that name an event, and the dialog that shows it with its record.

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

/** Opens the record of an event. @param {number} seq */
export async function openFact(seq) {
  try {
    const answer = await ask("log/cat", {from: `seq:${seq}`, to: `seq:${seq}`, raw: "true", output: "json"});
    const record = answer.text ? JSON.parse(answer.text) : null;
    if (!record) return openDialog(`Event ${seq}`, el("p", {}, "The log no longer keeps this event: it was pruned."));
    const changed = (await changesOf([seq]))[seq];
    openDialog(
      `Event ${seq}`,
      changed ? el("p", {class: "lead"}, changed) : null,
      el("p", {}, `${record.fact} ${aboutOf(record)}, of ${record.source}, ${show(record.logTime)}`),
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
