// Models of contract 2, of which the host's half is written twice: their answers in the host, in Node, in Chromium and in
// workerd are the same to the last bit, for the payments of people and for values at the edges.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import manifest from "../../components/js/lib/dist/manifest.js";
import { Abstained, live, load, ModelFailed } from "../../components/js/lib/src/node.js";
import { half } from "../../components/js/lib/src/positional.js";
import { Edge } from "../edge/workerd.mjs";
import { ask, spell } from "./ask.js";
import { built, scored } from "./built.mjs";
import { launch, open, servePage } from "./chromium.mjs";
import { SOUND, textOf } from "./hostile.mjs";
import { askByHttp } from "./runtimes.mjs";
import { coreOf, offerOf, offerOfPackaged, Stub } from "./stub.mjs";

const PAYMENTS = 3_000;
const EDGES = 1_000;

const ROWS = fileURLToPath(new URL("../python/rows.mjs", import.meta.url));

/** Values as JSON text, which each row takes in turn; the numbers of values have few divisors in common. */
const VALUES = {
  amount: [
    ...["0", "-0", "0.005", "0.29", "1e-320", "495", "2000", "1999.995", "2000.005", "123456.78", "1e300"],
    ...["90071992547409.92", "90071992547409.93", "1.7976931348623157e308", "4.35", "8.575", "1.005", "0.145", "1e15"],
  ],
  is_new_beneficiary: ["true", "false"],
  hour_of_day: ["0", "5", "6", "20", "22", "23", "13.0"],
  num_past_transactions: ["0", "2", "3", "60", "431", "4294967295", "4294967296", "1e18", "12", "1248", "432"],
  avg_transaction_amount: ["0", "0.005", "1000", "999.99", "1e300"],
  max_transaction_amount: ["0", "2000", "1e308"],
  num_transactions_to_beneficiary: ["0", "1", "18446744073709551616"],
  is_new_device: ["true", "false", "false"],
  geolocation_changed: ["false", "true", "false"],
  beneficiary_saved_minutes: [
    null,
    "null",
    "0",
    "59",
    "60",
    "431",
    "432",
    "4294967296",
    "1e18",
    "3",
    "1440",
    "100000",
    "7",
  ],
};

const object = (members) => `{${members.map(([name, value]) => `"${name}": ${value}`).join(", ")}}`;

function bodies() {
  const csv = execFileSync(process.execPath, [ROWS, String(PAYMENTS), "37"])
    .toString()
    .trim()
    .split("\n");
  const [names, ...rows] = csv.map((line) => line.split(",").slice(0, -1));
  const payments = rows.map((row) => {
    const members = row.map((value, at) => [names[at], value.toLowerCase()]);
    return object(members.filter(([, value]) => value !== ""));
  });
  const edges = Array.from({ length: EDGES }, (_, row) => {
    const members = Object.entries(VALUES).map(([name, values]) => [name, values[row % values.length]]);
    return object(members.filter(([, value]) => value !== null));
  });
  return [...payments, ...edges];
}

let made;
let texts;
const ends = [];

before(async () => {
  made = await built();
  ends.push(() => rm(made.folder, { recursive: true, force: true }));
  texts = bodies();
});

after(async () => {
  for (const end of ends.reverse()) await end();
});

/** The package in a page, with the prepared cores on its origin. */
async function inPage() {
  const cores = new Map(made.models.map((it) => [`/own/${it.name}.core.wasm`, it.core]));
  const more = async (request, response) => {
    const core = cores.get(request.url);
    if (core) response.end(await readFile(core));
    return core !== undefined;
  };
  const server = await servePage({ folder: "lib/", more });
  const browser = await launch();
  ends.push(server.close, () => browser.close());
  const { page, faults } = await open(browser, server.url);
  return async ({ name, identity }) => {
    const answers = await page.evaluate(
      async (path, own, asked) => {
        const { ask } = await import("/ask.js");
        const load = (kind) => globalThis.scorers.load(kind, { core: fetch(path), ...own });
        return JSON.stringify(await ask({ load }, "risk", {}, asked, { isTimed: true }));
      },
      `/own/${name}.core.wasm`,
      identity,
      texts,
    );
    assert.deepEqual(faults, []);
    return JSON.parse(answers);
  };
}

const RUNTIMES = {
  Node: async () => (it) => {
    const own = (kind) => load(kind, { core: it.core, ...it.identity });
    return ask({ load: own }, "risk", {}, texts, { isTimed: true });
  },
  Chromium: inPage,
  workerd: async () => async (it) => {
    const edge = await Edge.start({ RISK_MODEL: it.name }, made.folder);
    const asked = await askByHttp(edge, "risk", texts, { isTimed: true });
    await edge.end();
    return asked;
  },
};

for (const [name, start] of Object.entries(RUNTIMES)) {
  test(`in ${name} as in the host`, async () => {
    const asks = await start();
    for (const model of made.models) {
      const expected = scored(model, texts).map((answer) => ({ status: 200, answer: spell(answer) }));
      const { outcomes, median } = await asks(model);
      console.log(`${name}, ${model.name}: ${median.toFixed(0)} µs a call`);
      let mismatches = 0;
      for (const [at, outcome] of outcomes.entries()) {
        try {
          assert.deepEqual(outcome, expected[at], `${model.name}: ${texts[at]}`);
        } catch (error) {
          if (mismatches === 0) console.error(error.message);
          mismatches += 1;
        }
      }
      assert.deepEqual([outcomes.length, mismatches], [PAYMENTS + EDGES, 0], model.name);
      // Answers that hardly differ would agree, too.
      const of = (part) => new Set(outcomes.map(({ answer }) => JSON.stringify(part(answer.result)))).size;
      const kinds = [of((it) => it.risk_score), of((it) => it.risk_level), of((it) => it.risk_factors)];
      assert.ok(kinds[0] > 20 && kinds[1] > 1 && kinds[2] > 20, `${model.name}: ${kinds}`);
      assert.equal(
        of((it) => it.model_reasons ?? null),
        4,
        model.name,
      );
    }
  });
}

test("a model that abstains has not scored, here and at the edge", async () => {
  const { core, identity, name } = made.abstaining;
  const scorer = await load("risk", { core, ...identity });
  const request = JSON.parse(textOf(SOUND.risk));
  const asked = { ...request, is_new_beneficiary: true };
  assert.throws(
    () => scorer.assess(asked),
    (error) => {
      assert.ok(error instanceof Abstained && error instanceof ModelFailed);
      assert.deepEqual([error.name, error.reason, error.status], ["Abstained", "NEW_BENEFICIARY", 503]);
      return true;
    },
  );
  assert.equal(scorer.assess({ ...request, is_new_beneficiary: false }).model_version, identity.modelVersion);
  const isolated = await load("risk", { core, ...identity, isolate: true });
  await assert.rejects(isolated.assess(asked), { name: "Abstained", reason: "NEW_BENEFICIARY" });
  isolated.close();
  const edge = await Edge.start({ RISK_MODEL: name }, made.folder);
  assert.equal((await edge.post("/ai/risk", JSON.stringify(asked))).status, 503);
  await edge.end();
});

test("the bank's cut-offs make the level", async () => {
  const [{ core, identity }] = made.models;
  const scores = scored(made.models[0], texts).map((it) => it.result.risk_score);
  const middle = scores.toSorted((a, b) => a - b)[scores.length >> 1];
  const cut_offs = { medium_from: middle, high_from: 1 };
  const scorer = await load("risk", { core, ...identity, cut_offs });
  for (const [at, text] of texts.entries()) {
    const { risk_level } = scorer.assessText(text).result;
    assert.equal(risk_level, scores[at] >= 1 ? "high" : scores[at] >= middle ? "medium" : "low", text);
  }
});

test("what this release does not have is refused by name", async () => {
  const { default: schema } = await import("../../components/js/lib/dist/schema/risk.js");
  const fact = { name: "amount", kind: "integer", unit: "centavos", required: true };
  const refused = (changes) => () => half({ facts: [fact], reasons: [], contributions: [], ...changes }, schema);
  assert.doesNotThrow(refused({}));
  for (const [changes, named] of [
    [{ facts: [{ ...fact, name: "shoe_size" }] }, /fact shoe_size/],
    [{ facts: [{ ...fact, unit: "MXN" }] }, /fact amount of kind integer, unit "MXN"/],
    [{ facts: [{ ...fact, name: "toString" }] }, /fact toString/],
    [{ facts: [{ ...fact, name: "beneficiary_saved_minutes", unit: "minutes" }] }, /minutes for every transfer/],
    [{ reasons: ["FULL_MOON"] }, /reason FULL_MOON/],
    [{ contributions: ["shoe_size"] }, /fact shoe_size/],
    [{ contributions: Array(65).fill("amount") }, /room for 65 names/],
  ]) {
    assert.throws(refused(changes), { name: "OtherFacts", message: named });
  }
  const [{ core, identity }] = made.models;
  const { abi } = manifest.contracts.risk;
  await assert.rejects(load("risk", { core, ...identity, abi }), /another release/);
});

test("a page that follows a host goes from one contract to the other and back", async () => {
  const stub = await new Stub().start();
  stub.offer("risk", coreOf("risk-1"), offerOfPackaged("risk-1"));
  const scorer = await live("risk", { base: stub.url, everySeconds: 600 });
  const text = textOf(SOUND.risk);
  const before = scorer.assessText(text);
  const [model] = made.models;
  const core = await readFile(model.core);
  const offer = offerOf("risk", core, { version: "3.0.0", sha256: model.identity.sha256, contract: "risk-2" });
  stub.offer("risk", core, offer);
  assert.deepEqual([await scorer.check(), scorer.problem], [true, null]);
  const [expected] = scored(model, [text]);
  assert.deepEqual(scorer.assessText(text), expected);

  // Other cut-offs are no other model, and hold from the next check.
  stub.offer("risk", core, { ...offer, cut_offs: { medium_from: 0, high_from: expected.result.risk_score } });
  assert.equal(await scorer.check(), false);
  assert.equal(scorer.assessText(text).result.risk_level, "high");
  stub.offer("risk", core, { ...offer, cut_offs: { medium_from: 0.9, high_from: 0.1 } });
  assert.equal(await scorer.check(), false);
  assert.equal(scorer.problem.code, "bad-answer");

  // The fingerprint of one contract with a core of the other.
  stub.offer("risk", core, offerOf("risk", core, { version: "3.0.0" }));
  await scorer.check();
  assert.equal(scorer.problem.code, "unusable");
  stub.offer("risk", coreOf("risk-1"), offerOfPackaged("risk-1"));
  assert.deepEqual([await scorer.check(), scorer.problem], [true, null]);
  assert.deepEqual(scorer.assessText(text), before);
  scorer.close();
  await stub.end();
});
