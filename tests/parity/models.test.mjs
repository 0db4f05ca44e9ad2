// A model that fails: whatever it does, no bad answer is returned, and no call affects the next.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import accessibility from "../../components/js/lib/dist/schema/accessibility.js";
import nudge from "../../components/js/lib/dist/schema/nudge.js";
import risk from "../../components/js/lib/dist/schema/risk.js";
import { InvalidRequest, load, ModelFailed } from "../../components/js/lib/src/node.js";
import { Component, Scorer } from "../../components/js/lib/src/scorer.js";
import { core } from "./cores.mjs";
import { SOUND, textOf } from "./hostile.mjs";

/** A core that does nothing. */
const CORE = { module: new WebAssembly.Module(core({})), states: null };

const IDENTITY = { modelVersion: "risk-1.0.0+00000000", sha256: "0".repeat(64) };

/** A scorer whose component is this function. */
const scorerOf = (part, assess) =>
  new Scorer(part, new Component(part.kind, CORE, () => ({ [part.kind]: { assess }, model: {} })), IDENTITY);

const SOUND_ANSWERS = {
  risk: {
    part: risk,
    answer: {
      level: "medium",
      score: 0.25,
      base: -1,
      contributions: [{ feature: "night", weight: 0.5 }],
      factors: ["UNUSUAL_TIME"],
    },
    broken: {
      "a score that is no number": { score: NaN },
      "a score above 1": { score: 1.5 },
      "a score below 0": { score: -0.1 },
      "a level too high": { level: "high" },
      "a level too low": { level: "low" },
      "an infinite base": { base: Infinity },
      "a contribution that is no number": { contributions: [{ feature: "night", weight: NaN }] },
      "an unknown factor": { factors: ["FULL_MOON"] },
      "no factor": { factors: [] },
    },
  },
  nudge: {
    part: nudge,
    answer: {
      needsHelp: true,
      difficultyScore: 0.9,
      recommendedNudgeType: "assist",
      reason: "high_error_rate_or_time",
    },
    broken: {
      "a difficulty that is no number": { difficultyScore: NaN },
      "a difficulty below 0": { difficultyScore: -0.1 },
      "another type": { recommendedNudgeType: "info" },
      "no help": { needsHelp: false },
      "another reason": { reason: "moderate_difficulty" },
      "a type at its edge": { difficultyScore: 0.75 },
    },
  },
  accessibility: {
    part: accessibility,
    answer: {
      theme: "standard-accessible",
      screenReaderMode: false,
      fontScale: 1.2,
      nudgingLevel: "medium",
      voiceFeedback: false,
      confidence: 0.9,
      explanation: ["Because."],
    },
    broken: {
      "a confidence that is no number": { confidence: NaN },
      "a confidence above 1": { confidence: 1.01 },
      "an infinite font": { fontScale: Infinity },
      "a small font": { fontScale: 0.79 },
      "no explanation": { explanation: [] },
      "a blank explanation": { explanation: ["Because.", "\u0085 "] },
    },
  },
};

for (const [kind, { part, answer, broken }] of Object.entries(SOUND_ANSWERS)) {
  describe(`an answer about ${kind}`, () => {
    test("that is valid is returned", () => {
      const { model_version } = scorerOf(part, () => answer).assessText(textOf(SOUND[kind]));
      assert.equal(model_version, IDENTITY.modelVersion);
    });
    for (const [name, harm] of Object.entries(broken)) {
      test(`with ${name} is not returned`, () => {
        const scorer = scorerOf(part, () => ({ ...answer, ...harm }));
        assert.throws(() => scorer.assessText(textOf(SOUND[kind])), ModelFailed);
      });
    }
  });
}

describe("a component", () => {
  const RISK = textOf(SOUND.risk);

  test("that refuses what the boundary accepted has failed", () => {
    const invalid = Object.assign(new Error("invalid"), { payload: { field: "amount", code: "odd", detail: "odd" } });
    const scorer = scorerOf(risk, () => {
      throw invalid;
    });
    assert.throws(
      () => scorer.assessText(RISK),
      (error) => {
        assert.ok(error instanceof ModelFailed);
        const { status, code, detail, cause } = error;
        assert.deepEqual({ status, code, cause }, { status: 503, code: "model-unavailable", cause: invalid });
        assert.match(detail, /Nothing was decided/);
        return true;
      },
    );
  });

  test("that traps gets new glue the next time", () => {
    let glues = 0;
    const instantiate = () => {
      glues += 1;
      const isFirst = glues === 1;
      const assess = () => {
        if (isFirst) throw new WebAssembly.RuntimeError("unreachable");
        return SOUND_ANSWERS.risk.answer;
      };
      return { risk: { assess }, model: {} };
    };
    const scorer = new Scorer(risk, new Component("risk", CORE, instantiate), IDENTITY);
    assert.throws(() => scorer.assessText(RISK), ModelFailed);
    assert.equal(scorer.assessText(RISK).result.risk_score, 0.25);
    assert.equal(scorer.assessText(RISK).result.risk_score, 0.25);
    assert.equal(glues, 2);
  });

  test("is not asked about what the boundary refuses", () => {
    const scorer = scorerOf(risk, () => assert.fail("asked"));
    assert.throws(() => scorer.assessText("{}"), InvalidRequest);
  });
});

describe("a request as an object", () => {
  const request = JSON.parse(textOf(SOUND.risk));

  test("is read as its JSON", async () => {
    const scorer = await load("risk");
    const refused = (changes) => {
      try {
        return scorer.assess({ ...request, ...changes }).result.risk_level && [];
      } catch (error) {
        return error.errors.map(({ field, code }) => `${field} ${code}`);
      }
    };
    assert.deepEqual(refused({}), []);
    assert.deepEqual(refused({ amount: NaN }), ["amount required"]);
    assert.deepEqual(refused({ amount: Infinity }), ["amount required"]);
    assert.deepEqual(refused({ is_new_device: undefined }), ["is_new_device required"]);
    assert.deepEqual(refused({ is_new_device: () => true }), ["is_new_device required"]);
    assert.deepEqual(refused({ amount: new Number(5), user_id: new String("u") }), []);
    assert.deepEqual(refused({ amount: { toJSON: () => 5 } }), []);
    assert.deepEqual(refused({ user_id: new Date(0) }), []);
    assert.deepEqual(refused({ user_id: "\ud800" }), ["user_id wrong-type"]);
    assert.deepEqual(refused({ hour_of_day: [12] }), ["hour_of_day wrong-type"]);
    assert.throws(() => scorer.assess({ ...request, amount: 5n }), TypeError);
  });

  test("inherits nothing from its prototype", async () => {
    const scorer = await load("risk");
    assert.throws(() => scorer.assess(Object.create(request)), { code: "validation-failed" });
    Object.prototype.user_id = "from nowhere";
    Object.prototype.beneficiary_saved_minutes = 100_000;
    try {
      const polluted = scorer.assess(request);
      assert.equal(Object.hasOwn(polluted, "user_id"), false);
      delete Object.prototype.user_id;
      delete Object.prototype.beneficiary_saved_minutes;
      assert.deepEqual(polluted, scorer.assess(request));
    } finally {
      delete Object.prototype.user_id;
      delete Object.prototype.beneficiary_saved_minutes;
    }
  });

  test("is required", async () => {
    const scorer = await load("risk");
    for (const nothing of [undefined, () => {}, Symbol("s")]) {
      assert.throws(() => scorer.assess(nothing), { status: 400, code: "malformed-json" });
    }
    const errors = [{ field: "", code: "wrong-type", detail: "The body must be a JSON object" }];
    assert.throws(() => scorer.assess(null), { status: 422, errors });
  });
});
