// Follows a log that grows: the server says that there is more, the views are asked again.

import {byId, say} from "./dom.js";
import {Refusal, addressOf, request} from "./server.js";

const pause = 2000; // ms between two times that the views are asked again, and that a server is tried

/** @type {AbortController | undefined} */
let following;
/** @type {number | undefined} */
let planned;

/** @param {string} text @param {boolean} pressed */
function showState(text, pressed) {
  const button = byId("follow");
  button.textContent = text;
  button.setAttribute("aria-pressed", String(pressed));
}

/** @param {() => void} grown */
function plan(grown) {
  planned ??= window.setTimeout(() => {
    planned = undefined;
    if (following) grown();
  }, pause);
}

/**
 * Reads Server-Sent Events. It is no EventSource, because that sends no token.
 * @param {ReadableStream<Uint8Array>} body @param {(version: string) => void} grow
 * @returns {Promise<boolean>} whether the server said that it ends the stream, so that it judges the token again
 */
async function readVersions(body, grow) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return false;
    text += decoder.decode(value, {stream: true});
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(event) ?? [];
      if (name === "version") grow(data ?? "");
      if (name === "end") {
        void reader.cancel();
        return true;
      }
    }
  }
}

/** @param {AbortSignal} signal @param {() => void} grown */
async function follow(signal, grown) {
  /** @type {string | undefined} the version that the server reported last */
  let known;
  while (!signal.aborted) {
    try {
      const response = await request(addressOf("ui/api/live", {}), signal);
      if (response.status === 403) throw new Refusal((await response.text()).trim());
      if (!response.ok || !response.body) throw new TypeError(`answered ${response.status}`);
      const ended = await readVersions(response.body, (version) => {
        showState("Pause", true);
        if (known !== undefined && known !== version) plan(grown);
        known = version;
      });
      if (ended) continue;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refusal) {
        end();
        return say(error.message);
      }
    }
    // What came meanwhile is asked for when the server is back; until then it is said that it is away.
    if (known !== "") plan(grown);
    known = "";
    showState("Pause (no answer)", true);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** @param {() => void} grown what is done when the log has grown */
function begin(grown) {
  following = new AbortController();
  showState("Pause", true);
  void follow(following.signal, grown);
}

function end() {
  following?.abort();
  following = undefined;
  showState("Follow", false);
}

/** Makes the button follow and pause. @param {() => void} grown */
export function followOnDemand(grown) {
  byId("follow").addEventListener("click", () => {
    if (following) end();
    else begin(grown);
    say(following ? "Following the log." : "Paused.");
  });
}
