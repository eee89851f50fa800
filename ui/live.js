// Follows a log that grows: the server says that there is more, the views are asked again.

import {byId, say} from "./dom.js";
import {addressOf} from "./server.js";

const pause = 2000; // ms between two times that the views are asked again

/** @type {EventSource | undefined} */
let source;
/** @type {number | undefined} */
let planned;

/** @param {string} text @param {boolean} pressed */
function showState(text, pressed) {
  const button = byId("follow");
  button.textContent = text;
  button.setAttribute("aria-pressed", String(pressed));
}

/** @param {() => void} grown what is done when the log has grown */
function begin(grown) {
  let first = true;
  source = new EventSource(addressOf("ui/api/live", {}));
  source.addEventListener("version", () => {
    showState("Pause", true);
    // The first one says where the log is now.
    if (!first && planned === undefined)
      planned = window.setTimeout(() => {
        planned = undefined;
        if (source) grown();
      }, pause);
    first = false;
  });
  source.addEventListener("error", () => {
    showState("Pause (no answer)", true);
    first = false; // what came meanwhile is asked for when the server is back
  });
  showState("Pause", true);
}

function end() {
  source?.close();
  source = undefined;
  showState("Follow", false);
}

/** Makes the button follow and pause. @param {() => void} grown */
export function followOnDemand(grown) {
  byId("follow").addEventListener("click", () => {
    if (source) end();
    else begin(grown);
    say(source ? "Following the log." : "Paused.");
  });
}
