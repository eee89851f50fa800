// Asks the server. Every number on this page comes from one of its answers.

import {notSaved, saved, savedAnswer} from "./saved.js";
import {askToken, authorization, currentToken, offerToken} from "./token.js";

/** What the server, or the way to it, said instead of an answer: one sentence for a person. */
export class Refusal extends Error {}

const parallelMax = 3;
let running = 0;
/** @type {(() => void)[]} */
const waiting = [];

/** Waits for a turn: the server answers one question at a time, and a page full of charts asks many. */
async function turn() {
  if (running >= parallelMax) await new Promise((resolve) => waiting.push(() => resolve(undefined)));
  running += 1;
}
function done() {
  running -= 1;
  waiting.shift()?.();
}

/** @typedef {Record<string, string | number | undefined | string[]>} Parameters */

/**
 * The address of an answer, relative to the page, so that it is found behind a proxy, too. Empty parameters are left
 * out: they mean the same.
 * @param {string} path for example "audit/why" @param {Parameters} parameters
 */
export function addressOf(path, parameters) {
  const url = new URL("../" + path, document.baseURI);
  for (const [name, value] of Object.entries(parameters))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== "") url.searchParams.append(name, String(one));
  return url;
}

/**
 * Sends a GET, with the token that the hub asks for.
 * @param {URL} url @param {AbortSignal} [signal]
 * @returns {Promise<Response>} any answer but 401; a Refusal is thrown where no token was given
 */
export async function request(url, signal) {
  for (;;) {
    const sent = currentToken();
    const response = await fetch(url, {headers: authorization(), signal: signal ?? null});
    if (response.status === 403) offerToken();
    if (response.status !== 401) return response;
    // Another question may have been answered with a token meanwhile.
    if (sent !== currentToken()) continue;
    const why = sent
      ? "The hub does not know this token: it has expired, its account is gone, or it is not whole."
      : "Its log is shown to accounts of its cluster.";
    if (!(await askToken(why))) throw new Refusal("This hub asks for a token, and none was given.");
  }
}

/**
 * Asks, and asks again where the server is busy.
 * @param {string} path @param {Parameters} [parameters] @param {AbortSignal} [signal]
 * @returns {Promise<any>} the answer's JSON; a Refusal is thrown instead
 */
export async function ask(path, parameters = {}, signal) {
  if (saved) {
    const answer = savedAnswer(path, parameters);
    if (answer === undefined) throw new Refusal(notSaved());
    return answer;
  }
  const url = addressOf(path, parameters);
  await turn();
  try {
    for (let tries = 0; tries < 30; ++tries) {
      const response = await request(url, signal);
      if (response.status !== 503) return await read(response);
      await new Promise((resolve) => setTimeout(resolve, 1000 * Number(response.headers.get("Retry-After") ?? 1)));
    }
    throw new Refusal("The server has been busy for half a minute. Ask again, or for less at once.");
  } catch (error) {
    if (error instanceof TypeError)
      throw new Refusal(
        "The server does not answer; try again when it runs, or follow: then the page goes on by itself.",
      );
    throw error;
  } finally {
    done();
  }
}

/** @param {Response} response */
async function read(response) {
  const text = await response.text();
  /** @type {any} */
  let answer = null;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Refusal(`The server answered ${response.status}: ${text.trim().slice(0, 200)}.`);
  }
  if (!response.ok) throw new Refusal(String(answer.error ?? text));
  return answer;
}

/**
 * Asks until the server has folded the whole log.
 * @param {string} path @param {Parameters} parameters @param {AbortSignal} signal
 * @param {(done: number, total: number) => void} progress
 */
export async function askFolded(path, parameters, signal, progress) {
  for (;;) {
    const answer = await ask(path, parameters, signal);
    if (!answer.building) return answer;
    progress(answer.building.seq, answer.building.lastSeq);
    // It waits for another one: that is not asked again at once.
    if (answer.building.seq === 0) await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
