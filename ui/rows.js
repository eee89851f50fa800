// A table of any length that sorts: only the rows in view are in the document, so that 10,000 scroll as smoothly as 10.

import {el} from "./dom.js";

/**
 * @template Row
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: Row) => import("./dom").Child | import("./dom").Child[]} cell
 * @property {(row: Row) => string | number} key what it is sorted by
 */

const rowHeight = 30; // of .long tbody tr in page.css
const shownRows = 14;
const spare = 10; // rows beside those in view, so that a fast scroll shows no gap

/** @param {string | number} a @param {string | number} b */
function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * @template Row
 * @param {object} options
 * @param {string} options.caption
 * @param {Column<Row>[]} options.columns
 * @param {Row[]} options.rows in the order of the server
 * @param {string} [options.sort] the title of a column, with a "-" before it: descending; empty: the server's order
 * @param {(sort: string) => void} [options.sorted] called with what the person chose
 */
export function longTable({caption, columns, rows, sort = "", sorted}) {
  let order = sort;
  let shown = rows;
  const body = el("tbody");
  const heads = columns.map(({title}) =>
    el("th", {scope: "col"}, el("button", {type: "button", class: "sort", click: () => choose(title)}, title)),
  );
  const region = el(
    "div",
    {class: "scroll long", tabindex: 0, role: "region", "aria-label": caption, scroll: () => request()},
    el(
      "table",
      {"aria-rowcount": rows.length + 1, "aria-colcount": columns.length},
      el("caption", {}, caption),
      el("thead", {}, el("tr", {"aria-rowindex": 1}, heads)),
      body,
    ),
  );
  region.style.maxHeight = `${(shownRows + 2) * rowHeight}px`;

  /** @param {string} title */
  function choose(title) {
    order = order === title ? `-${title}` : order === `-${title}` ? "" : title;
    sorted?.(order);
    region.scrollTop = 0;
    arrange();
  }
  function arrange() {
    const down = order.startsWith("-");
    const column = columns.find(({title}) => title === order.slice(down ? 1 : 0));
    shown = column ? [...rows].sort((a, b) => (down ? -1 : 1) * compare(column.key(a), column.key(b))) : rows;
    columns.forEach(({title}, index) => {
      heads[index]?.setAttribute("aria-sort", title !== column?.title ? "none" : down ? "descending" : "ascending");
    });
    first = -1;
    fill();
  }
  let first = -1,
    asked = false;
  function request() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      fill();
    });
  }
  /** A row without content that is as high as those which are not in the document. @param {number} count */
  function gap(count) {
    const cell = el("td", {colspan: columns.length});
    cell.style.height = `${count * rowHeight}px`;
    return count > 0 ? [el("tr", {class: "gap", "aria-hidden": "true"}, cell)] : [];
  }
  function fill() {
    const begin = Math.max(0, Math.floor(region.scrollTop / rowHeight) - spare);
    const end = Math.min(shown.length, begin + shownRows + 2 * spare);
    if (begin === first) return;
    first = begin;
    body.replaceChildren(
      ...gap(begin),
      ...shown.slice(begin, end).map((row, index) =>
        el(
          "tr",
          {"aria-rowindex": begin + index + 2},
          columns.map(({cell}) => {
            const content = cell(row);
            return el("td", {}, ...(Array.isArray(content) ? content : [content]));
          }),
        ),
      ),
      ...gap(shown.length - end),
    );
  }
  arrange();
  return region;
}
