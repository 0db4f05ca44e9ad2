// Refusals: the package and the worker word them as the host does, case by case and for random bodies.
//
// CAUDAL_FUZZ_BODIES and CAUDAL_FUZZ_SEED choose how many random bodies, and which.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { bodies } from "./bodies.mjs";
import { cases } from "./hostile.mjs";
import { inChromium, inNode, inWorkerd, wasmtime } from "./runtimes.mjs";
import { Service } from "./service.mjs";

/** The table has at least so many cases. */
const CASES_MIN = 120;

const BODIES = Number(process.env.CAUDAL_FUZZ_BODIES ?? 3_000);
const SEED = Number(process.env.CAUDAL_FUZZ_SEED ?? Date.now() % 1_000_000);

/** Bodies are cut to this length in messages. */
const SHOWN_MAX = 200;

let service;
let host;
let others = [];

before(async () => {
  service = await Service.start();
  host = wasmtime(service);
  others = [inNode(), await inChromium({ folder: "lib/" }), await inWorkerd()];
});

after(async () => {
  for (const runtime of others) await runtime.end();
  await service?.end();
});

/** Compares the others with the host; returns the host's outcomes, by case. */
async function compare(all, runtimes, how) {
  const outcomes = new Map();
  for (const kind of new Set(all.map((it) => it.kind))) {
    const ofKind = all.filter((it) => it.kind === kind);
    const sent = ofKind.map((it) => it.text ?? it.bytes);
    const expected = (await host.ask(kind, {}, sent, how)).outcomes;
    ofKind.forEach((it, index) => outcomes.set(it, expected[index]));
    for (const runtime of runtimes) {
      const actual = (await runtime.ask(kind, {}, sent, how)).outcomes;
      ofKind.forEach((it, index) => {
        const shown = JSON.stringify(String(sent[index]).slice(0, SHOWN_MAX));
        assert.deepEqual(actual[index], expected[index], `${runtime.name}, ${kind}, ${it.name}: ${shown}`);
      });
    }
  }
  return outcomes;
}

/** Counts of statuses and of refused fields by code. */
function summary(outcomes) {
  const counts = new Map();
  const count = (key) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const { status, code, errors = [] } of outcomes.values()) {
    count(code ? `${status} ${code}` : `${status}`);
    errors.forEach((error) => count(error.code));
  }
  return [...counts].map(([key, number]) => `${key}: ${number}`).join(", ");
}

test("every case of the table is answered as the host answers it", async () => {
  const all = [...cases()].filter((it) => it.text !== undefined);
  assert.ok(all.length >= CASES_MIN, `there are ${all.length} cases`);
  const outcomes = await compare(all, others);
  console.log(`${all.length} cases, the same in the host, Node, Chromium and workerd: ${summary(outcomes)}`);
});

test("bytes that are not text are refused by the worker as by the host", async () => {
  const all = [...cases()].filter((it) => it.bytes !== undefined);
  const outcomes = await compare(
    all,
    others.filter((it) => it.name === "workerd"),
  );
  console.log(`${all.length} cases, the same in the host and workerd: ${summary(outcomes)}`);
});

test("both languages are negotiated as by the host", async () => {
  const all = [...cases()].filter((it) => it.kind === "accessibility" && it.text !== undefined);
  await compare(all, others, { language: "en" });
  await compare(all.slice(0, 20), others, { language: "en-US" });
  await compare(all.slice(0, 20), others, { language: "fr" });
});

test("random bodies are answered as the host answers them", async () => {
  const all = [...bodies(SEED, BODIES)].map((it, index) => ({ ...it, name: `seed ${SEED}, body ${index}` }));
  const outcomes = await compare(all, others);
  console.log(`${all.length} bodies from seed ${SEED}, the same everywhere: ${summary(outcomes)}`);
});

test("nothing violated the page's policy", () => {
  for (const { faults } of others) assert.deepEqual(faults ?? [], []);
});
