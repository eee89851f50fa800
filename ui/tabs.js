// A choice among a few, as links; among many, as a list to choose from.

import {goTo, hashOf, withLog} from "./address.js";
import {el} from "./dom.js";

/** @typedef {{title: string, to: import("./address").Address, current: boolean}} Tab */

const linksMax = 24;

/** @param {Tab[]} entries @param {...import("./dom").Child} before */
export function tabs(entries, ...before) {
  return el("p", {class: "choices"}, ...before, ...(entries.length > linksMax ? [chooser(entries)] : links(entries)));
}

/** @param {Tab[]} entries */
function links(entries) {
  return entries.flatMap(({title, to, current}) => [
    el("a", {class: "tab", href: hashOf(withLog(to)), "aria-current": current ? "true" : undefined}, title),
    " ",
  ]);
}

/** @param {Tab[]} entries */
function chooser(entries) {
  return el(
    "label",
    {},
    `Of ${entries.length} `,
    el(
      "select",
      {
        id: "choose",
        change: (event) => {
          const chosen = entries[/** @type {HTMLSelectElement} */ (event.target).selectedIndex];
          if (chosen) goTo(withLog(chosen.to));
        },
      },
      entries.map(({title, current}) => el("option", {selected: current}, title)),
    ),
  );
}
