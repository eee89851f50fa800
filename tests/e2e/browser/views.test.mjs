// The views that compare, in a browser: what would have been, and who was in a worker list.

import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {after, before, test} from "node:test";
import {act, address, ask, go, keepSaved, launch, servers, shown, textOf, visit} from "./visit.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

const pair = "queue=low-priority-queue&flavor=spot&resource=cpu";

/** The rows of the table with that caption's beginning, as texts. */
function rowsOf(page, caption) {
  return page.evaluate((begin) => {
    const found = [...document.querySelectorAll("table")].find((one) => one.caption.textContent.startsWith(begin));
    return [...found.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent));
  }, caption);
}

/** Runs the command that the page shows; its program is the one under test. */
function runCommand(line, ...more) {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain);
  assert.equal(words[0], "fairlead");
  return execFileSync(process.env.FAIRLEAD, [...words.slice(1), ...more], {encoding: "utf8"});
}

test("by keyboard a window moves, and the line and the totals are those of the command on the page", async () => {
  const {page, check, close} = await visit(browser, servers.dev + `#view=whatif&${pair}`);
  assert.match(await textOf(page, "#result"), /Move a slider/);
  await page.focus("#set-growWindow");
  for (let step = 0; step < 3; ++step) await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => document.querySelector("#result:not([aria-busy]) #differences"));
  assert.equal(await page.evaluate(() => document.activeElement.id), "set-growWindow");
  assert.equal((await address(page)).set, "growWindow=30s");
  assert.equal(await textOf(page, "output[for=set-growWindow]"), "30s instead of 5m0s");
  const command = await textOf(page, "#actions .command");
  assert.match(command, /^fairlead whatif --set debounce.growWindow=30s --to seq:\d+ --data /);
  const said = JSON.parse(runCommand(command, "-o", "json"));
  const {history, sameConfiguration, whatIf} = said.totals;
  const rows = Object.fromEntries((await rowsOf(page, "From ")).map(([name, ...values]) => [name, values]));
  const worlds = [history, sameConfiguration, whatIf];
  assert.deepEqual(
    rows.Writes,
    worlds.map((one) => String(one.writes)),
  );
  assert.deepEqual(
    rows["Over-quota, cpu hours"],
    worlds.map((one) => one.overQuotaResourceHours.cpu),
  );
  assert.deepEqual(
    rows["Under-quota, cpu hours"],
    worlds.map((one) => one.underQuotaResourceHours.cpu),
  );
  assert.equal(rows["Slowest shrink, seconds"][2], String(whatIf.slowestShrinkSeconds));
  await page.$eval("#differences", (details) => (details.open = true));
  assert.equal((await rowsOf(page, "Writes that differ")).length, said.differences.length);
  // The table behind the chart has the imagined line: each write of it that differs is a step there.
  await page.$eval("#result .behind", (details) => (details.open = true));
  await page.waitForFunction(() => document.querySelector("#result .behind table"));
  const table = await rowsOf(page, "low-priority-queue spot cpu");
  const imagined = table.filter((row) => row[2] === "what if");
  const answer = await ask(servers.dev, "ui/api/whatif", {
    set: "debounce.growWindow=30s",
    to: `seq:${said.to.seq}`,
    queue: "low-priority-queue",
    flavor: "spot",
    resource: "cpu",
    points: "5000",
  });
  assert.deepEqual(
    imagined.map((row) => row[3]),
    answer.series.pairs[0].lines.nominal.map((step) => step[2]),
  );
  const real = await ask(servers.dev, "ui/api/series", {queue: "low-priority-queue", flavor: "spot", resource: "cpu"});
  assert.notDeepEqual(
    imagined.map((row) => row[3]),
    real.pairs[0].lines.nominal.map((step) => step[2]),
  );
  check();
  await close();
});

test("a link to a what-if opens it, and the way back is one button", async () => {
  const {page, check, close} = await visit(browser, servers.bundle + `#view=whatif&set=shrinkWindow%3D1m0s&${pair}`);
  await page.waitForSelector("#differences, #result table");
  assert.equal(await textOf(page, "output[for=set-shrinkWindow]"), "1m0s instead of 15s");
  await page.click("#reset");
  await page.waitForFunction(() => document.getElementById("result").textContent.includes("Move a slider"));
  assert.equal((await address(page)).set, undefined);
  assert.match(await textOf(page, "#actions .command"), /^fairlead audit history low-priority-queue spot cpu /);
  check();
  await close();
});

test("a what-if is had as Markdown, CSV and JSON, and a wrong setting is one sentence", async () => {
  const {page, check, close} = await visit(browser, servers.dev + `#view=whatif&set=growWindow%3D10s&${pair}`);
  await keepSaved(page);
  for (const name of ["CSV", "JSON", "Copy as Markdown"]) await act(page, name);
  await page.waitForFunction(() => Object.keys(window.saved).length === 3);
  const saved = await page.evaluate(() => window.saved);
  const {totals} = JSON.parse(saved["application/json"]).whatIf;
  assert.ok(saved.copied.includes(`${totals.whatIf.writes} writes instead of ${totals.history.writes}`), saved.copied);
  assert.ok(saved.copied.includes("chain="), saved.copied);
  assert.match(saved["text/csv"], /^world,flavor,resource,line,time,seq,value,writer\r\nas_it_was,spot,cpu,nominal,/);
  await go(page, `#view=whatif&set=growWindow%3Dsoon&${pair}`);
  assert.match(await textOf(page, "#result .refusal"), /--set debounce.growWindow=soon: .*expected a duration/);
  assert.equal(await page.$("#result .chart"), null);
  await page.click("#reset");
  await page.waitForSelector("#result .chart");
  await close();
  void check;
});

test("a worker list has a row a cluster; its bars and the table at the cursor are those of audit why", async () => {
  const {page, check, close} = await visit(browser, servers.lists + "#view=list&list=best");
  const series = await ask(servers.lists, "ui/api/series", {list: "best"});
  const names = await page.$$eval(".track[data-row]", (tracks) => tracks.map((track) => track.dataset.row));
  assert.deepEqual(
    names,
    series.workers.map((worker) => worker.cluster),
  );
  const history = await ask(servers.lists, "audit/history", {queue: "multikueueconfig/best"});
  assert.equal((await page.$$(".bar-mark.line-ours, .bar-mark.line-foreign")).length, history.rows.length);
  assert.ok((await page.$$(".bar-mark.line-decision")).length > 3);
  assert.ok((await page.$$(".bar-draining")).length > 0);
  await page.keyboard.press("c");
  for (const key of ["ArrowLeft", "ArrowLeft", "PageDown", "ArrowRight", "Home", "End"]) {
    await page.keyboard.press(key);
    const {at} = await address(page);
    await page.waitForFunction(
      (time) => {
        const panel = document.getElementById("why");
        return !panel.hasAttribute("aria-busy") && Date.parse(panel.dataset.time) === Date.parse(time);
      },
      {},
      at,
    );
    const why = await ask(servers.lists, "audit/why", {queue: "multikueueconfig/best", "as-of": at});
    const rows = await rowsOf(page, "Its clusters at");
    assert.deepEqual(
      rows.map((row) => row.slice(0, 3)),
      why.workers.map((one) => [one.cluster, one.listed ? "yes" : "no", one.selected ? "yes" : "no"]),
      `at ${at}`,
    );
  }
  assert.equal(
    JSON.stringify(JSON.parse(runCommand(await textOf(page, "#actions .command"), "-o", "json")).kind),
    '"WorkersWhy"',
  );
  await page.click(".choices a:not([aria-current])");
  await shown(page);
  assert.equal(await textOf(page, "h2"), "Worker list t4");
  check();
  await close();
});

test("a log without worker lists says so", async () => {
  const {page, check, close} = await visit(browser, servers.dev + "#view=list");
  assert.match(await textOf(page, "main"), /No worker list of MultiKueue/);
  check();
  await close();
});
