// The page: which view is shown, of which log, and the keys.

import {goTo, goWith, hashOf, noteInAddress, readAddress, withLog} from "./address.js";
import {setExact} from "./amounts.js";
import {blastView} from "./blast.js";
import {clusterView} from "./cluster.js";
import {cohortView} from "./cohort.js";
import {setPlace} from "./commands.js";
import {diffView} from "./diff.js";
import {byId, el, openDialog, table} from "./dom.js";
import {fleetView} from "./fleet.js";
import {keepFocus} from "./focus.js";
import {followOnDemand, noteShown} from "./live.js";
import {listView} from "./list.js";
import {logView} from "./log.js";
import {poolView} from "./pool.js";
import {proofView, verdictOf} from "./proof.js";
import {queueView} from "./queue.js";
import {saved} from "./saved.js";
import {Refusal, ask} from "./server.js";
import {fixMoments} from "./span.js";
import {askToken} from "./token.js";
import {compareTimes, msOf, setEnd, setZone, show} from "./times.js";
import {usageView} from "./usage.js";
import {waitingView} from "./waiting.js";
import {whatIfView} from "./whatif.js";

/** @typedef {import("./page_answers").Log} LogAnswer */
/**
 * @typedef {object} ViewContext
 * @property {HTMLElement} root
 * @property {import("./address").Address} address
 * @property {AbortSignal} signal ends with the view
 * @property {LogAnswer} log
 * @property {(done: number, total: number) => void} progress of folding the log
 * @property {() => void} rerun shows the view again, with what is in the address now
 * @property {(work: () => Promise<void>) => Promise<void>} run does work of the view, and shows what it is refused
 * @property {(verdict: string) => void} badge
 */

/** @type {[name: string, title: string, view: (context: ViewContext) => Promise<void>][]} */
const views = [
  ["fleet", "Fleet", fleetView],
  ["queue", "Queue", queueView],
  ["cluster", "Cluster", clusterView],
  ["list", "Worker list", listView],
  ["diff", "Two cursors", diffView],
  ["whatif", "What if", whatIfView],
  ["log", "Log", logView],
  ["proof", "Proof", proofView],
  ["cohort", "Cohort", cohortView],
  ["pool", "Pool", poolView],
  // These have no key: there are ten digits.
  ["waiting", "Waiting", waitingView],
  ["blast", "Blast radius", blastView],
  ["usage", "Use", usageView],
];
/** @type {[keys: string, does: string][]} */
const keyMap = [
  ["1 to 9, 0", "the views in their order"],
  ["?", "this table"],
  ["/", "to the filter"],
  ["+ -", "zoom in and out, around the cursor"],
  ["w", "the whole log"],
  ["f", "follow the log, or pause"],
  ["m", "put the second cursor where the first one is, or take it away"],
  ["c", "to the cursor of a queue or a worker list"],
  ["← →", "at the cursor: the step before, the next step"],
  ["PgUp PgDn", "at the cursor: an hour on, an hour back"],
  ["Home End", "at the cursor: the beginning, the end"],
  ["← → PgUp PgDn Home End", "at the ruler of the fleet: another span"],
];

/** @type {AbortController} */
let showing = new AbortController();
/** @type {LogAnswer | undefined} */
let log;

/** Which log this is, and whether it is the one that the address was made for. */
async function readLog() {
  const {seq, chain} = readAddress();
  log = /** @type {LogAnswer} */ (await ask("ui/api/log", seq && chain ? {seq, chain} : {}));
  setPlace(log.place);
  noteShown(log.last_seq);
  if (log.last_time) setEnd(msOf(log.last_time));
  const held = saved
    ? `Saved as a file: ${saved.queue || saved.namespace} from ${show(saved.from)} to ${show(saved.to)}, of `
    : "";
  byId("history").textContent =
    log.last_seq === 0
      ? `${log.place.join(" ")}: empty`
      : `${held}${log.place.join(" ")}: seq ${log.first_seq} to ${log.last_seq}, ` +
        `until ${show(log.last_time ?? "")}, chain ${log.chain.slice(0, 12)}`;
  /** @type {Record<string, string>} */
  const warnings = {
    other:
      `This link was made for another log: at seq ${seq} that one had the chain ${chain}, this one has not. ` +
      "Times and seqs may mean something else here.",
    behind: `This log ends before the link was made: it goes to seq ${log.last_seq}, the link to seq ${seq}.`,
    pruned: `What the link was made for was pruned: this log begins at seq ${log.first_seq}.`,
  };
  const warning = byId("other-history");
  warning.textContent = warnings[log.link ?? ""] ?? "";
  warning.hidden = warning.textContent === "";
  if (log.last_seq > 0 && (log.link === null || log.link === "same"))
    noteInAddress({seq: String(log.last_seq), chain: log.chain.slice(0, 16)});
  return log;
}

/** @param {string} current */
function showNavigation(current) {
  byId("views").replaceChildren(
    ...views.map(([name, title], index) =>
      el(
        "a",
        {
          href: hashOf(withLog({view: name})),
          "aria-current": name === current ? "page" : undefined,
          "aria-keyshortcuts": index < 10 ? (index + 1) % 10 : undefined,
          "data-view": name,
        },
        title,
      ),
    ),
  );
}

/** @param {string} verdict */
function badge(verdict) {
  const link = document.querySelector('[data-view="proof"]');
  if (!link) return;
  const texts = /** @type {Record<string, string>} */ ({good: "Proof ✔", bad: "Proof ✘", running: "Proof …"});
  link.textContent = texts[verdict] ?? "Proof";
  link.className = verdict;
}

/** @param {HTMLElement} root @param {unknown} error */
function showRefusal(root, error) {
  root.querySelector(".refusal")?.remove();
  root.prepend(
    el(
      "div",
      {class: "alert refusal", role: "alert"},
      el("p", {}, error instanceof Refusal ? error.message : String(error)),
      el("button", {type: "button", click: () => void showView()}, "Try again"),
    ),
  );
}

async function showView() {
  showing.abort();
  const {signal} = (showing = new AbortController());
  const address = readAddress();
  for (const one of settings) one.follow(address);
  const found = views.find(([name]) => name === (address.view || "fleet"));
  const root = byId("view");
  root.setAttribute("aria-busy", "true");
  const run = async (/** @type {() => Promise<void>} */ work) => {
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) showRefusal(root, error);
    }
  };
  let whole = false;
  await run(async () => {
    if (!found) throw new Refusal(`No view is called "${address.view}". Choose one above.`);
    const [name, title, view] = found;
    showNavigation(name);
    document.title = `${title} - Fairlead`;
    const known = await readLog();
    if (signal.aborted) return;
    const progress = (/** @type {number} */ done, /** @type {number} */ total) =>
      root.replaceChildren(
        el(
          "p",
          {role: "status"},
          `Reading the log: ${done} of ${total} events `,
          el("progress", {max: total, value: done, "aria-label": "Reading the log"}),
        ),
      );
    await fixMoments(signal, progress);
    await view({root, address: readAddress(), signal, log: known, progress, rerun: () => void showView(), run, badge});
    whole = true;
  });
  if (signal.aborted) return;
  root.removeAttribute("aria-busy");
  // Not after a refusal: a hub that asks for a token would ask twice.
  if (whole && found?.[0] !== "proof") await run(async () => badge(verdictOf(await ask("ui/api/proof", {}, signal))));
}

/** Shows the view again after the log has grown; a cursor that stood at its end goes along. */
function showNewest() {
  const {at} = readAddress();
  if (at && log?.last_time && compareTimes(at, log.last_time) >= 0) noteInAddress({at: ""});
  void showView();
}

/**
 * A setting of the person, kept in this browser, and in the address where it is not the first choice: a link shows what
 * its sender saw.
 * @param {string} id @param {(value: string) => void} apply
 */
function setting(id, apply) {
  const select = /** @type {HTMLSelectElement} */ (byId(id));
  const first = select.value;
  /** @type {string | null} */
  let kept = null;
  try {
    kept = localStorage.getItem(`fairlead.${id}`);
  } catch {
    /* a browser that keeps nothing: the default holds */
  }
  const choices = [...select.options].map((option) => option.value);
  const set = (/** @type {string} */ value) => {
    select.value = choices.includes(value) ? value : first;
    apply(select.value);
  };
  set(kept ?? first);
  select.addEventListener("change", () => {
    try {
      localStorage.setItem(`fairlead.${id}`, select.value);
    } catch {
      /* the same */
    }
    apply(select.value);
    noteInAddress({[id]: select.value});
    void showView();
  });
  return {
    /** Takes the setting of an address, else notes the one in force there. @param {Record<string, string>} address */
    follow(address) {
      if (address[id]) set(address[id]);
      else if (select.value !== first) noteInAddress({[id]: select.value});
    },
  };
}

function showKeys() {
  openDialog(
    "Keys",
    table(
      "Keys",
      ["Key", "Does"],
      keyMap.map(([keys, does]) => [el("kbd", {}, keys), does]),
    ),
  );
}

/** @type {Record<string, string>} keys that press a button of the view */
const pressed = {"+": "zoom-in", "-": "zoom-out", m: "set-mark"};

/** @param {KeyboardEvent} event */
function onKey(event) {
  const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const view = /^\d$/.test(event.key) ? views[(Number(event.key) + 9) % 10] : undefined;
  if (view) goTo(withLog({view: view[0]}));
  else if (event.key === "?") showKeys();
  else if (event.key === "c") document.getElementById("scrubber")?.focus();
  else if (event.key === "f") byId("follow").click();
  else if (event.key === "w") goWith({from: "", to: ""});
  else if (pressed[event.key]) document.getElementById(pressed[event.key] ?? "")?.click();
  else if (event.key === "/") (document.getElementById("filter") ?? document.getElementById("where"))?.focus();
  else return;
  event.preventDefault();
}

const settings = [
  setting("theme", (theme) => {
    document.documentElement.dataset.theme = theme;
  }),
  setting("zone", (zone) => setZone(/** @type {import("./times").Zone} */ (zone))),
  setting("amounts", (amounts) => setExact(amounts === "exact")),
];
keepFocus(byId("view"));
followOnDemand(showNewest);
if (saved) {
  byId("follow").hidden = true;
  if (!location.hash)
    noteInAddress(saved.queue ? {view: "queue", queue: saved.queue} : {view: "pool", namespace: saved.namespace});
}
byId("help").addEventListener("click", showKeys);
byId("token").addEventListener("click", async () => {
  if (await askToken("Give another token.")) void showView();
});
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("view").focus();
});
document.addEventListener("keydown", onKey);
addEventListener("hashchange", () => void showView());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => void showView());
void showView();
