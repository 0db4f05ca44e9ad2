// The golden cases as JSON text through every public entry: the same 64 bits in wasmtime, Node, Chromium and workerd, and
// the bits that training wrote.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";

import manifest from "../../components/js/dist/manifest.js";
import { spell } from "./ask.js";
import { inChromium, inNode, inWorkerd, wasmtime } from "./runtimes.mjs";
import { Service } from "./service.mjs";

/** Files have at least so many cases. */
const TRAINED_MIN = 300;
const BY_HAND_MIN = 40;

const DIST = new URL("../../components/js/dist/", import.meta.url);
const LIB_DIST = new URL("../../components/js/lib/dist/", import.meta.url);

/** Cases with the text of their requests, so that numbers are not rounded. */
async function casesOf(file, least) {
  const text = await readFile(new URL(`../golden/${file}.ndjson`, import.meta.url), "utf8");
  const cases = text
    .trim()
    .split("\n")
    .map((line) => ({ ...JSON.parse(line), text: requestOf(line) }));
  assert.ok(cases.length >= least, `${file} has ${cases.length} cases`);
  return cases;
}

/** The text of `"request":{...}`: requests are flat. */
function requestOf(line) {
  return /"request":(\{[^{}]*\})/.exec(line)[1];
}

/** The parts of an answer that a trained case contains, under its names. */
const ANSWERS = {
  risk: ({ result: { risk_level, risk_score, risk_factors } }) => ({ risk_level, risk_score, risk_factors }),
  nudge: ({ result }) => result,
  accessibility: ({ recommendation, confidence, explanation }) => ({ ...recommendation, confidence, explanation }),
};

/** Numbers as the files written by training spell them. */
const asWritten = (actual) =>
  JSON.parse(JSON.stringify(actual, (_, value) => (/^f64:/.test(value) ? value.slice("f64:".length) : value)));

/** Expectations of hand-written cases, apart from equality. */
const RULES = {
  not_type: (expected, actual) => assert.notEqual(actual.recommended_nudge_type, expected),
  confidence_min: (expected, actual) => assert.ok(number(actual.confidence) >= expected),
  confidence_max: (expected, actual) => assert.ok(number(actual.confidence) <= expected),
};

function number(spelled) {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(`0x${spelled.slice("f64:".length)}`));
  return view.getFloat64(0);
}

const SCORE = { risk: "risk_score", nudge: "difficulty_score", accessibility: "confidence" };

/** Checks what the specification says about a single case. */
function checkByHand(_, { expect }, actual) {
  for (const [field, expected] of Object.entries(expect)) {
    if (RULES[field]) RULES[field](expected, actual);
    else assert.deepEqual(actual[field], spell(expected), field);
  }
}

function checkTrained(_, { expect }, actual) {
  const { predictor, ...answered } = expect;
  assert.deepEqual(asWritten(actual), answered);
}

/** Cases that are ordered by their scores. */
function checkOrder(kind, cases, tolds) {
  const scores = new Map(cases.map(({ case: name }, index) => [name, number(tolds[index][SCORE[kind]])]));
  for (const { case: name, score_below, score_at_most } of cases) {
    if (score_below) assert.ok(scores.get(name) < scores.get(score_below), `${name} is not below ${score_below}`);
    if (score_at_most) assert.ok(scores.get(name) <= scores.get(score_at_most), `${name} is above ${score_at_most}`);
  }
}

/** The set of an earlier model is the last of its kind: that model has to be deployed. */
const SETS = [
  { kind: "risk", model: "risk-2", file: "risk-2", check: checkTrained },
  { kind: "risk", model: "risk-2", file: "hand/risk", check: checkByHand },
  { kind: "risk", model: "risk-1", file: "risk-1", check: checkTrained, isEarlier: true },
  { kind: "nudge", model: "nudge-1", file: "nudge-1", check: checkTrained },
  { kind: "nudge", model: "nudge-1", file: "hand/nudge", check: checkByHand },
  { kind: "accessibility", model: "accessibility-2", file: "accessibility-2", check: checkTrained },
  { kind: "accessibility", model: "accessibility-2", file: "hand/accessibility", check: checkByHand },
  { kind: "accessibility", model: "accessibility-2", file: "reviewed/accessibility-2", check: checkByHand },
];

let service;
let runtimes = [];
const rows = [];

before(async () => {
  service = await Service.start();
  const policy = (await fetch(service.ledger)).headers.get("content-security-policy");
  assert.match(policy ?? "", /wasm-unsafe-eval/, "the host's pages have a policy");
  const pages = [await inChromium({ policy }), await inChromium({ policy, folder: "lib/" })];
  runtimes = [wasmtime(service), inNode(), ...pages, await inWorkerd()];
});

after(async () => {
  for (const runtime of runtimes) await runtime.end();
  await service?.end();
});

test("the package holds the artefacts that its manifest names, and ships the same cores", async () => {
  for (const [name, { core }] of Object.entries(manifest.models)) {
    const content = await readFile(new URL(core.file, DIST));
    assert.equal(content.length, core.bytes, name);
    assert.equal(createHash("sha256").update(content).digest("hex"), core.sha256, name);
    assert.deepEqual(await readFile(new URL(core.file, LIB_DIST)), content, name);
  }
});

for (const { kind, model, file, check, isEarlier } of SETS) {
  test(`${file} in every runtime`, async (t) => {
    const cases = await casesOf(file, check === checkTrained ? TRAINED_MIN : BY_HAND_MIN);
    const texts = cases.map((it) => it.text);
    const { model_version, sha256, core } = manifest.models[model];
    if (isEarlier) assert.equal(await service.deploy(kind, `${model}.`), model_version);
    const expected = { wasmtime: null };
    for (const runtime of runtimes) {
      const { outcomes, median } = await runtime.ask(kind, { model }, texts, { isTimed: true });
      let mismatches = 0;
      const tolds = outcomes.map((outcome, index) => {
        const actual = outcome.status === 200 ? ANSWERS[kind](outcome.answer) : {};
        try {
          assert.equal(outcome.status, 200);
          assert.equal(outcome.answer.model_version, model_version);
          check(kind, cases[index], actual);
          // The whole answer, echoes included, is that of the host.
          if (expected.wasmtime) assert.deepEqual(outcome, expected.wasmtime[index]);
        } catch (error) {
          mismatches += 1;
          if (mismatches <= 3) t.diagnostic(`${runtime.name}: ${cases[index].case}: ${error.message}`);
        }
        return actual;
      });
      expected.wasmtime ??= outcomes;
      const { name } = runtime;
      rows.push({
        file,
        model_version,
        sha256,
        core,
        glue: `glue/${kind}.js`,
        cases: cases.length,
        name,
        mismatches,
        median,
      });
      assert.equal(mismatches, 0, `${file} in ${runtime.name}`);
      checkOrder(kind, cases, tolds);
    }
  });
}

test("nothing violated the page's policy", () => {
  for (const { faults } of runtimes) assert.deepEqual(faults ?? [], []);
});

/** Widths of the table's columns. */
const WIDTHS = [26, 30, 13, 6, 8, 6, 19, 11, 7];

test("the table", async () => {
  const kib = (bytes) => (bytes / 1024).toFixed(1);
  const line = (cells) => console.log(cells.map((cell, index) => String(cell).padEnd(WIDTHS[index])).join(""));
  console.log(
    "\nGolden cases, as JSON text through each public entry. Sizes in KiB, the glue gzipped. Times in µs are",
  );
  console.log("medians: of wasmtime and workerd those of HTTP requests, of the others those of assessText().\n");
  line(["cases of", "model", "sha256", "core", "glue.gz", "cases", "runtime", "mismatches", "µs"]);
  for (const it of rows) {
    const glue = gzipSync(await readFile(new URL(it.glue, LIB_DIST)), { level: 9 }).length;
    const artefact = [it.model_version, it.sha256.slice(0, 12), kib(it.core.bytes), kib(glue)];
    line([it.file, ...artefact, it.cases, it.name, it.mismatches, it.median.toFixed(0)]);
  }
  const total = rows.reduce((sum, it) => sum + it.cases, 0);
  const wrong = rows.reduce((sum, it) => sum + it.mismatches, 0);
  console.log(`\n${total} answers, ${wrong} mismatches\n`);
});
