// load() of a core that is not in the package: the forms that it may have, its identity, and what is refused.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import manifest from "../../components/js/lib/dist/manifest.js";
import { load } from "../../components/js/lib/src/node.js";
import { coreOf } from "../../components/js/lib/src/own.js";
import { binary, core } from "./cores.mjs";
import { SOUND, textOf } from "./hostile.mjs";
import { program } from "./service.mjs";
import { coreOf as packaged, Stub } from "./stub.mjs";

const RISK = textOf(SOUND.risk);
const { sha256, model_version } = manifest.models["risk-1"];
/** The component file of risk-1, as components/build.sh writes it. */
const COMPONENT = new URL("../../target/components/risk-1.wasm", import.meta.url);
const COMPONENT_VERSION = [0x0d, 0, 1, 0];

let stub;
let component;
let expected;

before(async () => {
  stub = await new Stub().start();
  component = await readFile(COMPONENT);
  expected = (await load("risk", { model: "risk-1" })).assessText(RISK);
});

after(() => stub.end());

const answered = (headers, body) => {
  stub.instead = (_, response) => response.writeHead(200, headers).end(body);
  return new URL("/some/core.wasm", stub.url);
};

test("a component is scored with by its only core, and is what the host calls it", async () => {
  assert.deepEqual(Buffer.from(coreOf(component)), packaged("risk-1"));
  const forms = {
    bytes: component,
    "an ArrayBuffer": component.buffer.slice(component.byteOffset, component.byteOffset + component.length),
    "a file": COMPONENT,
    "an address": answered({}, component),
    "a response": fetch(answered({}, component)),
  };
  for (const [form, it] of Object.entries(forms)) {
    const scorer = await load("risk", { core: it });
    assert.deepEqual([scorer.sha256, scorer.assessText(RISK)], [sha256, expected], form);
  }
});

test("a core alone has the identity that it is given, or its own digest", async () => {
  const module = new WebAssembly.Module(packaged("risk-1"));
  for (const it of [packaged("risk-1"), module]) {
    const scorer = await load("risk", { core: it, sha256, modelVersion: model_version });
    assert.deepEqual(scorer.assessText(RISK), expected);
  }
  const { core: file } = manifest.models["risk-1"];
  const scorer = await load("risk", { core: packaged("risk-1") });
  assert.deepEqual([scorer.sha256, scorer.modelVersion], [file.sha256, `risk-1.0.0+${file.sha256.slice(0, 8)}`]);
});

const REFUSED = {
  "another kind": [{ core: () => packaged("nudge-1") }, /describes itself as nudge-1\.0\.0/],
  "another version": [{ core: () => component, modelVersion: "risk-9.0.0+00000000" }, /describes itself as risk-1/],
  "another digest": [{ core: () => component, sha256: "0".repeat(64) }, /SHA-256 of the component is 1478aa50/],
  "a module without a digest": [{ core: () => new WebAssembly.Module(packaged("risk-1")) }, TypeError],
  "a module with an import": [{ core: () => core({ imports: [[1, 0x61, 1, 0x62, 0, 0]] }) }, /has imports/],
  "a component without a core": [{ core: () => binary(COMPONENT_VERSION) }, /0 core modules/],
  "a component with a core inside another": [
    { core: () => binary(COMPONENT_VERSION, [1, core({})], [4, binary(COMPONENT_VERSION, [1, core({})])]) },
    /2 core modules/,
  ],
  "half a component": [{ core: () => component.subarray(0, 9) }, /ends too early/],
  "a page": [
    { core: () => answered({ "Content-Type": "text/html" }, "<!doctype html>") },
    /\/some\/core\.wasm answered with text\/html, not with WebAssembly/,
  ],
  nothing: [{ core: () => Promise.reject(new Error("away")) }, /away/],
};

for (const [what, [{ core: make, ...identity }, complaint]] of Object.entries(REFUSED)) {
  test(`${what} is refused`, async () => {
    await assert.rejects(load("risk", { core: make(), ...identity }), complaint);
  });
}

test("what no page can run is not prepared for one", () => {
  const prepare = (file) => execFileSync(program(), ["models", "package", "--component", file, "--output", tmpdir()]);
  const at = (path) => fileURLToPath(new URL(path, COMPONENT));
  for (const [file, complaint] of [
    [at("transfer-rules.wasm"), /exports no interface of a kind that scores/],
    [at("fixtures/javascript.wasm"), /the component has \d+ bytes; at most \d+ are translated/],
    ["no-such.wasm", /cannot read no-such\.wasm/],
    [fileURLToPath(import.meta.url), /the name of its file is the name of the model/],
  ]) {
    assert.throws(() => prepare(file), complaint);
  }
});

test("a kind that there is not is refused", async () => {
  await assert.rejects(load("transfer-rules", { core: component }), RangeError);
});
