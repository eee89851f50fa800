// The audit page in a browser: what it shows is what the server answers, by keyboard alone, in both themes.

import assert from "node:assert/strict";
import {test} from "node:test";
import {act, address, ask, findings, follow, go, keepSaved, picture, servers, shown, textOf, visit} from "./visit.mjs";

const queue = "#view=queue&queue=low-priority-queue&flavor=spot&resource=cpu";
const views = {
  cluster: "#view=cluster&cluster=cluster1",
  fleet: "#view=fleet",
  queue,
  whatif: "#view=whatif&set=growWindow%3D10s&queue=low-priority-queue&flavor=spot&resource=cpu",
  diff: "#view=diff&a=-30m",
  log: "#view=log&where=kind%3DNode",
  proof: "#view=proof",
};

/** Every seq that an answer names. */
function seqsIn(answer, found = new Set()) {
  for (const [name, value] of Object.entries(answer ?? {})) {
    if (typeof value === "number" && /seq/i.test(name)) found.add(value);
    if (name === "because" && Array.isArray(value))
      value.filter((one) => typeof one === "number").forEach((seq) => found.add(seq));
    if (value && typeof value === "object") seqsIn(value, found);
  }
  return found;
}

for (const [width, theme] of [
  [1280, "light"],
  [1280, "dark"],
  [390, "light"],
  [320, "dark"],
])
  test(`every view at ${width} px, ${theme}: no finding of axe, nothing beside the screen`, async () => {
    const {page, check, close} = await visit(servers.dev, {width, theme});
    for (const [name, hash] of Object.entries(views)) {
      await go(page, hash);
      await page.waitForNetworkIdle({idleTime: 300});
      assert.deepEqual(await findings(page), [], name);
      const [inner, scrolled] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
      assert.ok(scrolled <= inner, `${name} is ${scrolled} px wide`);
      await picture(page, `${name}-${width}-${theme}`);
    }
    check();
    await close();
    const lists = await visit(servers.lists + "#view=list", {width, theme});
    await lists.page.waitForNetworkIdle({idleTime: 300});
    assert.deepEqual(await findings(lists.page), [], "list");
    assert.ok(await lists.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "list");
    await picture(lists.page, `list-${width}-${theme}`);
    lists.check();
    await lists.close();
  });

test("the fleet shows each queue with its states, and its links lead to the queue", async () => {
  const {page, check, close} = await visit(servers.dev);
  const overview = await ask(servers.dev, "ui/api/overview");
  await page.waitForFunction(
    (count) => document.querySelectorAll(".spark").length === count,
    {},
    overview.queues.length,
  );
  const cards = await page.$$eval(".card h3", (heads) => heads.map((head) => head.textContent));
  assert.deepEqual(
    cards,
    overview.queues.map((one) => `${one.queue} ${one.states.join("")}`),
  );
  await follow(page, ".card .pairs a");
  assert.equal((await address(page)).queue, overview.queues[0].queue);
  check();
  await close();
});

test("by keyboard alone to a queue, its cursor and along its steps; each value is that of audit quota", async () => {
  const {page, check, close} = await visit(servers.dev);
  await page.keyboard.press("2");
  await page.waitForSelector("#scrubber");
  await go(page, queue);
  await page.keyboard.press("c");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("role")), "slider");
  const seen = new Set();
  const keys = [
    "Home",
    ...Array(6).fill("ArrowRight"),
    "PageUp",
    "ArrowLeft",
    "ArrowLeft",
    "End",
    "ArrowLeft",
    "PageDown",
  ];
  for (const key of keys) {
    await page.keyboard.press(key);
    // In one question: the page of a fleet that still changes may draw itself anew between two.
    const {at, values} = await page.evaluate(() => ({
      at: new URLSearchParams(location.hash.slice(1)).get("at"),
      values: Object.fromEntries(
        [...document.querySelectorAll("#values tbody tr")].map((row) => [
          row.dataset.line,
          row.querySelector(".value").textContent,
        ]),
      ),
    }));
    seen.add(at);
    const quota = await ask(servers.dev, "audit/quota", {queue: "low-priority-queue", "as-of": at});
    const row = quota.rows.find((one) => one.flavor === "spot" && one.resource === "cpu");
    assert.equal(values.nominal ?? "none", row.nominal ?? "none", `nominal at ${at} after ${key}`);
    assert.equal(values.desired ?? "none", row.desired ?? "none", `desired at ${at} after ${key}`);
  }
  assert.ok(seen.size >= 8, `${seen.size} moments`);
  check();
  await close();
});

test("the why panel says what audit why says, and each chip opens the fact that it names", async () => {
  const {page, check, close} = await visit(servers.dev + queue);
  await page.focus("#scrubber");
  await page.keyboard.press("ArrowLeft");
  const {at} = await address(page);
  await page.waitForFunction((time) => document.getElementById("why").dataset.time === time, {}, at);
  const pair = {queue: "low-priority-queue", flavor: "spot", resource: "cpu", "as-of": at};
  const why = await ask(servers.dev, "audit/why", pair);
  const named = seqsIn([why, await ask(servers.dev, "audit/why-not", pair)]);
  const chips = await page.$$eval("#why .chip", (all) => all.map((chip) => Number(chip.dataset.seq)));
  assert.ok(chips.length > 5, `${chips.length} chips`);
  for (const seq of chips) assert.ok(named.has(seq), `seq ${seq} is in no answer`);
  assert.ok((await textOf(page, "#why")).includes(`The quota is ${why.value.nominal}`));
  for (const seq of [...new Set(chips)].slice(0, 6)) {
    await page.$eval(`#why .chip[data-seq="${seq}"]`, (chip) => chip.click());
    await page.waitForFunction(
      (title) => document.getElementById("dialog-title").textContent === title,
      {},
      `Event ${seq}`,
    );
    const record = JSON.parse(await textOf(page, "#dialog-body pre"));
    const said = await ask(servers.dev, "log/cat", {from: `seq:${seq}`, to: `seq:${seq}`, raw: "true"});
    assert.deepEqual(record, JSON.parse(said.text));
    await page.keyboard.press("Escape");
  }
  check();
  await close();
});

test("zooming is in the address, and the way back is there", async () => {
  const {page, check, close} = await visit(servers.dev + queue);
  await page.evaluate(() =>
    [...document.querySelectorAll("button")].find((one) => one.textContent === "Zoom in").click(),
  );
  await page.waitForFunction(() => location.hash.includes("from="));
  await shown(page);
  const {from, to} = await address(page);
  assert.ok(Date.parse(from) < Date.parse(to));
  await page.keyboard.press("w");
  await page.waitForFunction(() => !location.hash.includes("from="));
  await shown(page);
  check();
  await close();
});

test("the log is filtered by terms, a bad term is refused in a sentence, a row opens its record", async () => {
  const {page, check, close} = await visit(servers.dev + "#view=log");
  await page.type("#where", "kind=ClusterQueue cluster=hub");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.includes("where="));
  await shown(page);
  const said = await ask(servers.dev, "log/cat", {where: "kind=ClusterQueue cluster=hub", last: "200"});
  const seqs = said.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).seq)
    .reverse();
  assert.deepEqual(await page.$$eval("tbody .chip", (chips) => chips.map((chip) => Number(chip.dataset.seq))), seqs);
  const about = await page.$$eval("tbody tr", (rows) => rows.map((row) => row.cells[4].textContent));
  assert.deepEqual(new Set(about), new Set(["ClusterQueue high-priority-queue", "ClusterQueue low-priority-queue"]));
  await page.click("tbody .chip");
  await page.waitForSelector("dialog[open] pre");
  assert.equal(JSON.parse(await textOf(page, "#dialog-body pre")).seq, seqs[0]);
  check();
  await close();
});

test("two cursors show every row of audit diff", async () => {
  const {page, check, close} = await visit(servers.dev + "#view=diff&a=seq:60&b=seq:200");
  const diff = await ask(servers.dev, "audit/diff", {from: "seq:60", to: "seq:200"});
  const rows = Object.values(diff)
    .filter((value) => Array.isArray(value))
    .reduce((sum, list) => sum + list.length, 0);
  assert.ok(rows > 0);
  assert.equal((await page.$$("#view tbody tr")).length + (await page.$$("#view .unseen li")).length, rows);
  check();
  await close();
});

test("the proof runs, and the badge says its verdict in every view", async () => {
  const {page, check, close} = await visit(servers.dev + "#view=proof");
  await page.click("#verify");
  await page.waitForFunction(() => document.getElementById("proof").textContent.includes("The replay holds"), {
    timeout: 60000,
  });
  assert.ok((await textOf(page, "#proof")).includes("The hash chain holds"));
  await go(page, "#view=log");
  await page.waitForFunction(() => document.querySelector('[data-view="proof"]').textContent === "Proof ✔");
  check();
  await close();
});

test("what a view shows is had as CSV, JSON and Markdown", async () => {
  const {page, check, close} = await visit(servers.dev + queue);
  await keepSaved(page);
  const {at} = await address(page);
  for (const name of ["CSV", "JSON", "Copy as Markdown"]) await act(page, name);
  await page.waitForFunction(() => Object.keys(window.saved).length === 3);
  const saved = await page.evaluate(() => window.saved);
  const why = await ask(servers.dev, "audit/why", {
    queue: "low-priority-queue",
    flavor: "spot",
    resource: "cpu",
    "as-of": at,
  });
  assert.deepEqual(JSON.parse(saved["application/json"]).why, why);
  const series = await ask(servers.dev, "ui/api/series", {queue: "low-priority-queue"});
  const steps = series.pairs.flatMap((pair) => Object.values(pair.lines).flat());
  assert.equal(saved["text/csv"].trim().split("\r\n").length, steps.length + 1);
  assert.ok(
    saved.copied.startsWith(`**low-priority-queue spot cpu** was ${why.value.nominal} at ${why.asOf.time}`),
    saved.copied,
  );
  assert.ok(saved.copied.includes("chain="), saved.copied);
  check();
  await close();
});

test("a cluster shows its layers and the newest events of its nodes", async () => {
  const {page, check, close} = await visit(servers.dev + "#view=cluster&cluster=cluster1");
  const series = await ask(servers.dev, "ui/api/series", {cluster: "cluster1"});
  assert.equal((await page.$$(".chart")).length, series.pairs.length);
  const said = await ask(servers.dev, "log/cat", {where: "cluster=cluster1 kind=Node", last: "100"});
  const seqs = said.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).seq)
    .reverse();
  assert.deepEqual(await page.$$eval("#view .chip", (chips) => chips.map((chip) => Number(chip.dataset.seq))), seqs);
  check();
  await close();
});

test("a link opens on a bundle of the same log, and says so on another log", async () => {
  const first = await visit(servers.dev + queue);
  const {hash} = new URL(first.page.url());
  assert.match(hash, /chain=[0-9a-f]{16}/);
  await first.close();
  const same = await visit(servers.bundle + hash);
  assert.equal(await same.page.$eval("#other-history", (element) => element.hidden), true);
  assert.equal(await textOf(same.page, "h2"), "low-priority-queue");
  same.check();
  await same.close();
  const other = await visit(servers.other + hash.replace(/&?(queue|flavor|resource|at)=[^&]*/g, ""));
  assert.equal(await other.page.$eval("#other-history", (element) => element.hidden), false);
  assert.match(await textOf(other.page, "#other-history"), /made for another log|ends before the link/);
  await other.close();
});

test("names of any kind are text", async () => {
  const {page, check, close} = await visit(servers.hostile, {width: 390});
  const {queues} = await ask(servers.hostile, "ui/api/overview");
  assert.equal((await page.$$(".card")).length, queues.length);
  assert.equal((await page.$$("main img")).length, 0);
  for (const one of queues) {
    await go(page, "#" + new URLSearchParams({view: "queue", queue: one.queue}));
    // Marks of direction would turn the rest of the line round.
    const shown = one.queue.replaceAll("\u202e", "\\u202e").replaceAll("\u202c", "\\u202c");
    assert.equal(await textOf(page, "h2"), shown);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), one.queue);
  }
  await picture(page, "hostile-390-light");
  assert.deepEqual(await findings(page), []);
  check();
  await close();
});

test("a damaged log is shown up to the damage, and one without objects says what it lacks", async () => {
  const damaged = await visit(servers.damaged);
  assert.match(await textOf(damaged.page, "[role=alert].alert:not([hidden])"), /Keep a copy of the data directory/);
  await picture(damaged.page, "damaged");
  damaged.check();
  await damaged.close();
  const empty = await visit(servers.empty);
  assert.match(await textOf(empty.page, "main"), /No ClusterQueue was seen in this log/);
  await go(empty.page, "#view=queue");
  assert.match(await textOf(empty.page, "main"), /No ClusterQueue was seen in this log/);
  empty.check();
  await empty.close();
});

test("what is asked badly is one sentence, and the rest of the page goes on", async () => {
  const {page, close} = await visit(servers.dev);
  for (const [hash, words] of [
    ["#view=queue&queue=missing", /no ClusterQueue was ever called "missing"/],
    ["#view=fleet&from=noon", /expected a seq/],
    ["#view=log&where=colour%3Dred", /--where: expected one of kind/],
    ["#view=diff&a=noon", /--from: expected a seq/],
    ["#view=nothing", /No view is called/],
    ["#view=queue&queue=low-priority-queue&flavor=gold&resource=cpu", /Choose one of/],
  ]) {
    await go(page, hash);
    const said = await textOf(page, ".refusal p");
    assert.match(said, words);
    assert.equal(said.includes("\n"), false);
  }
  await page.click('[data-view="fleet"]');
  await page.waitForSelector(".card");
  await close();
});

test("a server that is gone is said, and asked again on demand", async () => {
  const {page, close} = await visit(servers.dev);
  await page.setOfflineMode(true);
  await go(page, "#view=log");
  assert.match(await textOf(page, ".refusal p"), /The server does not answer/);
  await page.setOfflineMode(false);
  await page.click(".refusal button");
  await page.waitForSelector("tbody .chip");
  await close();
});

test("a hub that runs is followed and paused, and the cursor at the end goes along", async () => {
  const {page, check, close} = await visit(servers.living + "#view=queue");
  const line = () => textOf(page, "#history");
  const before = await line();
  await page.keyboard.press("f");
  await page.waitForFunction((said) => document.getElementById("history").textContent !== said, {}, before);
  await page.waitForFunction((said) => document.getElementById("history").textContent !== said, {}, await line());
  await page.keyboard.press("f");
  assert.equal(await page.$eval("#follow", (button) => button.getAttribute("aria-pressed")), "false");
  await shown(page);
  await new Promise((resolve) => setTimeout(resolve, 2500));
  const paused = await line();
  await new Promise((resolve) => setTimeout(resolve, 3000));
  assert.equal(await line(), paused);
  const {at} = await address(page);
  const log = await ask(servers.living, "ui/api/log");
  assert.ok(Date.parse(at) <= Date.parse(log.last_time));
  check();
  await close();
});

for (const [name, sentence] of [
  ["empty", /No ClusterQueue was seen in this log[^]*No cluster was seen in this log/],
  ["damaged", /Keep a copy of the data directory/],
  ["hostile", null],
])
  test(`every view of a log that is ${name}, at 320 px: nothing breaks, and what cannot be answered is a sentence`, async () => {
    const {page, faults, close} = await visit(servers[name], {width: 320});
    const hashes = ["#view=fleet", "#view=queue", "#view=cluster", "#view=diff", "#view=log", "#view=proof"];
    const said = [];
    for (const hash of hashes) {
      await go(page, hash);
      await page.waitForNetworkIdle({idleTime: 300});
      said.push(await textOf(page, "main"));
      const refusal = await page.evaluate(() => document.querySelector(".refusal p")?.textContent);
      if (name === "hostile") assert.equal(refusal, undefined, hash);
      if (refusal) assert.match(refusal, /^[^\n]+$/, hash);
      assert.equal((await page.$$("main img")).length, 0, hash);
      assert.deepEqual(await findings(page), [], hash);
      const [inner, scrolled] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
      assert.ok(scrolled <= inner, `${hash} is ${scrolled} px wide`);
      await picture(page, `${name}-${hash.slice(6)}-320`);
    }
    if (sentence) assert.match(said.join("\n"), sentence);
    console.log(
      name,
      said.map((text) => text.slice(0, 300)),
    );
    // A browser reports refused requests as well.
    assert.deepEqual(
      faults.filter((fault) => !/status of (400|500)/.test(fault)),
      [],
    );
    await close();
  });
