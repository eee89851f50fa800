// Kubernetes quantities as numbers, for drawing only: what is printed is the server's text.

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
