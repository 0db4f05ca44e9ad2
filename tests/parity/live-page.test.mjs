// live() in Chromium, against a real host: the champion is swapped while the page is open, and the next score has the new
// version, without a reload. Without the host the page continues to score, also after a reload.

import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import manifest from "../../components/js/lib/dist/manifest.js";
import { live } from "../../components/js/lib/src/node.js";
import { FEATURES } from "../../host/web/bank/fact-words.js";
import { built } from "./built.mjs";
import { launch, open, servePage } from "./chromium.mjs";
import { SOUND, textOf } from "./hostile.mjs";
import { Service } from "./service.mjs";

const RISK = textOf(SOUND.risk);
const RISK_1 = manifest.models["risk-1"].model_version;
const RISK_2 = manifest.models["risk-2"].model_version;

/** Longest time until a page has noticed a change, in milliseconds. */
const NOTICE_MS_MAX = 20_000;

let service;
let browser;
let server;

before(async () => {
  service = await Service.start();
  browser = await launch();
  // The shipped package, served here so that the page is available without the host.
  server = await servePage({ folder: "lib/", more: forward });
});

after(async () => {
  await browser?.close();
  await server?.close();
  await service?.end();
});

/** Forwards requests for models to the host; without a host they get no answer. */
async function forward(request, response) {
  if (!request.url.startsWith("/models/")) return false;
  try {
    const condition = request.headers["if-none-match"];
    const headers = condition ? { "if-none-match": condition } : {};
    const answer = await fetch(service.ledger + request.url, { headers });
    const kept = ["content-type", "etag", "cache-control"].filter((name) => answer.headers.has(name));
    response.writeHead(answer.status, Object.fromEntries(kept.map((name) => [name, answer.headers.get(name)])));
    response.end(Buffer.from(await answer.arrayBuffer()));
  } catch {
    response.destroy();
  }
  return true;
}

/** Follows the risk model in a page. */
function follow(page, entry = "/scorers/src/browser.js") {
  return page.evaluate(async (path) => {
    const { live } = await import(path);
    globalThis.changes = [];
    const onChange = (version) => globalThis.changes.push(version);
    globalThis.risk = await live("risk", { base: location.origin, everySeconds: 1, onChange });
  }, entry);
}

const score = (page) => page.evaluate((text) => globalThis.risk.assessText(text), RISK);
const problem = (page) => page.evaluate(() => globalThis.risk.problem);
const atHost = async () => (await service.post("/ai/risk", RISK)).json();

/** What weighed how much: the page as Node, where a worker says it, and both as the host, which adds it up by facts. */
async function explainsAlike(page) {
  const inPage = await page.evaluate(async (it) => JSON.stringify(await globalThis.risk.explain(JSON.parse(it))), RISK);
  const risk = await live("risk", { base: service.ledger, everySeconds: 600, isolate: true });
  const explained = await risk.explain(JSON.parse(RISK));
  risk.close();
  assert.equal(inPage, JSON.stringify(explained));
  const { contributions, ...answer } = explained;
  const { weighed, rest, ...told } = await (await service.post("/ai/risk/explain", RISK)).json();
  assert.deepEqual(answer, told);
  assert.ok(weighed.length > 0 && Number.isFinite(rest));
  const of = (fact) => contributions.filter(({ feature }) => (FEATURES[feature] ?? feature) === fact);
  for (const { fact, contribution } of weighed)
    assert.equal(
      contribution,
      of(fact).reduce((sum, { weight }) => sum + weight, 0),
      fact,
    );
}

async function eventually(what, holds) {
  const begin = performance.now();
  while (!(await holds())) {
    assert.ok(performance.now() - begin < NOTICE_MS_MAX, `not in time: ${what}`);
    await sleep(50);
  }
  return performance.now() - begin;
}

test("a Node program follows a swap at the host", async () => {
  await service.deploy("risk", "risk-2.");
  const risk = await live("risk", { base: service.ledger, everySeconds: 600 });
  assert.deepEqual([risk.problem, risk.assessText(RISK)], [null, await atHost()]);
  assert.equal(risk.modelVersion, RISK_2);
  await service.deploy("risk", "risk-1.");
  assert.equal(await risk.check(), true);
  assert.deepEqual([risk.problem, risk.assessText(RISK)], [null, await atHost()]);
  assert.equal(risk.modelVersion, RISK_1);
  risk.close();
});

test("the host's own page, from modules to core, follows a swap without a reload", async () => {
  await service.deploy("risk", "risk-2.");
  const page = await browser.newPage();
  await page.goto(service.ledger);
  await follow(page, "/scorers/dist/entry/page.js");
  assert.deepEqual(await score(page), await atHost());
  assert.equal((await score(page)).model_version, RISK_2);
  await service.deploy("risk", "risk-1.");
  const waited = await eventually("risk-1 in the page", async () => (await score(page)).model_version === RISK_1);
  assert.deepEqual(await score(page), await atHost());
  assert.deepEqual(await page.evaluate(() => globalThis.changes), [RISK_1]);
  assert.equal(await problem(page), null);
  console.log(`swapped at the host; ${waited.toFixed(0)} ms later the page's next score was by ${RISK_1}`);
  await service.deploy("risk", "risk-2.");
  assert.equal(await page.evaluate(() => globalThis.risk.check()), true);
  assert.equal((await score(page)).model_version, RISK_2);
  await page.close();
});

test("the host's own page goes from one contract to the other and back", async () => {
  const { folder, models } = await built();
  for (const { component } of models) await service.push(component);
  await service.deploy("risk", "risk-1.");
  const page = await browser.newPage();
  await page.goto(service.ledger);
  await follow(page, "/scorers/dist/entry/page.js");
  for (const version of [...models.map((it) => it.identity.modelVersion), RISK_1]) {
    await service.deploy("risk", version);
    assert.equal(await page.evaluate(() => globalThis.risk.check()), true);
    assert.deepEqual([await problem(page), (await score(page)).model_version], [null, version]);
    assert.deepEqual(await score(page), await atHost());
    await explainsAlike(page);
  }
  await page.close();
  await rm(folder, { recursive: true, force: true });
});

test("a swapped-in model survives the loss of the host, and a reload", async () => {
  const first = await open(browser, server.url);
  await follow(first.page);
  await service.deploy("risk", "risk-1.");
  await eventually("risk-1 in the page", async () => (await score(first.page)).model_version === RISK_1);
  const wanted = await atHost();
  await service.stop();
  await eventually("the page misses the host", async () => (await problem(first.page))?.code === "unreachable");
  assert.deepEqual(await score(first.page), wanted);
  assert.deepEqual(
    first.faults.filter((it) => !it.includes("net::ERR")),
    [],
  );
  await first.page.close();

  const second = await open(browser, server.url);
  await follow(second.page);
  assert.deepEqual(await score(second.page), wanted, "the last good model of the visit before, not the package's");
  assert.equal((await problem(second.page)).code, "unreachable");

  // Tampered with: the bytes no longer have the digest.
  await second.page.evaluate(async () => {
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const request of await cache.keys()) {
        const kept = await cache.match(request);
        const bytes = new Uint8Array(await kept.arrayBuffer());
        bytes[bytes.length - 1] ^= 1;
        await cache.put(request, new Response(bytes, { headers: kept.headers }));
      }
    }
  });
  await second.page.reload();
  await follow(second.page);
  assert.equal((await score(second.page)).model_version, RISK_2, "the package's own");
  await second.page.close();
});

test("no part is fetched at import, and then only what one kind needs", async () => {
  const asked = [];
  const more = (request) => void asked.push(request.url);
  const own = await servePage({ folder: "lib/", more });
  const { page, faults } = await open(browser, own.url);
  const atImport = asked.splice(0).filter((path) => path.includes("/dist/"));
  assert.deepEqual(atImport, ["/scorers/dist/entry/browser.js"]);
  await page.evaluate(async () => void (await globalThis.scorers.load("nudge")));
  const fetched = asked.filter((path) => /\/(dist|src\/(live|offer))/.test(path)).sort();
  assert.deepEqual(fetched, [
    "/scorers/dist/core/nudge-1.core.wasm",
    "/scorers/dist/glue/nudge.js",
    "/scorers/dist/manifest.js",
    "/scorers/dist/schema/nudge.js",
  ]);
  const before = asked.length;
  await page.evaluate(async () => void (await globalThis.scorers.load("nudge")));
  assert.equal(asked.length, before, "a compiled core is kept");
  assert.deepEqual(faults, []);
  await page.close();
  await own.close();
});

test("a core of another release is rejected, and a missing one can be loaded later", async () => {
  let answer = (response) => response.end("\0asm of another release");
  const more = (request, response) => {
    if (!answer || !request.url.endsWith("nudge-1.core.wasm")) return false;
    answer(response);
    return true;
  };
  const own = await servePage({ folder: "lib/", more });
  const { page } = await open(browser, own.url);
  const load = () =>
    page.evaluate(() => {
      const { load } = globalThis.scorers;
      return load("nudge").then(
        (it) => it.modelVersion,
        (error) => error.message,
      );
    });
  assert.match(await load(), /not the one of this release/);
  answer = (response) => response.setHeader("Content-Type", "text/html").end("<!doctype html>");
  assert.match(await load(), /nudge-1\.core\.wasm answered with text\/html, not with WebAssembly/);
  answer = (response) => response.writeHead(503).end();
  assert.match(await load(), /answered 503/);
  answer = null;
  assert.equal(await load(), manifest.models["nudge-1"].model_version);
  await page.close();
  await own.close();
});
