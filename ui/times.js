// Times: RFC 3339 with nanoseconds in answers and addresses, milliseconds where something is drawn.

/** @typedef {"utc" | "local" | "relative"} Zone */

/** @type {{zone: Zone, end: number}} how times are shown, and the log's end in milliseconds */
const shown = {zone: "utc", end: 0};

/** @param {Zone} zone */
export function setZone(zone) {
  shown.zone = zone;
}
/** @param {number} ms */
export function setEnd(ms) {
  shown.end = ms;
}

/** The log's end in ms. */
export function logEnd() {
  return shown.end;
}

/** Milliseconds with fractions. @param {string} text RFC 3339 */
export function msOf(text) {
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? "";
  const whole = Date.parse(text.replace(/\.\d+/, ""));
  return whole + Number(`0.${fraction || 0}`) * 1000;
}

/**
 * Nanoseconds, exact: of two events a nanosecond apart milliseconds in a double are the same.
 * @param {string} text RFC 3339
 */
export function nsOf(text) {
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? "";
  return BigInt(Date.parse(text.replace(/\.\d+/, ""))) * 1000000n + BigInt(fraction.slice(0, 9).padEnd(9, "0"));
}

/** The order of two times. @param {string} a @param {string} b RFC 3339 */
export function compareTimes(a, b) {
  const difference = nsOf(a) - nsOf(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Whether it names a moment by itself, and not one before a log's end or by a seq. @param {string | undefined} text */
export function isAbsolute(text) {
  return /^\d{4}-\d\d-\d\d[Tt ][^ ]*(?:[Zz]|[+-]\d\d:\d\d)$/.test(text ?? "");
}

/** Milliseconds of a duration as the server writes it: 1m30s. @param {string} text */
export function durationMs(text) {
  const units = /** @type {Record<string, number>} */ ({h: 3600e3, m: 60e3, s: 1e3, ms: 1, µs: 1e-3, ns: 1e-6});
  return [...text.matchAll(/([\d.]+)(h|ms|m|µs|ns|s)/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ""] ?? 0),
    0,
  );
}

/** RFC 3339 to the millisecond. @param {number} ms */
export function textOf(ms) {
  return new Date(Math.round(ms)).toISOString();
}

/** Minutes and hours: "1h 23m 4s". @param {number} ms */
export function spanText(ms) {
  const sign = ms < 0 ? "-" : "";
  let left = Math.abs(ms) / 1000;
  if (left < 60) return `${sign}${Number(left.toFixed(3))}s`;
  const parts = [];
  for (const [name, size] of /** @type {[string, number][]} */ ([
    ["d", 86400],
    ["h", 3600],
    ["m", 60],
  ])) {
    const count = Math.floor(left / size);
    if (count > 0) parts.push(`${count}${name}`);
    left -= count * size;
  }
  if (Math.floor(left) > 0) parts.push(`${Math.floor(left)}s`);
  return sign + parts.join(" ");
}

/** @param {number} value @param {number} [width] */
function padded(value, width = 2) {
  return String(value).padStart(width, "0");
}

/** The time as the person wants it, always with its zone. @param {number | string} time ms or RFC 3339 */
export function show(time) {
  const ms = typeof time === "number" ? time : msOf(time);
  if (!Number.isFinite(ms)) return "-";
  if (shown.zone === "relative") {
    const before = shown.end - ms;
    return Math.abs(before) < 1
      ? "the log's end"
      : `${spanText(before)} ${before > 0 ? "before" : "after"} the log's end`;
  }
  if (shown.zone === "utc") return new Date(ms).toISOString().replace("T", " ").replace("Z", " UTC");
  const date = new Date(ms);
  const offset = -date.getTimezoneOffset();
  const zone = `${offset < 0 ? "-" : "+"}${padded(Math.floor(Math.abs(offset) / 60))}:${padded(Math.abs(offset) % 60)}`;
  return (
    `${date.getFullYear()}-${padded(date.getMonth() + 1)}-${padded(date.getDate())} ${padded(date.getHours())}:` +
    `${padded(date.getMinutes())}:${padded(date.getSeconds())}.${padded(date.getMilliseconds(), 3)} ${zone}`
  );
}

/** A label of a time axis that spans `span` ms. @param {number} ms @param {number} span */
export function axisTime(ms, span) {
  if (shown.zone === "relative") return spanText(Math.round((ms - shown.end) / 1000) * 1000);
  const date = new Date(ms);
  const utc = shown.zone === "utc";
  const [month, dayOfMonth, hour, minute] = utc
    ? [date.getUTCMonth(), date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes()]
    : [date.getMonth(), date.getDate(), date.getHours(), date.getMinutes()];
  const day = `${padded(month + 1)}-${padded(dayOfMonth)}`;
  const clock = `${padded(hour)}:${padded(minute)}`;
  if (span > 2 * 86400e3) return `${day} ${clock}`;
  return span > 15 * 60e3 ? clock : `${clock}:${padded(utc ? date.getUTCSeconds() : date.getSeconds())}`;
}

/** The name of the zone for an axis. */
export function zoneName() {
  return shown.zone === "utc"
    ? "UTC"
    : shown.zone === "relative"
      ? "before the log's end"
      : Intl.DateTimeFormat().resolvedOptions().timeZone;
}
