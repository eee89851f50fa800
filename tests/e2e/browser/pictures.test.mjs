// The pictures of docs/page.md: one of each view, of the logs of docs/incident, docs/gpu and docs/pool, and the fleet of
// `fairlead dev` (scripts/pictures).

import {mkdirSync, statSync} from "node:fs";
import assert from "node:assert/strict";
import {before, test} from "node:test";
import {go, servers, visit} from "./visit.mjs";

const folder = process.env.FAIRLEAD_PICTURES;
const bytesMax = 250_000;
const pair = "queue=training&flavor=on-demand&resource=nvidia.com/gpu";
const span = "from=2026-11-21T13:59:00Z";
/** @type {[name: string, server: string, hash: string][]} */
const views = [
  ["fleet", "incident", `#view=fleet&${span}`],
  ["queue", "incident", `#view=queue&${pair}&${span}&at=2026-11-21T14:07:00Z`],
  ["cluster", "incident", `#view=cluster&${span}`],
  ["list", "gpu", "#view=list&list=gpu&at=2026-11-21T09:08:40Z"],
  ["diff", "incident", "#view=diff&a=2026-11-21T14:00:00Z&b=2026-11-21T14:08:00Z"],
  ["whatif", "incident", `#view=whatif&${pair}&${span}&set=growWindow%3D30s`],
  ["log", "incident", "#view=log&where=kind%3DNode"],
  ["proof", "incident", "#view=proof"],
  ["pool", "pool", "#view=pool"],
  ["dev", "dev", "#view=fleet"],
];

before(() => mkdirSync(folder, {recursive: true}));

for (const [name, server, hash] of views)
  test(`a picture of the view ${name}`, async () => {
    const {page, check, close} = await visit(servers[server], {width: 1200, height: 900});
    await go(page, hash);
    if (name === "proof") {
      await page.click("#verify");
      await page.waitForFunction(() => document.getElementById("proof").textContent.includes("The replay holds"));
    }
    await page.waitForNetworkIdle({idleTime: 300});
    assert.equal(await page.$(".refusal"), null);
    const path = `${folder}/${name}.png`;
    await page.screenshot({path});
    assert.ok(statSync(path).size < bytesMax, `${path}: ${statSync(path).size} bytes`);
    check();
    await close();
  });
