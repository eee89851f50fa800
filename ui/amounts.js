// Kubernetes quantities as numbers, for drawing, and as people read them: 547.2 for 547200m. The server's own text is
// behind each of these, and in its place where the person wants exact amounts.

import {el} from "./dom.js";

const shown = {exact: false};

/** @param {boolean} exact whether amounts are shown as the server writes them */
export function setExact(exact) {
  shown.exact = exact;
}

/** @type {Record<string, number>} */
const suffixes = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** @param {string | null} text @returns {number} NaN where there is no value */
export function amountOf(text) {
  const found = text === null ? null : /^([+-]?[0-9.]+(?:e[+-]?[0-9]+)?)([A-Za-z]*)$/.exec(text);
  return found ? Number(found[1]) * (suffixes[found[2] ?? ""] ?? NaN) : NaN;
}

/** @param {string} resource */
function isBytes(resource) {
  return resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-");
}

/** A short label of an axis. @param {number} value @param {string} resource */
export function axisLabel(value, resource) {
  const names = isBytes(resource) ? ["", "Ki", "Mi", "Gi", "Ti", "Pi"] : ["", "k", "M", "G", "T", "P"];
  const base = isBytes(resource) ? 1024 : 1000;
  let step = 0;
  while (Math.abs(value) >= base && step < names.length - 1) {
    value /= base;
    step += 1;
  }
  return `${Number(value.toPrecision(3))}${names[step]}`;
}

/** At least four digits, and a unit. @param {number} value @param {string} resource */
function short(value, resource) {
  const bytes = isBytes(resource);
  const names = bytes ? ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"] : ["", "k", "M", "G", "T", "P", "E"];
  const base = bytes ? 1024 : 1000;
  // Counts of CPUs and devices are read as plain numbers up to here; bytes never are.
  const plain = !bytes && Math.abs(value) < 1e5;
  const step = plain ? 0 : Math.floor(Math.log(Math.max(1, Math.abs(value))) / Math.log(base));
  const scaled = value / base ** Math.min(step, names.length - 1);
  const digits =
    Math.abs(scaled) >= 1000 ? scaled.toFixed(1) : scaled.toPrecision(plain && Math.abs(scaled) >= 1 ? 6 : 4);
  return `${Number(digits)}${names[Math.min(step, names.length - 1)]}`;
}

/** An amount as a person reads it. @param {string | null | undefined} text of the server @param {string} resource */
export function amountText(text, resource) {
  if (text === null || text === undefined) return "none";
  const value = amountOf(text);
  return shown.exact || Number.isNaN(value) ? text : short(value, resource);
}

/** The same as an element that has the exact one behind it. @param {string | null | undefined} text
 *  @param {string} resource */
export function amount(text, resource) {
  return el("data", {value: text ?? "none", title: text ?? undefined}, amountText(text, resource));
}

/** From one amount to another: "+400". Empty where there is none of them. @param {string | null | undefined} from
 *  @param {string | null | undefined} to @param {string} resource */
export function deltaText(from, to, resource) {
  const difference = amountOf(to ?? null) - amountOf(from ?? null);
  if (Number.isNaN(difference)) return "";
  return `${difference > 0 ? "+" : ""}${short(difference, resource)}`;
}
