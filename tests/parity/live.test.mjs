// live() against a stand-in for a host: it follows what is in service, whatever is slow or unavailable. Bad offers are in
// live-refusals.test.mjs.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { webcrypto } from "node:crypto";
import { afterEach, beforeEach, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import manifest from "../../components/js/lib/dist/manifest.js";
import { follow } from "../../components/js/lib/src/live.js";
import { live, load } from "../../components/js/lib/src/node.js";
import { SOUND, textOf } from "./hostile.mjs";
import { another, coreOf, gate, offerOfPackaged, Stub, until } from "./stub.mjs";

const NODE_ENTRY = new URL("../../components/js/lib/src/node.js", import.meta.url);

const PACKAGED = manifest.models["nudge-1"].model_version;
const NUDGE = textOf(SOUND.nudge);

let stub;
let scorer;

beforeEach(async () => {
  stub = await new Stub().start();
});

afterEach(async () => {
  scorer?.close();
  scorer = undefined;
  await stub.end();
});

async function start(kind = "nudge", options = {}) {
  scorer = await live(kind, { base: stub.url, everySeconds: 600, ...options });
  return scorer;
}

const version = () => scorer.assessText(NUDGE).model_version;

describe("what is in service", () => {
  test("is adopted, answers under its version, and is requested by its ETag", async () => {
    const changes = [];
    const { model_version: first, sha256 } = stub.offer("nudge", another(coreOf("nudge-1"), "first"));
    await start("nudge", { onChange: (it) => changes.push(it) });
    assert.deepEqual([scorer.modelVersion, scorer.sha256, version()], [first, sha256, first]);
    assert.equal(scorer.problem, null);
    assert.deepEqual(changes, [], "where it begins is no change");
    assert.equal(await scorer.check(), false);
    const asked = stub.requests("/models/nudge").map(({ status, isConditional }) => [status, isConditional]);
    assert.deepEqual(asked, [
      [200, false],
      [304, true],
    ]);
    assert.equal(stub.requests("/models/core").length, 1);

    const { model_version: second } = stub.offer("nudge", another(coreOf("nudge-1"), "second"));
    assert.equal(version(), first);
    assert.equal(await scorer.check(), true);
    assert.deepEqual([version(), changes], [second, [second]]);
  });

  test("is not fetched when it is the model of the package", async () => {
    stub.offer("nudge", coreOf("nudge-1"), offerOfPackaged("nudge-1"));
    await start();
    assert.deepEqual([version(), scorer.problem], [PACKAGED, null]);
    assert.equal(stub.requests("/models/core").length, 0);
  });

  test("can be another model with other scores", async () => {
    const text = textOf(SOUND.risk);
    stub.offer("risk", coreOf("risk-2"), offerOfPackaged("risk-2"));
    await start("risk");
    const before = scorer.assessText(text);
    stub.offer("risk", coreOf("risk-1"), offerOfPackaged("risk-1"));
    await scorer.check();
    const after = scorer.assessText(text);
    assert.equal(after.model_version, manifest.models["risk-1"].model_version);
    assert.notEqual(after.result.risk_score, before.result.risk_score);
  });

  test("is checked periodically", async () => {
    stub.offer("nudge", coreOf("nudge-1"), offerOfPackaged("nudge-1"));
    await start("nudge", { everySeconds: 1 });
    const { model_version } = stub.offer("nudge", another(coreOf("nudge-1"), "later"));
    await until(() => version() === model_version);
  });

  test("is reported to a listener that throws, and nothing else fails", async (t) => {
    const complaints = t.mock.method(console, "error", () => {});
    await start("nudge", {
      onChange() {
        throw new Error("the listener's own fault");
      },
    });
    const { model_version } = stub.offer("nudge", another(coreOf("nudge-1"), "told"));
    assert.equal(await scorer.check(), true);
    assert.equal(version(), model_version);
    assert.equal(complaints.mock.callCount(), 1);
  });
});

describe("a host that is unreachable", () => {
  test("from the start leaves the model of the package, and is followed once it is there", async () => {
    const { url } = stub;
    await stub.end();
    await start();
    assert.equal(scorer.problem.code, "unreachable");
    assert.equal(version(), PACKAGED);
    const port = new URL(url).port;
    stub.server.listen(port, "127.0.0.1");
    const { model_version } = stub.offer("nudge", another(coreOf("nudge-1"), "back"));
    assert.equal(await scorer.check(), true);
    assert.deepEqual([version(), scorer.problem], [model_version, null]);
  });

  test("later leaves the last good model", async () => {
    const { model_version } = stub.offer("nudge", another(coreOf("nudge-1"), "last"));
    await start();
    await stub.end();
    assert.equal(await scorer.check(), false);
    assert.equal(scorer.problem.code, "unreachable");
    assert.equal(version(), model_version);
  });
});

describe("time", () => {
  test("checks run one at a time; one requested during another sees what came after it", async () => {
    stub.offer("nudge", another(coreOf("nudge-1"), "a"));
    await start();
    stub.most = 0;
    const gates = [gate(), gate()];
    const openings = gates.map((it) => it.opened);
    stub.delay = (path) => (path.startsWith("/models/nudge") ? openings.shift() : undefined);
    const looks = [scorer.check(), scorer.check(), scorer.check()];
    gates[0].open();
    assert.equal(await looks[0], false);
    await until(() => stub.requests("/models/nudge").length === 3);
    const { model_version } = stub.offer("nudge", another(coreOf("nudge-1"), "b"));
    gates[1].open();
    assert.deepEqual(await Promise.all(looks), [false, true, true]);
    assert.equal(version(), model_version);
    assert.equal(stub.most, 1);
    assert.equal(stub.requests("/models/nudge").length, 3, "many that wait share one look");
  });

  test("a late answer never replaces a newer one", async () => {
    const old = another(coreOf("nudge-1"), "old");
    stub.offer("nudge", coreOf("nudge-1"), offerOfPackaged("nudge-1"));
    await start();
    stub.offer("nudge", old);
    const { opened, open } = gate();
    stub.delay = (path) => (path.startsWith("/models/core") ? opened : undefined);
    const first = scorer.check();
    await until(() => stub.requests("/models/core").length === 1);
    stub.delay = async () => {};
    const { model_version } = stub.offer("nudge", another(coreOf("nudge-1"), "new"));
    const second = scorer.check();
    await sleep(50);
    open();
    await Promise.all([first, second]);
    assert.equal(version(), model_version);
  });

  test("close stops everything: later answers change nothing", async () => {
    stub.offer("nudge", coreOf("nudge-1"), offerOfPackaged("nudge-1"));
    await start("nudge", { everySeconds: 1 });
    stub.offer("nudge", another(coreOf("nudge-1"), "late"));
    const { opened, open } = gate();
    stub.delay = () => opened;
    const before = stub.log.length;
    const look = scorer.check();
    await until(() => stub.log.length > before);
    scorer.close();
    open();
    assert.equal(await look, false);
    const asked = stub.log.length;
    assert.equal(await scorer.check(), false);
    await sleep(1_200);
    assert.equal(stub.log.length, asked);
    assert.deepEqual([version(), scorer.problem], [PACKAGED, null], "what is there goes on scoring");
  });

  test("a slow host delays a page by three seconds at most, and a check times out after ten", async () => {
    stub.delay = () => sleep(60_000, undefined, { ref: false });
    const begin = performance.now();
    await start();
    const waited = performance.now() - begin;
    assert.ok(waited > 2_500 && waited < 9_500, `${waited} ms`);
    assert.equal(version(), PACKAGED);
    // The current check is aborted, and so is the next, which is this one.
    stub.delay = async () => {};
    const { model_version } = stub.offer("nudge", another(coreOf("nudge-1"), "patient"));
    assert.equal(await scorer.check(), true);
    const looked = performance.now() - begin;
    assert.ok(looked > 9_500 && looked < 20_000, `${looked} ms`);
    assert.equal(version(), model_version);
  });

  test("following a model does not keep a program alive", async () => {
    stub.offer("nudge", another(coreOf("nudge-1"), "end"));
    const program = `import { live } from ${JSON.stringify(NODE_ENTRY.href)};
      const nudge = await live("nudge", { base: ${JSON.stringify(stub.url)}, everySeconds: 1 });
      console.log(nudge.modelVersion);`;
    const how = { stdio: ["ignore", "pipe", "inherit"] };
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], how);
    const patience = setTimeout(() => child.kill("SIGKILL"), 20_000);
    let said = "";
    child.stdout.on("data", (bytes) => (said += bytes));
    const code = await new Promise((resolve) => child.once("close", resolve));
    clearTimeout(patience);
    assert.equal(code, 0);
    assert.equal(said.trim(), stub.offers.nudge.model_version);
  });
});

describe("a platform", () => {
  const kind = "nudge";
  const subtle = webcrypto.subtle;
  const schema = async (name) => (await import(`../../components/js/lib/dist/schema/${name}.js`)).default;
  const glue = (name) => import(`../../components/js/lib/dist/glue/${name}.js`);
  const platform = { manifest: async () => manifest, schema, glue, load, subtle };
  const packageIsAway = () => Promise.reject(new Error("the package is away"));

  test("without digests accepts nothing", async () => {
    stub.offer(kind, another(coreOf("nudge-1"), "unproven"));
    scorer = await follow({ ...platform, subtle: undefined }, kind, { base: stub.url });
    assert.deepEqual([scorer.problem.code, version()], ["insecure", PACKAGED]);
    assert.equal(stub.requests("/models/core").length, 0);
  });

  test("that has lost the package's own core scores with the host's", async () => {
    const { model_version } = stub.offer(kind, another(coreOf("nudge-1"), "only"));
    scorer = await follow({ ...platform, load: packageIsAway }, kind, { base: stub.url });
    assert.deepEqual([scorer.problem, version()], [null, model_version]);
  });

  test("takes what has its fingerprint, whatever the text of contract and glue", async () => {
    const contracts = { nudge: { ...manifest.contracts.nudge, abi: "a1" } };
    const own = { ...platform, manifest: async () => ({ ...manifest, contracts }) };
    const other = { wit: "caudal:scoring@1.1.0", glue: { sha256: "0".repeat(64) } };
    const { model_version } = Object.assign(stub.offer(kind, another(coreOf("nudge-1"), "fits")), other, { abi: "a1" });
    scorer = await follow(own, kind, { base: stub.url });
    assert.deepEqual([scorer.problem, version()], [null, model_version]);
    Object.assign(stub.offer(kind, another(coreOf("nudge-1"), "fits not")), { abi: "b2" });
    await scorer.check();
    assert.deepEqual([scorer.problem.code, version()], ["other-glue", model_version]);
  });

  test("that has nothing at all says so", async () => {
    await assert.rejects(follow({ ...platform, load: packageIsAway }, kind, { base: stub.url }), /the package is away/);
  });

  test("whose cache fails works without one", async () => {
    const { model_version } = stub.offer(kind, another(coreOf("nudge-1"), "uncached"));
    const caches = { open: () => Promise.reject(new Error("no room")) };
    scorer = await follow({ ...platform, caches }, kind, { base: stub.url });
    assert.deepEqual([scorer.problem, version()], [null, model_version]);
  });
});

describe("the arguments of live()", () => {
  test("must be valid", async () => {
    for (const everySeconds of [0, 0.5, -1, NaN, Infinity, 1e9, "soon"]) {
      await assert.rejects(live("nudge", { base: stub.url, everySeconds }), RangeError, String(everySeconds));
    }
    await assert.rejects(live("nudge", {}), TypeError);
    await assert.rejects(live("nudge"), TypeError);
    await assert.rejects(live("transfer-rules", { base: stub.url }), RangeError);
    await assert.rejects(live("__proto__", { base: stub.url }), RangeError);
    assert.equal(stub.requests("/models/nudge").length, 0);
  });
});
