// live() and every bad offer of a host, or of an attacker in between: the last good model continues to score. A core that
// never returns is missing here, because only the host can interrupt one; its gate keeps such cores out.

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";

import manifest from "../../components/js/lib/dist/manifest.js";
import { live } from "../../components/js/lib/src/node.js";
import { SOUND, textOf } from "./hostile.mjs";
import { another, coreOf, Stub, until } from "./stub.mjs";

const PACKAGED = manifest.models["nudge-1"].model_version;
const NUDGE = textOf(SOUND.nudge);

/** Hand-made modules: the header, then sections. */
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

/** Follows the nudge model. */
async function start() {
  scorer = await live("nudge", { base: stub.url, everySeconds: 600 });
}

const version = () => scorer.assessText(NUDGE).model_version;

describe("rejected offers", () => {
  const good = another(coreOf("nudge-1"), "good");

  /** An offer that is bad in one way; `isFetched`: whether its core is requested at all. */
  const BAD = {
    "another fingerprint": { code: "other-glue", spoil: (offer) => (offer.abi = "0".repeat(64)) },
    "no fingerprint": { code: "other-glue", spoil: (offer) => delete offer.abi },
    "cut-offs, which help has none of": {
      code: "bad-answer",
      spoil: (offer) => (offer.cut_offs = { medium_from: 0.1, high_from: 0.2 }),
    },
    "another kind": { code: "bad-answer", spoil: (offer) => (offer.kind = "risk") },
    "no digest": { code: "bad-answer", spoil: (offer) => (offer.core.sha256 = "abc") },
    "no digest of the component": { code: "bad-answer", spoil: (offer) => delete offer.sha256 },
    "no core": { code: "bad-answer", spoil: (offer) => delete offer.core },
    "no version": { code: "bad-answer", spoil: (offer) => (offer.model_version = 1) },
    "a strange version": { code: "bad-answer", spoil: (offer) => (offer.model_version += "<b>") },
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
      // A good offer is accepted again.
      const { model_version } = stub.offer("nudge", good);
      assert.equal(await scorer.check(), true);
      assert.deepEqual([version(), scorer.problem], [model_version, null]);
    });
  }

  const CORES = {
    "no WebAssembly": Buffer.from("not at all"),
    nothing: Buffer.alloc(0),
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
    null: { status: 200, code: "bad-answer", body: "null" },
    "a list": { status: 200, code: "bad-answer", body: "[]" },
    "an answer of a megabyte": { status: 200, code: "too-large", body: `"${"x".repeat(1 << 20)}"` },
  };

  for (const [name, { status, code, headers = {}, body = "" }] of Object.entries(ANSWERS)) {
    test(name, async () => {
      stub.instead = (_, response) => response.writeHead(status, headers).end(body);
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
    stub.instead = (_, response, path) => {
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
