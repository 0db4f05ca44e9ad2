// The warnings' frequency, and the promise about payments as usual, over simulated months with the bank's real risk
// component. RENEW=1 rewrites the table in OPERATING.md.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";

import { load } from "../../components/js/src/node.js";
import { PURPOSES, SAVED_MINUTES, SMALL_PESOS } from "../../host/web/bank/warning-rules.js";
import { chanceFrom } from "./customers.mjs";
import { meet, report, SEED, simulate } from "./frequency.mjs";

const DOCUMENT = new URL("../../host/OPERATING.md", import.meta.url);
const [BEGIN, END] = ["<!-- frequency of warnings -->\n", "\n<!-- end of it -->"];

/** More than these a month, after the first two, wears attention out. */
const QUESTIONS_MAX = { retired: 1, student: 1.5, "small business": 3, family: 1.5 };

test("customers meet few questions and fewer pauses, staged frauds of some size meet them, and the document says so", async () => {
  const found = await simulate(SEED);
  for (const [kind, { settled }] of Object.entries(found.ordinary)) {
    assert.ok(settled.question / settled.months <= QUESTIONS_MAX[kind], kind);
    assert.ok(settled.pause <= settled.question && settled.pause / settled.months <= 1, kind);
  }
  const asked = (name) => found.staged[name].question / found.staged[name].payments;
  assert.equal(asked("call from “the bank”"), 1);
  assert.equal(asked("the same, answers dictated"), 1);
  for (const name of ["false seller", "investment or job", "relative’s new number"]) assert.ok(asked(name) > 0.8, name);
  const text = readFileSync(DOCUMENT, "utf8");
  const [before, rest] = text.split(BEGIN);
  const after = rest?.split(END)[1];
  assert.ok(after !== undefined, "OPERATING.md has a place for the table");
  const renewed = `${before}${BEGIN}${report(found)}${END}${after}`;
  if (process.env.RENEW) writeFileSync(DOCUMENT, renewed);
  else assert.equal(text, renewed, "the table has changed; review it, and renew it with RENEW=1");
});

test("a small amount to somebody paid before or saved a day ago, from a known device, is met with nothing at any hour", async () => {
  const payee = { id: "p1", name: "Luis", accountNumber: "012180004643051249", bankName: "BBVA" };
  const chance = chanceFrom(SEED);
  const levels = new Set();
  for (const model of ["risk-2", "risk-1"]) {
    const scorer = await load("risk", { model });
    for (let tried = 0; tried < 2_000; tried += 1) {
      const isPaid = chance() < 0.5;
      const history = Array.from({ length: Math.floor(chance() * 12) }, (_, place) => ({
        id: `t${place}`,
        toBeneficiaryId: "other",
        centavos: 1 + Math.floor(chance() * 900_000),
        status: "completed",
      }));
      if (isPaid)
        history.push({
          id: "paid",
          toBeneficiaryId: "p1",
          centavos: 1 + Math.floor(chance() * 900_000),
          status: "completed",
        });
      const seen = {
        payee,
        payees: [payee],
        facts: {
          draft: { payee, centavos: 1 + Math.floor(chance() * SMALL_PESOS * 100) },
          history,
          payees: [payee],
          hour: tried % 24,
          isNewDevice: false,
          hasMoved: chance() < 0.3,
          savedAt: 0,
          now: (isPaid ? Math.floor(chance() * SAVED_MINUTES) : SAVED_MINUTES) * 60_000,
        },
      };
      const met = meet(scorer, { seen, purpose: PURPOSES[tried % PURPOSES.length] });
      levels.add(met.level);
      assert.deepEqual([met.caution, met.isPaused], ["familiar", false], JSON.stringify(met.facts));
    }
  }
  // Whatever the level: the promise is about the page's warnings.
  assert.deepEqual([...levels].sort(), ["high", "low", "medium"]);
});

test("what is not as usual is not waved through", async () => {
  const scorer = await load("risk");
  const payee = { id: "p1", name: "Luis", accountNumber: "012180004643051249", bankName: "BBVA" };
  const paid = Array.from({ length: 5 }, (_, place) => ({
    id: `t${place}`,
    toBeneficiaryId: "p2",
    centavos: 40_000,
    status: "completed",
  }));
  const usual = { history: paid, payees: [payee], hour: 12, isNewDevice: false, hasMoved: false, savedAt: 0, now: 0 };
  const caution = (changes, centavos = 30_000) =>
    meet(scorer, {
      seen: { payee, payees: [payee], facts: { ...usual, draft: { payee, centavos }, ...changes } },
      purpose: "known",
    }).caution;
  // Saved during the call; but a small one to somebody new is where everybody begins, from any device.
  assert.equal(caution({}), "reasons");
  assert.equal(caution({ history: [], isNewDevice: true }), "first");
  assert.equal(caution({ now: SAVED_MINUTES * 60_000, isNewDevice: true }), "question");
  // A little more than small; much; to a regular payee, much, also from a new device.
  assert.equal(caution({ now: SAVED_MINUTES * 60_000 }, SMALL_PESOS * 100), "familiar");
  assert.equal(caution({ now: SAVED_MINUTES * 60_000 }, SMALL_PESOS * 100 + 1), "question");
  assert.equal(caution({}, 500_000), "question");
  const regular = paid.map((it) => ({ ...it, toBeneficiaryId: "p1" }));
  assert.equal(caution({ history: regular }, 500_000), "question");
  assert.equal(caution({ history: regular, isNewDevice: true }, 30_000), "familiar");
  // A rent: much, but sent each month.
  const rent = [
    ...paid,
    ...paid,
    ...Array.from({ length: 3 }, () => ({ toBeneficiaryId: "p1", centavos: 600_000, status: "completed" })),
  ];
  assert.equal(caution({ history: rent }, 600_000), "familiar");
  assert.equal(caution({ history: rent, hasMoved: true }, 600_000), "reasons");
});
