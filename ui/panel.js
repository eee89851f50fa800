// The why panel. It is the first thing of its view and of one height, so that nothing moves while one scrubs; it scrolls
// within. What is new is spoken as one sentence and not as a whole.

import {noteInAddress, readAddress} from "./address.js";
import {el} from "./dom.js";

/** The panel shows what it showed until there is a new answer. */
export function whyPanelBox() {
  const grown = () => readAddress().why === "all";
  const panel = el("section", {class: grown() ? "why grown" : "why", id: "why", "aria-label": "Why", tabindex: 0});
  const before = document.getElementById("why");
  let top = before?.scrollTop ?? 0;
  panel.style.height = before?.style.height ?? ""; // as the person made it
  panel.append(...(before?.childNodes ?? []));
  const spoken = el("p", {class: "heard", role: "status", id: "why-said"});
  const size = el(
    "button",
    {
      type: "button",
      id: "why-size",
      "aria-pressed": String(grown()),
      "aria-controls": "why",
      click: () => {
        noteInAddress({why: grown() ? "" : "all"});
        panel.classList.toggle("grown", grown());
        size.setAttribute("aria-pressed", String(grown()));
      },
    },
    "Whole answer",
  );
  return {
    panel,
    /** The panel and what belongs to it, for the document. */
    parts: [panel, spoken],
    size,
    /** Shows an answer where the one before was being read. @param {HTMLElement[]} children @param {string} sentence */
    fill(children, sentence) {
      top = panel.scrollTop || top;
      const open = [...panel.querySelectorAll("details")].map((details) => details.open);
      panel.replaceChildren(...children);
      panel.querySelectorAll("details").forEach((details, index) => (details.open = open[index] ?? false));
      panel.scrollTop = top;
      top = 0;
      spoken.textContent = sentence;
    },
  };
}
