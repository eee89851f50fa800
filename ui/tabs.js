// A choice among a few, as links.

import {hashOf, withLog} from "./address.js";
import {el} from "./dom.js";

/** @typedef {{title: string, to: import("./address").Address, current: boolean}} Tab */

/** @param {Tab[]} entries @param {...import("./dom").Child} before */
export function tabs(entries, ...before) {
  return el(
    "p",
    {class: "choices"},
    ...before,
    ...entries.flatMap(({title, to, current}) => [
      el("a", {class: "tab", href: hashOf(withLog(to)), "aria-current": current ? "true" : undefined}, title),
      " ",
    ]),
  );
}
