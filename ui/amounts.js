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

/**
 * Bytes get the largest binary suffix that leaves at least 1, with one decimal below 100. Anything else keeps its value:
 * thousandths become decimals. The commands print the same.
 * @param {number} value @param {string} resource
 */
function readable(value, resource) {
  const size = Math.abs(value);
  if (!isBytes(resource) || size < 1024) return String(Number(value.toFixed(3)));
  const names = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
  let unit = 1024,
    name = 0;
  for (; name + 1 < names.length && size >= unit * 1024; ++name) unit *= 1024;
  const tenths = Math.round((size * 10) / unit);
  const digits = tenths >= 1000 || tenths % 10 === 0 ? Math.floor((tenths + 5) / 10) : tenths / 10;
  return `${value < 0 ? "-" : ""}${digits}${names[name]}`;
}

/** An amount as a person reads it. @param {string | null | undefined} text of the server @param {string} resource */
export function amountText(text, resource) {
  if (text === null || text === undefined) return "none";
  const value = amountOf(text);
  const plain = isBytes(resource) ? Number.isFinite(value) : Math.abs(value) < 1e6 && !/[nu]$/.test(text);
  return plain && !shown.exact ? readable(value, resource) : text;
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
  return `${difference > 0 ? "+" : ""}${readable(difference, resource)}`;
}
