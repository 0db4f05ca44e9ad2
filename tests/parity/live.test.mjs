// live() against a stand-in for a host that does everything wrong that a host, or somebody between, can do. The last
// good model goes on scoring. Not here: a core that never returns. Engines outside the host cannot interrupt it, so the
// host's gate has to keep it out.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import manifest from "../../components/js/lib/dist/manifest.js";
import { live } from "../../components/js/lib/src/node.js";
import { SOUND, textOf } from "./hostile.mjs";
import { Stub, another, coreOf, offerOf, offerOfPackaged } from "./stub.mjs";

const NODE_ENTRY = new URL("../../components/js/lib/src/node.js", import.meta.url);

const PACKAGED = manifest.models["nudge-1"].model_version;
const NUDGE = textOf(SOUND.nudge);

/** Longest wait for anything, in milliseconds. */
const PATIENCE_MS = 20_000;

/** Modules by hand: the header, then sections. */
const wasm = (...sections) => Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...sections.flat()]);
const TYPE = [1, 4, 1, 0x60, 0, 0];
const FUNCTION = [3, 2, 1, 0];
const START = [8, 1, 0];
const TRAP = [10, 5, 1, 3, 0, 0, 0x0b];
const IMPORT = [2, 7, 1, 1, 0x61, 1, 0x62, 0, 0];
const FOUR_GIGABYTES = [5, 5, 1, 0, 0x80, 0x80, 4];

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

/** Waits until something holds. */
async function until(holds) {
  const begin = performance.now();
  while (!holds()) {
    assert.ok(performance.now() - begin < PATIENCE_MS, "not in time");
    await sleep(5);
  }
}

/** A promise, and what resolves it. */
function gate() {
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  return { opened, open };
}

describe("what is in service", () => {
  test("is taken, answers under its version, and is asked for by its ETag", async () => {
    const changes = [];
    const { model_version: first, sha256 } = stub.offer("nudge", another(coreOf("nudge-1"), "first"));
    await start("nudge", { onChange: (it) => changes.push(it) });
    assert.deepEqual([scorer.modelVersion, scorer.sha256, version()], [first, sha256, first]);
    assert.equal(scorer.problem, null);
    assert.deepEqual(changes, [], "where it begins is no change");
    assert.equal(await scorer.check(), false);
    const asked = stub.requests("/models/nudge").map(({ status, isConditional }) => [status, isConditional]);
    assert.deepEqual(asked, [[200, false], [304, true]]);
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

  test("is looked at again and again", async () => {
    stub.offer("nudge", coreOf("nudge-1"), offerOfPackaged("nudge-1"));
    await start("nudge", { everySeconds: 1 });
    const { model_version } = stub.offer("nudge", another(coreOf("nudge-1"), "later"));
    await until(() => version() === model_version);
  });

  test("is told to a listener that fails, and nothing else fails", async (t) => {
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

describe("what is not taken", () => {
  const good = another(coreOf("nudge-1"), "good");

  /** An offer, bad in one way; `isFetched` tells whether the core is asked for at all. */
  const BAD = {
    "another glue": { code: "other-glue", spoil: (offer) => (offer.glue.sha256 = "0".repeat(64)) },
    "another contract": { code: "other-glue", spoil: (offer) => (offer.wit = "caudal:scoring@2.0.0") },
    "another kind": { code: "bad-answer", spoil: (offer) => (offer.kind = "risk") },
    "no digest": { code: "bad-answer", spoil: (offer) => (offer.core.sha256 = "abc") },
    "no digest of the component": { code: "bad-answer", spoil: (offer) => delete offer.sha256 },
    "no core": { code: "bad-answer", spoil: (offer) => delete offer.core },
    "no version": { code: "bad-answer", spoil: (offer) => (offer.model_version = 1) },
    "no length": { code: "bad-answer", spoil: (offer) => (offer.core.bytes = "many") },
    "too large a core": { code: "too-large", spoil: (offer) => (offer.core.bytes = (1 << 20) + 1) },
    "another origin": { code: "other-origin", spoil: (offer) => (offer.core.url = "http://localhost:1/core.wasm") },
    "another origin in short": { code: "other-origin", spoil: (offer) => (offer.core.url = "//localhost/core.wasm") },
    "a core in the address": { code: "other-origin", spoil: (offer) => (offer.core.url = "data:application/wasm,") },
    "a longer core": { code: "too-large", isFetched: true, spoil: (offer) => (offer.core.bytes -= 1) },
    "another core": { code: "wrong-sha256", isFetched: true, core: another(coreOf("nudge-1"), "evil") },
    "a shorter core": { code: "wrong-sha256", isFetched: true, core: good.subarray(0, good.length - 1) },
    "no core under the address": { code: "unreachable", isFetched: true, core: undefined },
    "another version": {
      code: "unusable",
      isFetched: true,
      spoil: (offer) => (offer.model_version = offer.model_version.replace("1.0.0", "1.0.1")),
    },
    "a version of another component": {
      code: "unusable",
      isFetched: true,
      spoil: (offer) => (offer.sha256 = "1".repeat(64)),
    },
  };

  for (const [name, { code, isFetched = false, spoil = () => {}, ...bad }] of Object.entries(BAD)) {
    test(name, async (t) => {
      const first = stub.offer("nudge", another(coreOf("nudge-1"), "before"));
      await start();
      const compile = t.mock.method(WebAssembly, "compile");
      const offer = stub.offer("nudge", good);
      if ("core" in bad) stub.cores.set(offer.core.sha256, bad.core);
      spoil(offer);
      assert.equal(await scorer.check(), false);
      assert.equal(scorer.problem.code, code, scorer.problem.detail);
      assert.equal(version(), first.model_version);
      assert.equal(stub.requests("/models/core").length, isFetched ? 2 : 1);
      if (code !== "unusable") assert.equal(compile.mock.callCount(), 0, "nothing unproven is compiled");
      // Once all is well, it is taken.
      const { model_version } = stub.offer("nudge", good);
      assert.equal(await scorer.check(), true);
      assert.deepEqual([version(), scorer.problem], [model_version, null]);
    });
  }

  const CORES = {
    "no WebAssembly": Buffer.from("not at all"),
    "nothing": Buffer.alloc(0),
    "an empty module": wasm(),
    "a module that traps as it starts": wasm(TYPE, FUNCTION, START, TRAP),
    "a module with imports": wasm(TYPE, IMPORT),
    "four gigabytes of memory": wasm(FOUR_GIGABYTES),
    "a core of another kind": coreOf("risk-1"),
    "half a core": coreOf("nudge-1").subarray(0, 3000),
  };

  for (const [name, core] of Object.entries(CORES)) {
    test(`${name}, under its right digest`, async () => {
      stub.offer("nudge", core);
      await start();
      assert.equal(scorer.problem.code, core.length === 0 ? "bad-answer" : "unusable", scorer.problem.detail);
      assert.equal(version(), PACKAGED);
    });
  }

  const ANSWERS = {
    "a kind that is not published": { status: 404, code: "not-published" },
    "a model that needs other glue": { status: 409, code: "other-glue" },
    "an error": { status: 500, code: "unreachable" },
    "a busy host": { status: 503, code: "unreachable" },
    "a redirection": { status: 302, code: "unreachable", headers: { Location: "/models/risk/active" } },
    "a page in between": { status: 200, code: "bad-answer", body: "<!doctype html>" },
    "null": { status: 200, code: "bad-answer", body: "null" },
    "a list": { status: 200, code: "bad-answer", body: "[]" },
    "an answer of a megabyte": { status: 200, code: "too-large", body: `"${"x".repeat(1 << 20)}"` },
  };

  for (const [name, { status, code, headers = {}, body = "" }] of Object.entries(ANSWERS)) {
    test(name, async () => {
      stub.instead = (request, response) => response.writeHead(status, headers).end(body);
      await start();
      assert.equal(scorer.problem.code, code);
      assert.equal(version(), PACKAGED);
      stub.instead = () => false;
      const { model_version } = stub.offer("nudge", good);
      assert.equal(await scorer.check(), true);
      assert.deepEqual([version(), scorer.problem], [model_version, null]);
    });
  }

  test("a core that does not end", async () => {
    const offer = stub.offer("nudge", good);
    let sent = 0;
    let isCut = false;
    stub.instead = (request, response, path) => {
      if (!path.startsWith("/models/core")) return false;
      response.on("close", () => (isCut = true));
      const send = () => {
        sent += 64 << 10;
        if (!isCut) response.write(Buffer.alloc(64 << 10), () => setImmediate(send));
      };
      send();
      return true;
    };
    await start();
    assert.equal(scorer.problem.code, "too-large");
    await until(() => isCut);
    assert.ok(sent < 64 << 20, `${sent} bytes were sent for a core of ${offer.core.bytes}`);
  });
});

describe("a host that is away", () => {
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
  test("one look at a time; one that was asked for during another sees what came after it", async () => {
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

  test("closing ends all: what comes afterwards changes nothing", async () => {
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

  test("a slow host holds a page up for three seconds at most, and a look lasts ten", async () => {
    stub.delay = () => sleep(60_000, undefined, { ref: false });
    const begin = performance.now();
    await start();
    const waited = performance.now() - begin;
    assert.ok(waited > 2_500 && waited < 9_500, `${waited} ms`);
    assert.equal(version(), PACKAGED);
    // The one under way is given up, and the next, which this is, as well.
    stub.delay = async () => {};
    const { model_version } = stub.offer("nudge", another(coreOf("nudge-1"), "patient"));
    assert.equal(await scorer.check(), true);
    const looked = performance.now() - begin;
    assert.ok(looked > 9_500 && looked < 20_000, `${looked} ms`);
    assert.equal(version(), model_version);
  });

  test("a program that follows a model may end all the same", async () => {
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

describe("what live() is asked for", () => {
  test("has to make sense", async () => {
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
