// The browser under test and a page of it: what it must never do is noted from its first request on.

import assert from "node:assert/strict";
import {mkdirSync, readFileSync} from "node:fs";
import {after, before} from "node:test";
import puppeteer from "puppeteer-core";

/** The servers that the Python side started, by name: {dev, bundle, other, hostile, damaged, empty, living,
 * lists, edits, devices, bursts, large, flaps, waits, crowd}, and the pages that were saved as files: {saved, savedList,
 * savedHostile}. */
export const servers = JSON.parse(process.env.FAIRLEAD_PAGES);
const pictures = process.env.FAIRLEAD_PICTURES;
const firefox = process.env.FAIRLEAD_BROWSER === "firefox";
const axe = readFileSync(new URL(import.meta.resolve("axe-core")), "utf8");

/** The theme of all pages in Firefox, which cannot be changed later. */
const fixedTheme = process.env.FAIRLEAD_THEME ?? "light";

/** Launches FAIRLEAD_BROWSER, "chromium" or "firefox". */
function launch(options = {}) {
  if (firefox)
    return puppeteer.launch({
      browser: "firefox", // by WebDriver BiDi
      executablePath: "/usr/bin/firefox-esr",
      headless: true,
      // What visit() asks Chromium for: no motion, and a theme.
      extraPrefsFirefox: {
        "ui.prefersReducedMotion": 1,
        "layout.css.prefers-color-scheme.content-override": fixedTheme === "dark" ? 0 : 1,
      },
      ...options,
    });
  return puppeteer.launch({
    executablePath: "/usr/bin/chromium",
    headless: true,
    ...options,
    args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"],
  });
}

// One browser for the tests of the file that imports this.
let browser;
before(async () => {
  // The certificate of a hub is of an authority that the browser does not know.
  browser = await launch({acceptInsecureCerts: Object.values(servers).some((url) => url.startsWith("https:"))});
});
after(async () => {
  await browser?.close();
});

/** Opens an address of the page and waits until it is `ready`. check() fails if anything of `faults` went wrong. */
export async function visit(url, {width = 1280, height = 1000, theme = "light", ready = shown} = {}) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const faults = [];
  const host = new URL(url).host;
  page.on("console", (message) => message.type() === "error" && faults.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const asked = new URL(request.url());
    // Firefox loads a font of its own from a data URL: that asks no server.
    if (asked.host !== host && asked.protocol !== "data:") faults.push(`request to ${asked.href}`);
    // A page from a file asks for nothing but itself.
    if (asked.protocol === "file:" && asked.pathname !== new URL(url).pathname) faults.push(`request for ${asked}`);
  });
  await page.setViewport({width, height});
  if (firefox) assert.equal(theme, fixedTheme, "of Firefox: FAIRLEAD_THEME");
  else
    await page.emulateMediaFeatures([
      {name: "prefers-color-scheme", value: theme},
      {name: "prefers-reduced-motion", value: "reduce"},
    ]);
  await page.goto(url);
  await ready(page);
  return {page, faults, check: () => assert.deepEqual(faults, []), close: () => context.close()};
}

/** Waits until the view is whole. */
export async function shown(page) {
  await page.waitForFunction(
    () => {
      const view = document.getElementById("view");
      return view.childElementCount > 0 && !view.querySelector("[aria-busy]") && !view.hasAttribute("aria-busy");
    },
    {timeout: 30000},
  );
}

/** Clicks a link to another view. What was shown is marked, because it is whole until the page has heard of the link. */
export async function follow(page, selector) {
  await page.evaluate(() => document.getElementById("view").firstElementChild.setAttribute("data-before", ""));
  await page.click(selector);
  await page.waitForFunction(() => !document.querySelector("#view > [data-before]"), {timeout: 30000});
  await shown(page);
}

/** Goes to another address of the same page. */
export async function go(page, hash) {
  await page.evaluate((to) => {
    document.getElementById("view").replaceChildren();
    location.hash = to;
  }, hash);
  await shown(page);
}

/** Keeps a picture for people to look at. */
export async function picture(page, name) {
  mkdirSync(pictures, {recursive: true});
  await page.screenshot({path: `${pictures}/${name}.png`, fullPage: true});
}

/** What axe-core finds, as one line each. */
export async function findings(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, {resultTypes: ["violations"]}));
  return found.violations.flatMap((rule) =>
    rule.nodes.map((node) => `${rule.id}: ${node.target.join(" ")}: ${node.failureSummary}`),
  );
}

/** An answer of the server, asked past the page. */
export async function ask(base, path, parameters = {}) {
  const url = new URL("../" + path, base);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const response = await fetch(url);
  assert.equal(response.status, 200, `${url}: ${response.status}`);
  return response.json();
}

export function textOf(page, selector) {
  return page.$eval(selector, (element) => element.textContent);
}

/** The state in the page's address. */
export const address = (page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));

/** Presses a key at the cursor, and waits for the why panel of the moment that the address has then, which is returned. */
export async function moveCursor(page, key) {
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
  return at;
}

/** The word of an action below the view, clicked once it is there. */
export async function act(page, name) {
  await page.waitForFunction(
    (text) => [...document.querySelectorAll("#actions button")].some((one) => one.textContent === text),
    {},
    name,
  );
  await page.evaluate(
    (text) => [...document.querySelectorAll("#actions button")].find((one) => one.textContent === text).click(),
    name,
  );
}

/** Keeps what the page copies and saves in window.saved, by type; what it copies is "copied". */
export function keepSaved(page) {
  return page.evaluate(() => {
    window.saved = {};
    URL.createObjectURL = (blob) => {
      void blob.text().then((text) => (window.saved[blob.type] = text));
      return "#saved";
    };
    Object.defineProperty(navigator, "clipboard", {
      value: {writeText: async (text) => void (window.saved.copied = text)},
    });
  });
}
