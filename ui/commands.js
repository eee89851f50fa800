// The foot of each view: its link, the command that prints the same, and what it shows for other programs.

import {readAddress} from "./address.js";
import {el, byId, say} from "./dom.js";

/** @type {string[]} how a command names the log: an option and a path */
let place = [];

/** @param {string[]} words */
export function setPlace(words) {
  place = words;
}

/** A word of a shell. @param {string} word */
export function quoted(word) {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A command about this log. @param {...string} words */
export function command(...words) {
  return ["fairlead", ...words, ...place].map(quoted).join(" ");
}

/** @param {string} text @param {string} what */
async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied: ${what}`);
  } catch {
    say("The browser does not let this page copy: select the text instead.");
  }
}

/** A field as RFC 4180 has it; a spreadsheet must not take a name for a formula. @param {unknown} field */
function csvField(field) {
  const text = field === null || field === undefined ? "" : String(field);
  const plain = typeof field !== "number" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** @param {unknown[][]} rows */
export function csvOf(rows) {
  return rows.map((row) => row.map(csvField).join(",") + "\r\n").join("");
}

/** Text in Markdown: what would be markup is escaped. @param {unknown} text */
export function plainMarkdown(text) {
  return String(text).replace(/[\\`*_{}[\]<>#|!]/g, "\\$&");
}

/** What ends a paragraph of a post-mortem: the link, and which log it is. @param {string} chain of the log's end */
export function linkAndDigest(chain) {
  return `[The page](${location.href.replaceAll(")", "%29")}), log with chain ${chain.slice(0, 16)}.`;
}

/** Saves a file that is named with its log: the last seq and the chain there.
 *  @param {string} name @param {string} suffix @param {string} type @param {string} text */
function save(name, suffix, type, text) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  const {seq, chain} = readAddress();
  el("a", {href: url, download: `${name}${seq && chain ? `-seq${seq}-${chain}` : ""}.${suffix}`}).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/**
 * @typedef {object} Actions
 * @property {string[]} commands lines of a shell
 * @property {string} [name] of files, without a suffix
 * @property {unknown} [json] the answers that are shown; a list is had as NDJSON, too
 * @property {() => unknown[][]} [csv] rows, the first has the names of the columns
 * @property {() => string} [markdown] a paragraph
 */

/** Shows the actions of a view. @param {Actions} actions */
export function showActions({commands, name = "fairlead", json, csv, markdown}) {
  /** @param {string} text @param {() => void} click */
  const button = (text, click) => el("button", {type: "button", click}, text);
  byId("actions").replaceChildren(
    button("Copy link", () => void copy(location.href, "the link")),
    button("Copy as command", () => void copy(commands.join("\n"), "the command")),
    ...(markdown ? [button("Copy as Markdown", () => void copy(markdown(), "a paragraph in Markdown"))] : []),
    ...(csv ? [button("CSV", () => save(name, "csv", "text/csv", csvOf(csv())))] : []),
    ...(json ? [button("JSON", () => save(name, "json", "application/json", JSON.stringify(json, null, 2)))] : []),
    ...(Array.isArray(json)
      ? [
          button("NDJSON", () =>
            save(name, "ndjson", "application/x-ndjson", json.map((one) => JSON.stringify(one) + "\n").join("")),
          ),
        ]
      : []),
    el("code", {class: "command", tabindex: 0, "aria-label": "The command that prints the same"}, commands.join("\n")),
  );
}
