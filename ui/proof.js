// Proof: whether the log is what was written, and whether this program would have written the same.

import {command, linkAndDigest, plainMarkdown, showActions} from "./commands.js";
import {el} from "./dom.js";
import {chip} from "./facts.js";
import {ask} from "./server.js";
import {show} from "./times.js";

/** @typedef {import("./main").ViewContext} ViewContext */
/** @typedef {import("./page_answers").Proof} Proof */

/** The verdict in one word. @param {Proof} proof @returns {"none" | "running" | "good" | "bad"} */
export function verdictOf(proof) {
  if (proof.state !== "done") return proof.state;
  return proof.chain === "ok" && !proof.error && proof.replay?.differsAt === null ? "good" : "bad";
}

/** @param {Proof} proof */
function lines(proof) {
  const {chain, replay} = proof;
  return [
    proof.at ? el("p", {}, `Verified up to seq ${proof.seq} at ${show(proof.at)}.`) : null,
    chain
      ? el(
          "p",
          {class: chain === "ok" ? "good" : "bad"},
          chain === "ok"
            ? `✔ The hash chain holds to seq ${proof.seq}.`
            : `✘ The hash chain is ${chain}: ${proof.what ?? ""}. Keep a copy; restore from an export or a backup.`,
        )
      : null,
    replay
      ? el(
          "p",
          {class: replay.differsAt === null ? "good" : "bad"},
          replay.differsAt === null
            ? `✔ The replay holds: ${replay.events} events, ${replay.compared} writes compared, ` +
                `${replay.checkpoints} checkpoints agree.` +
                (replay.notCompared
                  ? ` ${replay.notCompared} writes could not be compared: what they followed from was pruned.`
                  : "")
            : `✘ The replay differs first in ${replay.differsIn}: `,
          replay.differsAt === null ? null : chip(replay.differsAt, "the write"),
        )
      : null,
    proof.error ? el("p", {class: "bad", role: "alert"}, `✘ ${proof.error}`) : null,
  ].filter((line) => line !== null);
}

/** @param {ViewContext} context */
export async function proofView(context) {
  const {root, signal} = context;
  const commands = [command("log", "verify"), command("replay", "--verify")];
  showActions({commands});
  const bar = el("progress", {max: 1, value: 0, "aria-label": "Verification", hidden: true});
  const result = el("div", {role: "status", id: "proof"});
  const button = el(
    "button",
    {
      type: "button",
      id: "verify",
      // One that is disabled would lose the focus.
      click: () => {
        if (button.getAttribute("aria-disabled") !== "true") void context.run(() => follow({begin: "true"}));
      },
    },
    "Verify now",
  );
  root.replaceChildren(
    el("h2", {}, "Proof"),
    el(
      "p",
      {},
      "Each group commit continues the hash of the one before it, and each write follows from the events before it. " +
        "Both can be computed again from the log alone.",
    ),
    button,
    " ",
    bar,
    result,
  );
  /** @param {{begin?: string}} how */
  const follow = async (how) => {
    let proof = /** @type {Proof} */ (await ask("ui/api/proof", how, signal));
    while (proof.state === "running") {
      button.setAttribute("aria-disabled", "true");
      bar.hidden = false;
      bar.max = Math.max(1, proof.progress?.total ?? 1);
      bar.value = proof.progress?.done ?? 0;
      await new Promise((resolve) => setTimeout(resolve, 300));
      proof = await ask("ui/api/proof", {}, signal);
    }
    button.removeAttribute("aria-disabled");
    bar.hidden = true;
    result.replaceChildren(...(proof.state === "none" ? [el("p", {}, "Not verified yet.")] : lines(proof)));
    if (proof.state === "done")
      showActions({
        commands,
        name: "proof",
        json: proof,
        csv: () => [
          ["seq", "at", "chain", "events", "compared", "differing", "notCompared", "checkpoints", "differsAt"],
          [
            proof.seq,
            proof.at,
            proof.chain,
            proof.replay?.events,
            proof.replay?.compared,
            proof.replay?.differing,
            proof.replay?.notCompared,
            proof.replay?.checkpoints,
            proof.replay?.differsAt,
          ],
        ],
        markdown: () => {
          const words = lines(proof).map((line) => plainMarkdown(line.textContent ?? ""));
          return `**Proof.** ${words.join(" ")} ${linkAndDigest(context.log.chain)}`;
        },
      });
    context.badge(verdictOf(proof));
  };
  await follow({});
}
