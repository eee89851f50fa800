// Changes of what decides a quota beside the nominalQuota: limits, weight, cohort, stopPolicy and the like.

import {amountText} from "./amounts.js";
import {chip} from "./facts.js";
import {el, table} from "./dom.js";
import {show} from "./times.js";

/** @typedef {import("./answers").SettingChange} SettingChange */

const shownMax = 500;

/** @param {unknown} value @param {string | null} [resource] of an amount that is shown to a person */
function valueText(value, resource) {
  if (value === null || value === undefined) return "none";
  if (resource && typeof value === "string") return amountText(value, resource);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The field, of a quota with its flavor and resource. @param {SettingChange} change */
export function fieldOf(change) {
  return change.flavor === null ? change.field : `${change.flavor} ${change.resource} ${change.field}`;
}

/** @param {SettingChange} change */
export function stepText(change) {
  return `${fieldOf(change)} ${valueText(change.old)} to ${valueText(change.new)}`;
}

/** @param {SettingChange} change */
function writerText(change) {
  if (change.writer === "fairlead") return change.rule ? `fairlead, ${change.rule}` : "fairlead";
  return (change.by ?? []).map((one) => `${one.manager} (${one.operation})`).join(", ") || "another writer";
}

/** A table of them, the newest first. @param {string} caption @param {SettingChange[]} changes */
export function changesTable(caption, changes) {
  if (changes.length === 0) return el("p", {}, "None in this span.");
  return table(
    changes.length > shownMax ? `${caption}: the newest ${shownMax} of ${changes.length}` : caption,
    ["Time", "Field", "Old", "New", "Writer", "Event"],
    changes
      .slice(-shownMax)
      .reverse()
      .map((change) => [
        show(change.time),
        fieldOf(change),
        valueText(change.old, change.resource),
        valueText(change.new, change.resource),
        writerText(change),
        chip(change.seq, change.writer === "fairlead" ? "intent" : "observation"),
      ]),
  );
}
