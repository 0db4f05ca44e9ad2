// The model console in Chromium, in front of the real host: signing in, every change, the report, and a lost race.
//
//   CAUDAL                 the program under test
//   CAUDAL_WEB_SHOTS       a folder outside of the repository for screenshots; none are made without it

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { launch } from "../parity/chromium.mjs";
import { SOUND, textOf } from "../parity/hostile.mjs";
import { program, Service } from "../parity/service.mjs";

const AXE = createRequire(import.meta.url).resolve("axe-core");
const SHOTS = process.env.CAUDAL_WEB_SHOTS;
const REQUESTS = 60;

let service;
let browser;
let page;
const faults = [];

before(async () => {
  service = await Service.start();
  browser = await launch();
  page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 900 });
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  await page.goto(`${service.assist}/console`, { waitUntil: "networkidle0" });
});

after(async () => {
  await browser?.close();
  await service?.end();
});

const token = (scope) =>
  execFileSync(program(), ["--data-dir", service.folder, "token", "--user", "ops", "--scope", scope]).toString();

/** Waits until the page, or a part of it, shows a text. */
const shows = (pattern, selector = "body") =>
  page.waitForFunction(
    (source, where) => new RegExp(source).test(document.querySelector(where)?.innerText ?? ""),
    { timeout: 20_000 },
    pattern.source,
    selector,
  );

/** Presses the visible button whose text starts like this, within a place. */
async function press(text, within = "body") {
  const found = await page.evaluateHandle(
    (start, where) =>
      [...document.querySelectorAll(`${where} button`)].find(
        (it) => it.checkVisibility() && it.textContent.startsWith(start),
      ),
    text,
    within,
  );
  assert.ok(found.asElement(), `no button ${text}`);
  await found.asElement().click();
}

async function shot(name) {
  if (SHOTS) await page.screenshot({ path: join(SHOTS, `console-${name}.png`), fullPage: true });
}

async function signIn(scope) {
  await page.type("#token", token(scope).trim());
  await press("Sign in");
  await shows(/In service/);
}

/** Confirms the open dialog with a reason. */
async function confirm(reason) {
  await page.type("dialog textarea", reason);
  await page.click("dialog button.main");
  await page.waitForFunction(() => !document.querySelector("dialog"));
}

test("a token is required, and one without the scope is read-only", async () => {
  await shot("sign-in");
  await press("Sign in");
  await shows(/Paste a token/);
  await signIn("audit:read");
  await shows(/This token is read-only/);
  assert.equal(await page.$("[data-change]"), null);
  await press("Sign out");
  // A token for the rules shows nothing else.
  await signIn("rules:admin");
  await shows(/Transfer rules/, "#kind-title");
  assert.equal((await page.$$("#kinds a")).length, 1);
  await press("Sign out");
  await signIn("models:admin rules:admin");
  await shows(/risk-2\.0\.0/, "#service");
});

test("a shadow and a canary are compared with the champion", async () => {
  await press("Shadow", "#versions");
  await shows(/What will happen:/, "dialog");
  await press("Add shadow", "dialog");
  await shows(/Enter a reason/, "dialog");
  await confirm("compare the baseline");
  await shows(/is a shadow\. This is change 1/, "#notice");
  for (let at = 0; at < REQUESTS; at += 1) {
    const amount = String(100 + at * 50);
    await service.post("/ai/risk", textOf({ ...SOUND.risk, amount, user_id: `"user-${at}"` }));
  }
  await shows(/requests were compared/, "#report");
  await page.waitForSelector("#report svg.plot");
  // Redrawing every two seconds leaves an open part open.
  await page.click("#report summary");
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  assert.equal(await page.$eval("#report details", (it) => it.open), true);
  await shot("report");
  await press("Canary", "#versions");
  await shot("canary");
  await confirm("try it on a few");
  await shows(/answers 5.% of users/, "#notice");
  await press("Stop", "#service");
  await confirm("enough");
  await shows(/The canary is stopped/, "#notice");
});

test("details show the gate's report and the card; a file that is not WebAssembly is not sent", async () => {
  const risk = await service.version("risk-2.");
  await service.attest(risk, {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: "risk", digest: { sha256: risk.sha256 } }],
    predicateType: "https://cyclonedx.org/bom",
    predicate: {
      bomFormat: "CycloneDX",
      components: [{ name: "libm", version: "0.2", licenses: [{ expression: "MIT" }] }],
    },
  });
  await press("Details", "#versions");
  await shows(/Model card/, "dialog");
  await shows(/Bill of materials/, "dialog");
  await shows(/Not signed by a key that this host knows/, "dialog");
  await shows(/1 part\b/, "dialog");
  await shot("details");
  await press("Close", "dialog");
  await press("Push a component");
  await (await page.$("#push-file")).uploadFile(new URL(import.meta.url).pathname);
  await press("Push", "dialog form");
  await shows(/This is not a WebAssembly file/, "dialog");
  await press("Cancel", "dialog");
});

test("a change that comes too late changes nothing and names the earlier one", async () => {
  await press("Promote", "#versions");
  await service.deploy("risk", "risk-1.");
  await confirm("mine");
  await shows(/Nothing was changed/, "#notice");
  await shows(/was made in the meantime by ops: “?parity/, "#notice");
  await shot("late");
  // The refusal itself is logged by the browser.
  assert.deepEqual(
    faults.splice(0).filter((it) => !it.includes("412")),
    [],
  );
});

test("axe finds nothing, in both colour schemes", async () => {
  await page.evaluate(readFileSync(AXE, "utf8"));
  for (const value of ["light", "dark"]) {
    // A colour in transition has neither contrast.
    const motion = { name: "prefers-reduced-motion", value: "reduce" };
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value }, motion]);
    const found = await page.evaluate(async () => (await globalThis.axe.run(document)).violations.map((it) => it.id));
    assert.deepEqual(found, [], value);
    await shot(value);
  }
  assert.deepEqual(faults, []);
});
