// Follows a log that grows: the server says that there is more, the views are asked again.

import {byId, say} from "./dom.js";
import {Refusal, addressOf, request} from "./server.js";

const pause = 2000; // ms between two times that the views are asked again, and that a server is tried

/** @type {AbortController | undefined} */
let following;
/** @type {number | undefined} */
let planned;
/** What is known: held is a log that is listened to and not shown anew. */
const known = {held: false, away: false, shown: 0, newest: 0};

function showState() {
  const button = byId("follow");
  const waiting = Math.max(0, known.newest - known.shown);
  button.textContent = !following
    ? "Follow"
    : known.held
      ? `Follow (${waiting} ${waiting === 1 ? "event waits" : "events wait"})`
      : known.away
        ? "Pause (no answer)"
        : "Pause";
  button.setAttribute("aria-pressed", String(Boolean(following) && !known.held));
}

/** Notes up to which seq the page shows the log. @param {number} seq */
export function noteShown(seq) {
  known.shown = seq;
  showState();
}

/** @param {() => void} grown */
function plan(grown) {
  planned ??= window.setTimeout(() => {
    planned = undefined;
    if (following && !known.held) grown();
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
  let version;
  while (!signal.aborted) {
    try {
      const response = await request(addressOf("ui/api/live", {}), signal);
      if (response.status === 403) throw new Refusal((await response.text()).trim());
      if (!response.ok || !response.body) throw new TypeError(`answered ${response.status}`);
      const ended = await readVersions(response.body, (newest) => {
        known.away = false;
        known.newest = Number(newest) || known.newest;
        showState();
        if (version !== undefined && version !== newest) plan(grown);
        version = newest;
      });
      if (ended) continue;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refusal) {
        following = undefined;
        showState();
        return say(error.message);
      }
    }
    // What came meanwhile is asked for when the server is back; until then it is said that it is away.
    if (version !== "") plan(grown);
    version = "";
    known.away = true;
    showState();
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Makes the button follow, hold, and go on. @param {() => void} grown what is done when the log has grown */
export function followOnDemand(grown) {
  byId("follow").addEventListener("click", () => {
    if (following) {
      known.held = !known.held;
      if (!known.held && known.newest > known.shown) grown();
    } else {
      known.held = known.away = false;
      following = new AbortController();
      void follow(following.signal, grown);
    }
    showState();
    say(known.held ? "Paused. What comes is counted." : "Following the log.");
  });
}

/** Whether the page shows what comes. */
export function isFollowing() {
  return Boolean(following) && !known.held;
}
