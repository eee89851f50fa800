// What stands below each view: its link, and the command that prints the same.

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

/** Shows the actions of a view. @param {string[]} commands lines of a shell */
export function showActions(commands) {
  byId("actions").replaceChildren(
    el("button", {type: "button", click: () => copy(location.href, "the link")}, "Copy link"),
    el("button", {type: "button", click: () => copy(commands.join("\n"), "the command")}, "Copy as command"),
    el("code", {class: "command", tabindex: 0, "aria-label": "The command that prints the same"}, commands.join("\n")),
  );
}
