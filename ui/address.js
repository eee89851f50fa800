// The state of the page is in its URL, behind the #: which view, of what, at which moment, and of which log (a seq and
// the digest of the hash chain there). The part behind the # is sent to no server.

/** @typedef {Record<string, string>} Address */

/** @returns {Address} */
export function readAddress() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** @param {Address} address */
export function hashOf(address) {
  const kept = Object.entries(address).filter(([, value]) => value !== "");
  return "#" + new URLSearchParams(kept).toString();
}

/** Goes somewhere: a new entry of the browser's history. @param {Address} address */
export function goTo(address) {
  location.hash = hashOf(address);
}

/** Goes to the same view with other values: an entry, so that Back undoes it. @param {Address} changes */
export function goWith(changes) {
  goTo({...readAddress(), ...changes});
}

/** Notes where the person is now as a new entry, of what is shown already. @param {Address} changes */
export function enterInAddress(changes) {
  history.pushState(null, "", hashOf({...readAddress(), ...changes}));
}

/** Notes where the person is now, without an entry. @param {Address} changes */
export function noteInAddress(changes) {
  history.replaceState(null, "", hashOf({...readAddress(), ...changes}));
}

/** What the person chose for all views. */
const choices = ["zone", "theme", "amounts"];

/**
 * An address of another view of the same log.
 * @param {Address} address
 */
export function withLog(address) {
  const now = readAddress();
  const kept = [...choices, ...(now.seq && now.chain ? ["seq", "chain"] : [])];
  return {...address, ...Object.fromEntries(kept.map((name) => [name, now[name] ?? ""]))};
}
