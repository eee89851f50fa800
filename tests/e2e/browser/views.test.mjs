// The views that compare, in a browser: what would have been, and who was in a worker list.

import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {test} from "node:test";
import {
  act,
  address,
  ask,
  findings,
  follow,
  go,
  keepSaved,
  moveCursor,
  picture,
  servers,
  shown,
  textOf,
  visit,
} from "./visit.mjs";

const pair = "queue=low-priority-queue&flavor=spot&resource=cpu";

/** The rows of the table with that caption's beginning, as texts; amounts are the exact ones. */
function rowsOf(page, caption) {
  return page.evaluate((begin) => {
    const found = [...document.querySelectorAll("table")].find((one) => one.caption.textContent.startsWith(begin));
    return [...found.tBodies[0].rows].map((row) =>
      [...row.cells].map((cell) => cell.querySelector("data")?.value ?? cell.textContent),
    );
  }, caption);
}

/** Runs the command that the page shows; its program is the one under test. */
function runCommand(line, ...more) {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain);
  assert.equal(words[0], "fairlead");
  return execFileSync(process.env.FAIRLEAD, [...words.slice(1), ...more], {encoding: "utf8"});
}

test("by keyboard a window moves, and the line and the totals are those of the command on the page", async () => {
  const {page, check, close} = await visit(servers.dev + `#view=whatif&${pair}`);
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
  const verdict = await textOf(page, "#verdict");
  const cpu = (one) =>
    parseFloat(one.underQuotaResourceHours.cpu) / (one.underQuotaResourceHours.cpu.endsWith("m") ? 1000 : 1);
  const [was, would] = [cpu(history), cpu(whatIf)];
  const less = `${Number(Math.abs(was - would).toFixed(3))} ${would < was ? "fewer" : "more"} under-quota cpu hours`;
  assert.ok(was !== would && verdict.includes(less), `${verdict}: not ${less}`);
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
  const {page, check, close} = await visit(servers.bundle + `#view=whatif&set=shrinkWindow%3D1m0s&${pair}`);
  await page.waitForSelector("#differences, #result table");
  assert.equal(await textOf(page, "output[for=set-shrinkWindow]"), "1m0s instead of 15s");
  await page.click("#reset");
  await page.waitForFunction(() => document.getElementById("result").textContent.includes("Move a slider"));
  assert.equal((await address(page)).set, undefined);
  assert.match(
    await textOf(page, "#actions .command"),
    /^fairlead audit history low-priority-queue --flavor spot --resource cpu /,
  );
  check();
  await close();
});

test("a what-if is had as Markdown, CSV and JSON, and a wrong setting is one sentence", async () => {
  const {page, check, close} = await visit(servers.dev + `#view=whatif&set=growWindow%3D10s&${pair}`);
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
  const {page, check, close} = await visit(servers.lists + "#view=list&list=best");
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
    const at = await moveCursor(page, key);
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
  await follow(page, ".choices a:not([aria-current])");
  assert.equal(await textOf(page, "h2"), "Worker list t4");
  check();
  await close();
});

test("between two steps the cursor asks about a millisecond that is not before the log", async () => {
  const {page, check, close} = await visit(servers.lists);
  const {asked, burst} = await page.evaluate(async () => {
    const {exactTime} = await import("./scrubber.js");
    const [begin, second] = ["2026-11-21T14:00:00.000400000Z", "2026-11-21T14:00:01Z"];
    const ms = Date.parse("2026-11-21T14:00:00Z");
    const last = "2026-11-21T14:00:01.000000003Z";
    return {
      burst: exactTime([begin, second, last], ms + 1000),
      asked: [exactTime([begin, second], ms + 0.4), exactTime([second], ms + 0.4), exactTime([begin], ms + 7.5)],
    };
  });
  // Of a burst it is the last one.
  assert.deepEqual(burst, "2026-11-21T14:00:01.000000003Z");
  assert.deepEqual(asked, ["2026-11-21T14:00:00.000400000Z", "2026-11-21T14:00:00.001Z", "2026-11-21T14:00:00.008Z"]);
  check();
  await close();
});

test("a log without worker lists says so", async () => {
  const {page, check, close} = await visit(servers.dev + "#view=list");
  assert.match(await textOf(page, "main"), /No worker list of MultiKueue/);
  check();
  await close();
});

test("every view is had as a paragraph in Markdown, with numbers, link and digest, as CSV and as JSON", async () => {
  const {page, check, close} = await visit(servers.dev + "#view=proof");
  await page.click("#verify");
  await page.waitForFunction(() => document.getElementById("proof").textContent.includes("The replay holds"), {
    timeout: 60000,
  });
  await keepSaved(page);
  const log = await ask(servers.dev, "ui/api/log");
  for (const [hash, words] of [
    ["#view=proof", /^\*\*Proof.\*\* .*The hash chain holds to seq \d+.*The replay holds: \d+ events/],
    ["#view=fleet", /^\*\*Fleet\*\* from .*: \d+ events, \d+ of our writes.*2 queues.*4 clusters/],
    ["#view=cluster&cluster=cluster2", /^\*\*Cluster cluster2\*\* is \w.*accepted of .*/],
    [
      "#view=diff&a=seq:60&b=seq:200",
      /^\*\*From .* \(seq 60\) to .* \(seq 200\)\*\* \d+ rows differ\. .*\n\n\| Of \| Name \| From \| To \|\n\|---\|.*\n\| Quotas \| /,
    ],
    ["#view=log&where=kind%3DClusterQueue", /^The newest 20 events where kind=ClusterQueue\..*\n\n\| Seq \|.*\n/],
    [`#view=queue&${pair}`, /^\*\*low-priority-queue spot cpu\*\* was \d+ at /],
  ]) {
    await go(page, hash);
    await page.evaluate(() => (window.saved = {}));
    for (const name of ["CSV", "JSON", "Copy as Markdown"]) await act(page, name);
    await page.waitForFunction(() => Object.keys(window.saved).length === 3);
    const {copied, ...files} = await page.evaluate(() => window.saved);
    assert.match(copied, words);
    assert.ok(copied.includes(`log with chain ${log.chain.slice(0, 16)}.`), copied);
    assert.ok(copied.includes("[The page](http"), copied);
    assert.ok(files["text/csv"].split("\r\n").length > 2, hash);
    assert.equal(typeof JSON.parse(files["application/json"]), "object");
    assert.match(await textOf(page, "#actions .command"), /^fairlead /);
  }
  check();
  await close();
});

for (const [width, theme] of [
  [1280, "light"],
  [390, "dark"],
])
  test(`a page that was saved opens from a file at ${width} px, ${theme}, and asks for nothing`, async () => {
    const {page, faults, close} = await visit(servers.saved, {width, theme});
    assert.equal(new URL(page.url()).protocol, "file:");
    assert.equal((await address(page)).view, "queue");
    assert.match(await textOf(page, "#history"), /^Saved as a file: low-priority-queue from /);
    for (const hash of [
      `#view=queue&${pair}`,
      "#view=fleet",
      "#view=cluster",
      "#view=diff",
      "#view=log",
      "#view=proof",
    ]) {
      await go(page, hash);
      await new Promise((resolve) => setTimeout(resolve, 300));
      assert.equal(await page.$(".refusal"), null, hash);
      assert.deepEqual(await findings(page), [], hash);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), hash);
    }
    await picture(page, `saved-${width}-${theme}`);
    assert.match(await textOf(page, "#proof"), /The replay holds/);
    assert.deepEqual(faults, []);
    await close();
  });

test("what a saved page says at its moments is what the server says, and a chip opens its record", async () => {
  const {page, check, close} = await visit(`${servers.saved}#view=queue&${pair}`);
  await page.keyboard.press("c");
  const seen = new Set();
  for (const key of ["End", "ArrowLeft", "ArrowLeft", "PageDown", "ArrowRight", "Home"]) {
    await page.keyboard.press(key);
    const {at} = await address(page);
    seen.add(at);
    await page.waitForFunction(
      (time) => {
        const panel = document.getElementById("why");
        return !panel.hasAttribute("aria-busy") && panel.dataset.time === time;
      },
      {},
      at,
    );
    const asked = {queue: "low-priority-queue", flavor: "spot", resource: "cpu", "as-of": at};
    const why = await ask(servers.dev, "audit/why", asked);
    const lead = await textOf(page, "#why .lead");
    assert.ok(lead.startsWith(why.value.nominal === null ? "The quota is not set" : "The quota is "), lead);
    if (why.value.nominal !== null)
      assert.equal(await page.$eval("#why .lead data", (data) => data.value), why.value.nominal, at);
    const quota = await ask(servers.dev, "audit/quota", {queue: "low-priority-queue", "as-of": at});
    const row = quota.rows.find((one) => one.flavor === "spot" && one.resource === "cpu");
    assert.equal(
      await page.$eval('#values tr[data-line="nominal"] .value data', (data) => data.value),
      row.nominal ?? "none",
    );
  }
  assert.ok(seen.size >= 4, `${seen.size} moments`);
  await page.keyboard.press("End");
  await page.waitForFunction(() => !document.getElementById("why").hasAttribute("aria-busy"));
  const seq = await page.$eval("#why .chip", (chip) => Number(chip.dataset.seq));
  await page.$eval("#why .chip", (chip) => chip.click());
  await page.waitForSelector("dialog[open] pre");
  assert.equal(JSON.parse(await textOf(page, "#dialog-body pre")).seq, seq);
  await page.keyboard.press("Escape");
  check();
  await close();
});

test("a saved page says in one sentence what it does not hold, and zooms without a server", async () => {
  const {page, check, close} = await visit(servers.saved);
  for (const hash of [
    "#view=queue&queue=high-priority-queue",
    `#view=whatif&set=growWindow%3D10s&${pair}`,
    "#view=log&where=kind%3DNode",
    "#view=diff&a=seq:5",
    "#view=fleet&from=2001-01-01T00:00:00Z",
  ]) {
    await go(page, hash);
    const said = await textOf(page, ".refusal p");
    assert.match(said, /^This file holds only answers about low-priority-queue from .* to .*: ask this one with/, hash);
    assert.equal(said.includes("\n"), false);
  }
  assert.match(await textOf(page, "#actions .command"), /^fairlead /);
  await go(page, `#view=queue&${pair}`);
  await page.evaluate(() =>
    [...document.querySelectorAll("button")].find((one) => one.textContent === "Zoom in").click(),
  );
  await page.waitForFunction(() => location.hash.includes("from="));
  await shown(page);
  assert.equal(await page.$(".refusal"), null);
  assert.ok(await page.$(".chart canvas"));
  check();
  await close();
});

test("a saved page of a hub with MultiKueue has its worker lists", async () => {
  const {page, check, close} = await visit(`${servers.savedList}#view=list&list=best`);
  await page.waitForFunction(() => document.getElementById("why").dataset.time);
  const {at} = await address(page);
  const why = await ask(servers.lists, "audit/why", {queue: "multikueueconfig/best", "as-of": at});
  assert.ok((await textOf(page, "#why")).includes(`The list is ${why.list.join(", ") || "empty"}`));
  assert.ok((await page.$$(".bar-listed")).length > 1);
  check();
  await close();
});

test("names of any kind are text in a saved page, too", async () => {
  const {page, check, close} = await visit(servers.savedHostile);
  assert.equal(await textOf(page, "h2"), "<img src=x onerror=alert(1)>");
  assert.equal((await page.$$("main img")).length, 0);
  check();
  await close();
});

test("the changes of a queue's limits and rules, and its Cohort, are those of audit history", async () => {
  for (const server of [servers.edits, servers.savedEdits]) {
    const {page, check, close} = await visit(server + "#view=queue&queue=vision&flavor=on-demand&resource=cpu");
    await page.waitForSelector("#changes");
    const rows = await rowsOf(page, "Changes of its limits");
    assert.deepEqual(
      rows.map(([, field, old, now, writer]) => [field, old, now, writer]),
      [
        ["stopPolicy", "None", "Hold", "kubectl-patch (Update)"],
        ["fairSharing.weight", "1", "3", "kubectl-patch (Update)"],
        ["on-demand cpu lendingLimit", "none", "4", "kubectl-edit (Update)"],
        ["on-demand cpu borrowingLimit", "8", "2", "kubectl-edit (Update)"],
        ["on-demand cpu borrowingLimit", "none", "8", "another writer"],
        ["cohort", "none", "research", "another writer"],
      ],
    );
    assert.deepEqual(await findings(page), []);
    await follow(page, ".lead a");
    assert.equal((await address(page)).cohort, "research");
    await page.waitForSelector("#changes");
    assert.deepEqual(await rowsOf(page, "Its own quotas"), [["on-demand", "cpu", "24", "none", "none"]]);
    const ofCohort = await rowsOf(page, "Changes");
    assert.deepEqual(
      ofCohort.map(([, field, old, now, writer]) => [field, old, now, writer]),
      [
        ["on-demand cpu nominalQuota", "32", "24", "argocd (Apply)"],
        ["fairSharing.weight", "1", "2", "argocd (Apply)"],
        ["on-demand cpu nominalQuota", "none", "32", "another writer"],
      ],
    );
    assert.match(await textOf(page, "#actions .command"), /^fairlead audit history cohort\/research /);
    assert.deepEqual(await findings(page), []);
    await picture(page, "cohort");
    await follow(page, 'a[href*="queue=vision"]');
    assert.equal((await address(page)).view, "queue");
    check();
    await close();
  }
});

for (const [server, width] of [
  ["pool", 1280],
  ["poolBundle", 390],
  ["savedPool", 390],
])
  test(`the pool of ${server} at ${width} px: from the fleet to a namespace, a pod, a super cluster and a tenant`, async () => {
    const {page, check, close} = await visit(servers[server], {width});
    const whole = async (title) => {
      await shown(page);
      await page.waitForFunction((text) => document.querySelector("h2").textContent === text, {}, title);
      assert.equal(await page.$(".refusal"), null, title);
      assert.deepEqual(await findings(page), [], title);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), title);
      assert.match(await textOf(page, "#actions .command"), /^fairlead /);
    };
    await go(page, "#view=fleet");
    assert.match(await textOf(page, 'section[aria-labelledby="pool"]'), /2 super clusters, 2 tenants, 2 namespaces/);
    await follow(page, 'section[aria-labelledby="pool"] a');
    await whole("Pool");
    const pool = await ask(servers.pool, "ui/api/pool");
    assert.deepEqual(
      (await rowsOf(page, "Namespaces")).map((row) => row[0]),
      pool.namespaces.map((one) => `${one.tenant}/${one.namespace}`),
    );
    // A file says what it does not have over time, and links to nothing of that.
    const linked = (await page.$('a[href*="namespace=bolt%2Fdb"]')) !== null;
    assert.deepEqual(
      [linked, (await page.$("#pool-left-out")) === null],
      server === "savedPool" ? [false, false] : [true, true],
    );
    await picture(page, `pool-${server}`);
    await follow(page, 'a[href*="namespace=acme%2Fweb"]');
    await whole("Namespace acme/web");
    assert.ok((await page.$$(".chart canvas")).length > 1);
    await page.keyboard.press("c");
    for (const key of ["Home", "ArrowRight", "ArrowRight", "End", "ArrowLeft"]) {
      const at = await moveCursor(page, key);
      const why = await ask(servers.pool, "audit/why", {namespace: "acme/web", "as-of": at});
      const placed = Object.values(why.placements).reduce((sum, count) => sum + count, 0);
      assert.match(await textOf(page, "#why"), new RegExp(`${placed} of ${why.expected} slices are placed`), at);
    }
    await page.$eval(".behind", (details) => (details.open = true));
    await page.waitForFunction(() => document.querySelector(".behind table"));
    const placed = (await rowsOf(page, "acme/web: slices")).filter((row) => row[2] === "r1");
    assert.ok(placed.length > 1 && placed.every((row) => /^\d+$/.test(row[1]) && row[4] === "fairlead"));
    await picture(page, `namespace-${server}`);
    await follow(page, 'a[href*="pod=acme%2Fweb%2Flarge"]');
    await whole("Pod acme/web/large");
    await page.waitForFunction(() => document.getElementById("why").dataset.time);
    assert.match(await textOf(page, "#why"), /The pod is on r2/);
    await follow(page, '#why a[href*="superCluster=r2"]');
    await whole("Super cluster r2");
    assert.equal((await page.$$(".chart canvas")).length > 1, true);
    await go(page, "#view=pool&tenant=acme");
    await whole("Tenant acme");
    check();
    await close();
  });
