// The bearer token that a hub asks for: asked of the person once, kept as long as this tab.

import {byId} from "./dom.js";

const key = "fairlead.token";
// Not Authorization: kubectl and the API server's service proxy take that one for themselves.
const header = "Fairlead-Authorization";

let token = kept();
/** @type {Promise<boolean> | undefined} */
let asking;

function kept() {
  try {
    return sessionStorage.getItem(key) ?? "";
  } catch {
    return ""; // a browser that keeps nothing: asked again on each visit
  }
}

/** @param {string} given */
function keep(given) {
  token = given;
  try {
    sessionStorage.setItem(key, given);
  } catch {
    /* the same */
  }
}

/** The token that requests carry now; empty: none. */
export function currentToken() {
  return token;
}

/** The headers of a request. @returns {Record<string, string>} */
export function authorization() {
  return token ? {[header]: `Bearer ${token}`} : {};
}

/** Shows the button by which another token is given. */
export function offerToken() {
  byId("token").hidden = false;
}

/**
 * Asks for a token. Of several questions at a time one is put.
 * @param {string} why one sentence
 * @returns {Promise<boolean>} whether one was given
 */
export function askToken(why) {
  asking ??= ask(why).finally(() => (asking = undefined));
  return asking;
}

/** @param {string} why @returns {Promise<boolean>} */
function ask(why) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("token-dialog"));
  const input = /** @type {HTMLInputElement} */ (byId("token-value"));
  byId("token-why").textContent = why;
  input.value = "";
  offerToken();
  return new Promise((resolve) => {
    byId("token-form").onsubmit = (event) => {
      event.preventDefault();
      keep(input.value.trim());
      dialog.close("given");
    };
    dialog.onclose = () => {
      input.value = "";
      resolve(dialog.returnValue === "given");
    };
    dialog.returnValue = "";
    dialog.showModal();
    input.focus();
  });
}
