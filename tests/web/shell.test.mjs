// What the host serves before anyone signs in: how much it is, in which language, and what is there without a connection.

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";

import { launch } from "../parity/chromium.mjs";
import { settled, startBank } from "./bank.mjs";
import { Line } from "./line.mjs";
import { Person } from "./person.mjs";

/** Of the first view, with headers, as it comes over the line. */
const BYTES_MAX = 100_000;
/** Longest wait for a page to be quiet, on a machine that has other work. */
const PATIENCE_MS = 120_000;

let bank;
let browser;
let line;

before(async () => {
  [bank, browser] = await Promise.all([startBank(), launch(["--lang=es-MX"])]);
  line = await Line.to(bank.service.ledger);
});

after(async () => {
  await browser?.close();
  await line?.close();
  await bank?.end();
});

/** Everything a page loads until it is quiet. */
async function loads(page, url) {
  const cdp = await page.createCDPSession();
  await cdp.send("Network.enable");
  const responses = new Map();
  cdp.on("Network.responseReceived", ({ requestId, response }) => responses.set(requestId, { ...response, bytes: 0 }));
  cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const response = responses.get(requestId);
    if (response) response.bytes = encodedDataLength;
  });
  await page.goto(url, { waitUntil: "networkidle0" });
  await cdp.detach();
  return [...responses.values()].map(({ url: from, headers, bytes, fromDiskCache, status }) => {
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    return { path: new URL(from).pathname, headers: lower, bytes, fromDiskCache, status };
  });
}

describe("the first view", { concurrency: 1 }, () => {
  test(`is at most ${BYTES_MAX} bytes, compressed, and its assets are kept`, async (t) => {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const all = await loads(page, line.url);
    const total = all.reduce((sum, it) => sum + it.bytes, 0);
    for (const { path, bytes } of all) t.diagnostic(`${path}: ${bytes}`);
    t.diagnostic(`in all: ${total} bytes in ${all.length} responses`);
    assert.ok(total > 10_000 && total <= BYTES_MAX, `${total} bytes`);
    const assets = all.filter(({ path }) => path.startsWith("/assets/"));
    assert.equal(assets.length, 2);
    for (const { path, headers } of assets) {
      assert.match(path, /^\/assets\/bank-[0-9a-f]{16}\.(js|css)$/);
      assert.equal(headers["content-encoding"], "gzip");
      assert.equal(headers.vary, "accept-encoding");
      assert.equal(headers["cache-control"], "public, max-age=31536000, immutable");
    }
    assert.equal(all.find(({ path }) => path === "/").headers["content-encoding"], "gzip");
    // The second time they come from this device.
    const from = line.requests.length;
    await page.reload({ waitUntil: "networkidle0" });
    assert.deepEqual(line.seen("GET", "/assets/", from), []);
    await context.close();
  });

  test("an asset of another release is answered with this one's, which is not kept", async () => {
    for (const extension of ["js", "css"]) {
      const response = await fetch(`${line.url}/assets/bank-0123456789abcdef.${extension}`);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get("cache-control"), "no-cache");
    }
    for (const name of ["bank-0123456789abcdef.html", "other-0123456789abcdef.js", "..%2fbank.js"])
      assert.equal((await fetch(`${line.url}/assets/${name}`)).status, 404, name);
  });

  test("the language is the browser's until the person chooses", async () => {
    for (const [wanted, heading, lang] of [
      ["es-MX,es;q=0.9,en;q=0.8", "Entrar", "es-MX"],
      ["es", "Entrar", "es-MX"],
      ["es-ES,en", "Entrar", "es-MX"],
      ["en", "Sign in", "en"],
      ["en-GB,es", "Sign in", "en"],
      ["fr", "Entrar", "es-MX"],
      ["fr-CA,en;q=0.5", "Sign in", "en"],
    ]) {
      const context = await browser.createBrowserContext();
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      page.setDefaultTimeout(PATIENCE_MS);
      const cdp = await page.createCDPSession();
      const userAgent = await browser.userAgent();
      await cdp.send("Emulation.setUserAgentOverride", { userAgent, acceptLanguage: wanted.replace(/;q=[\d.]+/g, "") });
      await page.goto(line.url, { waitUntil: "networkidle0" });
      const seen = () => page.evaluate(() => [document.querySelector("h1").textContent, document.documentElement.lang]);
      assert.deepEqual(await seen(), [heading, lang], wanted);
      if (wanted === "fr") {
        // A choice outlives a reload.
        await page.click("#language");
        await page.reload({ waitUntil: "networkidle0" });
        assert.deepEqual(await seen(), ["Sign in", "en"]);
        await page.click("#language");
        await page.reload({ waitUntil: "networkidle0" });
        assert.deepEqual(await seen(), ["Entrar", "es-MX"]);
      }
      await context.close();
    }
  });

  test("it can be installed", async () => {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const cdp = await page.createCDPSession();
    await page.goto(line.url, { waitUntil: "networkidle0" });
    const { errors, data } = await cdp.send("Page.getAppManifest");
    assert.deepEqual(errors, []);
    const { icons, start_url, display, theme_color } = JSON.parse(data);
    assert.deepEqual([start_url, display, theme_color], ["/", "standalone", "#fffdf9"]);
    assert.ok(icons.some(({ purpose }) => purpose === "maskable"));
    for (const { src, type } of icons) {
      const response = await fetch(line.url + src);
      assert.equal(response.headers.get("content-type"), type, src);
    }
    const { installabilityErrors } = await cdp.send("Page.getInstallabilityErrors");
    // A context of tests is a private window, where nothing can be installed.
    assert.deepEqual(
      installabilityErrors.map(({ errorId }) => errorId).filter((it) => it !== "in-incognito"),
      [],
    );
    await context.close();
  });
});

/** Waits until the worker serves the page. */
const isKept = (it) =>
  it.page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    if (navigator.serviceWorker.controller) return;
    await new Promise((resolve) => navigator.serviceWorker.addEventListener("controllerchange", resolve));
  });

/** Everything in the browser's caches. */
const cached = (it) =>
  it.page.evaluate(async () => {
    const all = {};
    for (const name of await caches.keys()) {
      if (!name.startsWith("caudal-page-")) continue;
      const requests = await (await caches.open(name)).keys();
      all[name] = requests.map(({ url }) => new URL(url).pathname).sort();
    }
    return all;
  });

const storage = (it) => it.page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }));

describe("without a connection", { concurrency: 1 }, () => {
  beforeEach(() => line.restore());

  test("a reload shows the page, what was last seen and when; after signing out, nothing of the person", async () => {
    const { user } = await settled(bank, { count: 1 });
    const it = await Person.at(browser, line.url);
    await it.signsIn(user);
    await it.sees("$9,900.00");
    await isKept(it);
    const [paths] = Object.values(await cached(it));
    assert.deepEqual(paths.map((path) => path.replace(/[0-9a-f]{16}/, "<digest>")).sort(), [
      "/",
      "/assets/bank-<digest>.css",
      "/assets/bank-<digest>.js",
      "/bank/icon-192.png",
      "/bank/logo.svg",
      "/bank/manifest.webmanifest",
    ]);

    line.cut();
    await it.page.reload();
    await it.arrives("Mis cuentas");
    await it.sees(/Sin conexión con el banco. Última actualización: Hoy, \d\d:\d\d/);
    await it.sees("$9,900.00");
    // Whom the person pays is not kept.
    assert.doesNotMatch(await storage(it), /Luis/);
    assert.deepEqual(Object.values(await cached(it)), [paths]);

    await it.activates("button", "Salir");
    await it.arrives("Entrar");
    await it.page.reload();
    await it.arrives("Entrar");
    const left = await storage(it);
    assert.doesNotMatch(left, /9900|9,900|990000|646180|Luis|"caudal\.(token|seen|draft)"/);
    assert.doesNotMatch(left, new RegExp(user));
    assert.deepEqual(Object.values(await cached(it)), [paths]);

    // Nor for the next person.
    line.restore();
    const other = await settled(bank, { count: 2 });
    await it.page.reload();
    await it.arrives("Entrar");
    await it.signsIn(other.user);
    await it.sees("$9,800.00");
    line.cut();
    await it.page.reload();
    await it.sees("Última actualización");
    assert.doesNotMatch(await it.text(), /9,900/);
    line.restore();
    await it.leaves();
  });

  test("an expired session leaves no balance either", async () => {
    const { user } = await settled(bank, { count: 1 });
    const it = await Person.at(browser, line.url);
    await it.signsIn(user);
    await it.sees("$9,900.00");
    assert.match(await storage(it), /caudal\.seen/);
    await it.page.evaluate(() => sessionStorage.setItem("caudal.token", "a.b.c"));
    await it.opens("Beneficiarios");
    await it.arrives("Entrar");
    assert.doesNotMatch(await storage(it), /caudal\.seen/);
    await it.leaves();
  });

  test("a new version takes over at the next visit, and the old one is gone", async () => {
    const it = await Person.at(browser, line.url);
    await isKept(it);
    const [before] = Object.keys(await cached(it));
    const worker = await (await fetch(`${line.url}/offline-worker.js`)).text();
    const changed = worker.replace(/version: "[0-9a-f]+"/, 'version: "next"');
    assert.notEqual(changed, worker);
    const page = await (await fetch(line.url)).text();
    const headers = (type) => ({ "content-type": type, "cache-control": "no-cache" });
    line.answer("GET", "/offline-worker.js", { status: 200, headers: headers("text/javascript"), body: changed });
    // Half of the new release: its page names assets that this worker does not have, so the old version stays.
    const half = page.replace(/bank-[0-9a-f]{16}/g, "bank-0123456789abcdef");
    line.answer("GET", "/", { status: 200, headers: headers("text/html"), body: half });
    await it.page.reload();
    await it.arrives("Entrar");
    await it.pause(4_000);
    assert.deepEqual(Object.keys(await cached(it)), [before]);

    line.restore();
    line.answer("GET", "/offline-worker.js", { status: 200, headers: headers("text/javascript"), body: changed });
    await it.page.reload();
    await it.arrives("Entrar");
    await it.page.waitForFunction(async () => (await caches.keys()).join().includes("caudal-page-next"));
    line.cut();
    await it.page.reload();
    await it.arrives("Entrar");
    line.restore();
    await it.leaves();
  });

  test("a host that does not answer, or a proxy without a host, is treated like no connection", async () => {
    const it = await Person.at(browser, line.url);
    await isKept(it);
    line.answer("GET", "/", { status: 502, headers: { "content-type": "text/html" }, body: "<h1>Bad gateway</h1>" });
    await it.page.reload();
    await it.page.waitForFunction(() => document.querySelector("#main h1"));
    assert.doesNotMatch(await it.text("body"), /Bad gateway/);
    line.restore();
    await it.leaves();
  });
});
