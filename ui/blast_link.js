// Links to what an object blocked.

import {hashOf, readAddress, withLog} from "./address.js";
import {el} from "./dom.js";

/** @type {Record<string, string>} the word of `audit blocked-by` by kind */
const subjects = {Node: "node", ClusterResourceClaim: "claim", ManagedCluster: "cluster"};

/**
 * A link to the blast radius of an object, in the span of this view.
 * @param {string} object "node/N", "claim/N", "window/N" or "cluster/N" @param {string} [text]
 */
export function blastLink(object, text = "What it blocked") {
  const {from = "", to = ""} = readAddress();
  const close = () => document.querySelector("dialog")?.close();
  return el("a", {href: hashOf(withLog({view: "blast", object, from, to})), click: close}, text);
}

/** The same for what an event is about; null where that blocks nothing. @param {{kind?: string, name?: string}} event */
export function blastLinkOf({kind = "", name = ""}) {
  const subject = subjects[kind];
  return subject ? blastLink(`${subject}/${name}`) : null;
}
