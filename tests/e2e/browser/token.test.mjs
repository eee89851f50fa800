// The audit page of a hub: it asks for a token where the hub does, and goes on when the hub was away.

import assert from "node:assert/strict";
import {test} from "node:test";
import {findings, picture, servers, shown, textOf, visit} from "./visit.mjs";

const asked = (page) => page.waitForSelector("#token-dialog[open]");
const control = (what) => fetch(`${servers.control}/${what}`);
const refusal = (page) => page.evaluate(() => document.querySelector(".refusal p")?.textContent);
const history = (page) => textOf(page, "#history");
/** Waits until the line about the log is another one than `before`. */
const grown = (page, before) =>
  page.waitForFunction((line) => document.getElementById("history").textContent !== line, {timeout: 30000}, before);

async function give(page, token) {
  await page.type("#token-value", token);
  await page.keyboard.press("Enter");
}

/** Waits until the page, which was given a token, shows the log. */
async function admitted(page) {
  await page.waitForFunction(() => document.getElementById("history").textContent.includes("chain"));
  await shown(page);
}

/** Has the page follow, the log grow, and the page show that. */
async function followed(page) {
  await page.keyboard.press("f");
  await page.waitForFunction(() => document.getElementById("follow").textContent === "Pause");
  const line = await history(page);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  await control("grow");
  await grown(page, line);
}

/** What went wrong, but for refused requests, which browsers report as well. */
const unexpected = (faults) => faults.filter((fault) => !/Failed to load resource/.test(fault));

test("the page asks for a token once, and says when it is not known", async () => {
  const {page, faults, close} = await visit(servers.direct, {ready: asked});
  assert.match(await textOf(page, "#token-why"), /shown to accounts of its cluster\.$/);
  assert.deepEqual(await findings(page), []);
  await picture(page, "token");
  await give(page, "no-such-token");
  await page.waitForFunction(() => /does not know this token/.test(document.getElementById("token-why").textContent));
  await asked(page);
  await page.keyboard.press("Escape");
  await page.waitForSelector(".refusal");
  assert.equal(await textOf(page, ".refusal p"), "This hub asks for a token, and none was given.");
  await page.click(".refusal button");
  await asked(page);
  await give(page, servers.viewer);
  await page.waitForSelector("#token-dialog:not([open])");
  await shown(page);
  await page.waitForFunction(() => document.getElementById("history").textContent.includes("chain"));
  await page.reload();
  await shown(page);
  assert.equal(await page.$("#token-dialog[open]"), null);
  for (const view of ["#view=queue", "#view=cluster", "#view=diff", "#view=log", "#view=proof"]) {
    await page.evaluate((hash) => void (location.hash = hash), view);
    await shown(page);
    assert.equal(await refusal(page), undefined, view);
  }
  // It stays in this tab.
  const kept = await page.evaluate(() => [JSON.stringify(localStorage), document.cookie, location.href].join());
  assert.equal(kept.includes(servers.viewer), false);
  assert.deepEqual(unexpected(faults), []);
  await close();
});

test("a token that may not look is refused in one sentence, and another one is taken", async () => {
  const {page, faults, close} = await visit(servers.direct, {ready: asked});
  await give(page, servers.scraper);
  await page.waitForSelector(".refusal");
  const said = await textOf(page, ".refusal p");
  assert.match(said, /RBAC of the hub does not allow this account to get the nonResourceURL \/ui\/api\/log/);
  assert.equal(said.includes("\n"), false);
  await page.click("#token");
  await asked(page);
  await give(page, servers.viewer);
  await admitted(page);
  assert.equal(await refusal(page), undefined);
  assert.deepEqual(unexpected(faults), []);
  await close();
});

// A hub that was killed resets the connections that it had, and refuses new ones.
for (const [name, sentence] of [
  ["direct", /^The server does not answer; /],
  ["forwarded", /^The hub does not answer \(https:\/\/127\.0\.0\.1:\d+\): .*onnection (refused|reset by peer)/],
  ["behind", /^the hub behind 127\.0\.0\.1: .*error trying to reach service: .*connection (refused|reset by peer)/],
])
  test(`${name}: a hub is followed, its end is one sentence, and the page goes on when it is back`, async () => {
    const {page, faults, close} = await visit(servers[name], {ready: name === "direct" ? asked : shown});
    if (name === "direct") {
      await give(page, servers.viewer);
      await admitted(page);
    }
    await followed(page);
    if (name === "direct") {
      // Longer than the hub lets one stream live: it is another one now.
      await new Promise((resolve) => setTimeout(resolve, 12000));
      const line = await history(page);
      await control("grow");
      await grown(page, line);
    }
    assert.equal(await textOf(page, "#follow"), "Pause");
    assert.equal(await refusal(page), undefined);
    const line = await history(page);
    await control("kill");
    await page.waitForSelector(".refusal", {timeout: 30000});
    const said = await textOf(page, ".refusal p");
    assert.match(said, sentence);
    assert.equal(said.includes("\n"), false);
    await picture(page, `away-${name}`);
    await control("start");
    await page.waitForFunction(() => !document.querySelector(".refusal"), {timeout: 30000});
    await grown(page, line);
    await page.waitForFunction(() => document.getElementById("follow").textContent === "Pause");
    assert.deepEqual(unexpected(faults), []);
    await close();
  });

test("through kubectl proxy the page asks for a token as well", async () => {
  const {page, faults, close} = await visit(servers.proxied, {ready: asked});
  await give(page, servers.viewer);
  await admitted(page);
  await followed(page);
  assert.deepEqual(unexpected(faults), []);
  await close();
});
