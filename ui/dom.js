// Makes elements. Text from the cluster reaches the document here, as text nodes and attribute values and in no other
// way: there is no innerHTML on this page.

/** @typedef {Node | string | number | null | undefined} Child */
/** @typedef {Record<string, string | number | boolean | EventListener | undefined>} Attributes */

/**
 * Makes an element. An attribute that is a function is a listener ("click"), `true` an attribute without a value,
 * `false` or undefined none.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  append(element, children);
  return element;
}

/**
 * The same for drawings.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(element, attributes);
  append(element, children);
  return element;
}

/**
 * Spells what shows nothing itself and changes how the rest is shown (control characters, marks of direction), as
 * engine/base/printable.h does: names come from clusters of others.
 * @param {string | number} text
 */
function printable(text) {
  return String(text).replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (mark) =>
    mark === "\n" || mark === "\t" ? mark : `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** @param {Element} element @param {Attributes} attributes */
function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : printable(value));
  }
}

/** @param {Element} element @param {(Child | Child[])[]} children */
function append(element, children) {
  for (const child of children.flat())
    if (child !== null && child !== undefined) element.append(child instanceof Node ? child : printable(child));
}

/**
 * An element of index.html.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @returns {T}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`index.html has no #${id}`);
  return /** @type {T} */ (element);
}

/**
 * A table with a caption, wide ones scroll inside of their frame.
 * @param {string} caption
 * @param {string[]} head
 * @param {(Child | Child[])[][]} rows
 */
export function table(caption, head, rows) {
  return el(
    "div",
    {class: "scroll", tabindex: 0, role: "region", "aria-label": caption},
    el(
      "table",
      {},
      el("caption", {}, caption),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          head.map((text) => el("th", {scope: "col"}, text)),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map((cells) =>
          el(
            "tr",
            {},
            cells.map((cell) => el("td", {}, ...(Array.isArray(cell) ? cell : [cell]))),
          ),
        ),
      ),
    ),
  );
}

/** Says something to a person, also to one who hears the page. @param {string} text */
export function say(text) {
  const said = byId("said");
  said.textContent = text;
  setTimeout(() => {
    if (said.textContent === text) said.textContent = "";
  }, 4000);
}

/** Opens the dialog. @param {string} title @param {...Child} body */
export function openDialog(title, ...body) {
  byId("dialog-title").textContent = title;
  byId("dialog-body").replaceChildren();
  append(byId("dialog-body"), body);
  /** @type {HTMLDialogElement} */ (byId("dialog")).showModal();
}
