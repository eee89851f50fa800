// Who waits, in a browser: the rows of a queue, one Workload with its causes, and what the loss of a node blocked.

import assert from "node:assert/strict";
import {test} from "node:test";
import {act, address, ask, findings, follow, go, keepSaved, picture, servers, shown, textOf, visit} from "./visit.mjs";

/** The texts of the rows of the long table that are in the document. */
const rowsOf = (page) =>
  page.$$eval(".long tbody tr:not(.gap)", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));

test("ten thousand that wait: only the rows in view are in the document, and they sort", async () => {
  const {page, check, close} = await visit(servers.crowd + "#view=waiting&queue=training");
  await page.waitForSelector(".long tbody tr");
  const table = await page.$eval(".long table", (one) => one.getAttribute("aria-rowcount"));
  assert.equal(table, "10001");
  assert.ok((await rowsOf(page)).length < 60);
  // The longest wait first, as the server says.
  const said = await ask(servers.crowd, "audit/waiting", {queue: "training"});
  assert.equal(said.workloads.length, 10000);
  assert.equal((await rowsOf(page))[0][0].trim(), `team/${said.workloads[0].name}`);
  // What a frame of a scroll costs the page, without what the browser draws.
  const frames = await page.evaluate(async () => {
    const region = document.querySelector(".long");
    const took = [];
    for (let step = 0; step < 60; ++step) {
      region.scrollTop = (step * 4999) % region.scrollHeight;
      await new Promise((done) => requestAnimationFrame(done));
      const begin = performance.now();
      region.dispatchEvent(new Event("scroll"));
      await new Promise((done) => requestAnimationFrame(done));
      took.push([performance.now() - begin, region.querySelectorAll("tbody tr").length]);
    }
    return took;
  });
  assert.ok(Math.max(...frames.map(([, rows]) => rows)) < 60);
  console.log(
    `median frame ${frames
      .map(([ms]) => ms)
      .sort((a, b) => a - b)[30]
      .toFixed(1)} ms`,
  );
  // By keyboard: a heading sorts, up and down and not at all.
  await page.focus(".long th:first-child button");
  await page.keyboard.press("Enter");
  assert.equal((await rowsOf(page))[0][0].trim(), "team/job-00000");
  assert.equal((await address(page)).sort, "Workload");
  await page.keyboard.press("Enter");
  assert.equal((await rowsOf(page))[0][0].trim(), "team/job-09999");
  assert.equal(await page.$eval(".long th", (head) => head.getAttribute("aria-sort")), "descending");
  assert.deepEqual(await findings(page), []);
  await picture(page, "crowd");
  check();
  await close();
});

test("below a queue's charts a row leads to its workload, whose causes are events", async () => {
  const {page, check, close} = await visit(servers.waits + "#view=queue&queue=training&to=2026-11-21T14:07:00Z");
  await page.waitForSelector('section[aria-labelledby="waiting"] .long tbody tr');
  const [row] = await rowsOf(page);
  assert.equal(row[0], "team/train");
  assert.match(row.join(" "), /quota .*does not fit.*12 nvidia.com\/gpu of on-demand/);
  await follow(page, '.long a[href*="train"]');
  const heading = await textOf(page, "#view h2");
  assert.equal(heading, "Workload team/train");
  assert.match(await textOf(page, "#view"), /node gpu-6 left \(NotReady\), quota 48 -> 40, needs 44/);
  assert.match(await textOf(page, "#actions .command"), /^fairlead audit waiting team\/train --to /);
  const answer = await ask(servers.waits, "audit/waiting", {workload: "team/train", to: "2026-11-21T14:07:00Z"});
  const causes = answer.waits.flatMap((wait) => wait.intervals.flatMap((one) => one.causes));
  assert.ok(causes.length > 0);
  assert.deepEqual(await page.$$eval("td .chip", (chips) => chips.map((one) => Number(one.dataset.seq))), causes);
  await page.click("td .chip");
  await page.waitForFunction(() => document.querySelector("dialog[open] pre"));
  assert.deepEqual(await findings(page), []);
  check();
  await close();
});

test("an event of a node leads to what it blocked: the workloads, and the quotas that fell", async () => {
  const {page, check, close} = await visit(servers.waits + "#view=cluster&cluster=cluster2");
  await page.waitForSelector('a[href*="object=node%2Fgpu-6"]');
  await follow(page, 'a[href*="object=node%2Fgpu-6"]');
  assert.equal(await textOf(page, "#view h2"), "Blast radius of node/gpu-6");
  assert.deepEqual(
    (await rowsOf(page)).map(([name]) => name),
    ["team/train"],
  );
  const quotas = await page.$$eval("#view table:not([aria-rowcount]) tbody tr", (rows) =>
    rows.map((one) => [...one.cells].slice(1, 6).map((cell) => cell.textContent)),
  );
  assert.deepEqual(quotas, [["training", "on-demand", "nvidia.com/gpu", "48", "40"]]);
  assert.deepEqual(await findings(page), []);
  check();
  await close();
});

test("the depth of a queue is drawn, with its steps in a table", async () => {
  const {page, check, close} = await visit(servers.waits + "#view=waiting&queue=training");
  await page.waitForSelector("#view .behind");
  const depth = await ask(servers.waits, "ui/api/waiting", {queue: "training"});
  const steps = Object.fromEntries(depth.classes.map((one) => [one.class, one.steps.map((step) => step[2])]));
  assert.deepEqual(Object.keys(steps).sort(), ["queue", "quota"]);
  assert.deepEqual([steps.quota[0], Math.max(...steps.quota.map(Number)), steps.quota.at(-1)], ["0", 1, "0"]);
  check();
  await close();
});

test("what waits is had as CSV and JSON, and a workload that never was is one sentence", async () => {
  const {page, check, close} = await visit(servers.waits + "#view=waiting&queue=training&to=2026-11-21T14:07:00Z");
  await keepSaved(page);
  for (const name of ["CSV", "JSON"]) await act(page, name);
  await page.waitForFunction(() => Object.keys(window.saved).length === 2);
  const saved = await page.evaluate(() => window.saved);
  assert.match(saved["text/csv"], /^namespace,name,clusterQueue,class,.*\r\nteam,train,training,quota,/);
  assert.equal(JSON.parse(saved["application/json"]).workloads[0].name, "train");
  check(); // before the refusal, which the browser prints as an error
  await go(page, "#view=waiting&workload=team%2Fnever");
  assert.match(await textOf(page, "#view .refusal"), /no Workload "team\/never"/);
  await close();
});

test("a page in a file has who waits, too", async () => {
  const {page, check, close} = await visit(servers.savedWaits);
  await page.waitForSelector('section[aria-labelledby="waiting"]');
  await shown(page);
  await page.waitForFunction(() =>
    /1 workload at /.test(document.querySelector('section[aria-labelledby="waiting"]').textContent),
  );
  await follow(page, '.long a[href*="train"]');
  assert.equal(await textOf(page, "#view h2"), "Workload team/train");
  check();
  await close();
});
