// The log: events as a table, the newest first, filtered by the terms of `log cat --where`.

import {hashOf, withLog} from "./address.js";
import {command, linkAndDigest, plainMarkdown, showActions} from "./commands.js";
import {el, table} from "./dom.js";
import {aboutOf, changesOf, openFact} from "./facts.js";
import {ask} from "./server.js";
import {show} from "./times.js";

/** @typedef {import("./main").ViewContext} ViewContext */

const pageEvents = 200;

/** @param {any} event */
function row(event) {
  return [
    el("button", {type: "button", class: "chip", "data-seq": event.seq, click: () => openFact(event.seq)}, event.seq),
    show(event.logTime),
    event.fact,
    event.source,
    aboutOf(event),
    saidOf(event),
  ];
}

/** What an event changed, or why a write was sent. @param {any} event */
function saidOf(event) {
  return event.changed ?? event.reason?.text ?? "";
}

/** A sentence, and the newest events as a table. @param {ViewContext} context @param {string} where @param {any[]} events */
function paragraph({log}, where, events) {
  const cells = (/** @type {unknown[]} */ words) => `| ${words.map(plainMarkdown).join(" | ")} |`;
  const rows = events
    .slice(0, 20)
    .map((event) => cells([event.seq, event.logTime, event.fact, event.source, aboutOf(event), saidOf(event)]));
  return [
    `The newest ${rows.length} events${where ? ` where ${plainMarkdown(where)}` : ""}. ${linkAndDigest(log.chain)}`,
    "",
    "| Seq | Time | Fact | Source | About | Change |",
    "|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

/** @param {ViewContext} context */
export async function logView(context) {
  const {root, address, signal} = context;
  const where = address.where ?? "";
  const commands = [command("log", "cat", ...(where ? ["--where", where] : []), "--last", String(pageEvents))];
  showActions({commands});
  const field = el("input", {
    id: "where",
    name: "where",
    value: where,
    size: 60,
    spellcheck: "false",
    placeholder: "kind=Node (cluster=c2 or name~/^gpu-/) time>14:00",
    "aria-describedby": "where-help",
  });
  const form = el(
    "form",
    {
      submit: (event) => {
        event.preventDefault();
        location.hash = hashOf(withLog({view: "log", where: field.value}));
      },
    },
    el("label", {for: "where"}, "Where "),
    field,
    " ",
    el("button", {}, "Show"),
    el(
      "p",
      {id: "where-help", class: "note"},
      "kind, cluster, namespace and name with = != ~ (contains, or /REGEXP/) !~; seq and time with = != < <= > >=. A ",
      "word or /REGEXP/ alone is searched in the whole event. All must hold; or and ( ) join them otherwise.",
    ),
  );
  const body = el("div", {});
  root.replaceChildren(el("h2", {}, "Log"), form, body);

  /** @type {any[]} */
  const events = [];
  /** @type {{from: string, to: string} | undefined} */
  let next = {from: "", to: ""};
  const more = async () => {
    if (!next) return;
    const answer = await ask("log/cat", {...next, where, last: pageEvents, output: "json"}, signal);
    const lines = String(answer.text)
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    const changes = await changesOf(
      lines.map((event) => event.seq),
      signal,
    );
    for (const event of lines) if (changes[event.seq]) event.changed = changes[event.seq];
    events.push(...lines.reverse());
    next = answer.next;
    showActions({
      commands,
      name: "events",
      json: events,
      markdown: () => paragraph(context, where, events),
      csv: () => [
        ["seq", "time", "fact", "source", "about", "change"],
        ...events.map((event) => [event.seq, event.logTime, event.fact, event.source, aboutOf(event), saidOf(event)]),
      ],
    });
    body.replaceChildren(
      events.length
        ? table(
            `Events, the newest first${next ? "" : ": all of them"}`,
            ["Seq", "Time", "Fact", "Source", "About", "Change"],
            events.map(row),
          )
        : el("p", {}, next ? "None among the newest events." : "No event is so."),
      ...(next ? [el("button", {type: "button", id: "older", click: () => context.run(more)}, "Older events")] : []),
    );
  };
  await more();
}
