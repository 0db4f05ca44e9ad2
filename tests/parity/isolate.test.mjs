// A core that never returns, in a worker: the call fails in time, and the page goes on.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { live, load } from "../../components/js/lib/src/node.js";
import { launch, open, POLICY, servePage } from "./chromium.mjs";
import { core } from "./cores.mjs";
import { SOUND, textOf } from "./hostile.mjs";
import { Stub } from "./stub.mjs";

const NUDGE = textOf(SOUND.nudge);

/** Longest time until a call has failed, in milliseconds. */
const FAILED_MS_MAX = 100;

/** The host's policy, but for trusted types, under which a page has to make a worker itself. */
const WITHOUT_TRUSTED_TYPES = POLICY.replace(/require-trusted-types-for.*/, "");

const LOOP = [0x03, 0x40, 0x0c, 0, 0x0b, 0x41, 0];
const ANSWER_16 = [0x41, 16];

/** A nudge model that loops in one of its functions. Its description is at 16: `nudge`, `1.0.0` and nothing. */
function looping(where) {
  const description = [40, 0, 0, 0, 5, 0, 0, 0, 45, 0, 0, 0, 5, 0, 0, 0, 45, 0, 0, 0, 0, 0, 0, 0];
  const data = [...description, ...Buffer.from("nudge1.0.0")];
  const index = (name) => [0, name === where ? 0 : 1];
  const [model, nudge] = ["caudal:scoring/model@1.0.0#", "caudal:scoring/nudge@1.0.0#"];
  return core({
    code: [LOOP, ANSWER_16],
    memories: [[0, 1]],
    exports: {
      memory: [2, 0],
      cabi_realloc: index("realloc"),
      [`${model}describe`]: index("describe"),
      [`${nudge}assess`]: index("assess"),
      [`${nudge}assess-batch`]: index("assess-batch"),
      [`cabi_post_${model}describe`]: index("post"),
      [`cabi_post_${nudge}assess`]: index("post"),
      [`cabi_post_${nudge}assess-batch`]: index("post"),
    },
    data: [[0, 0x41, 16, 0x0b, data.length, ...data]],
  });
}

let browser;

before(async () => {
  browser = await launch();
});

after(() => browser?.close());

/** Two calls that fail: what they say, how long the first took, and how often a timer ran meanwhile. Runs in pages, too. */
async function failures(load, bytes, isolate, text) {
  const scorer = await load("nudge", { core: new Uint8Array(bytes), isolate });
  let ticks = 0;
  const ticking = setInterval(() => (ticks += 1), 5);
  const begin = performance.now();
  const first = await scorer.assessText(text).catch((error) => error);
  const ms = performance.now() - begin;
  clearInterval(ticking);
  const second = await scorer.assessText(text).catch((error) => error);
  scorer.close();
  return { says: [first, second].map((it) => `${it.name}: ${it.cause?.message}`), ms, ticks };
}

function check({ says, ms, ticks }) {
  assert.deepEqual(says, Array(2).fill("ModelFailed: no answer in 60 ms"));
  assert.ok(ms < FAILED_MS_MAX, `${ms} ms`);
  assert.ok(ticks >= 2, `${ticks} ticks`);
}

for (const [what, policy, isolate] of [
  ["the package's worker", WITHOUT_TRUSTED_TYPES, "true"],
  [
    "a worker of one's own, under trusted types",
    POLICY,
    `(() => {
      const policy = trustedTypes.createPolicy("offline-worker", { createScriptURL: (it) => it });
      return () => new Worker(policy.createScriptURL("/scorers/src/isolated.js"), { type: "module" });
    })()`,
  ],
]) {
  test(`in Chromium: ${what}`, async () => {
    const server = await servePage({ folder: "lib/", policy });
    const { page, faults } = await open(browser, server.url);
    try {
      const call = `(${failures})(scorers.load, [${looping("assess")}], ${isolate}, ${JSON.stringify(NUDGE)})`;
      check(await page.evaluate(call));
      assert.deepEqual(faults, []);
    } finally {
      await page.close();
      await server.close();
    }
  });
}

test("in Node", async () => check(await failures(load, looping("assess"), true, NUDGE)));

test("a sound core answers as it does without a worker, and refuses as it does", async () => {
  const [here, there] = [await load("nudge"), await load("nudge", { isolate: true })];
  const answers = await Promise.all([there.assessText(NUDGE), there.assess(JSON.parse(NUDGE))]);
  assert.deepEqual(answers, Array(2).fill(here.assessText(NUDGE)));
  await assert.rejects(there.assessText("{}"), { name: "InvalidRequest", status: 422 });
  there.close();
  assert.deepEqual(await there.assessText(NUDGE), answers[0], "after its end another worker is started");
  there.close();
});

test("an offered core that loops when it is asked what it is does not replace the last good one", async () => {
  const stub = await new Stub().start();
  stub.offer("nudge", looping("describe"));
  const scorer = await live("nudge", { base: stub.url, everySeconds: 600, isolate: true });
  assert.deepEqual(
    [scorer.problem.code, scorer.problem.detail],
    ["unusable", "the core does not work: no answer in 60 ms"],
  );
  assert.equal((await scorer.assessText(NUDGE)).model_version, scorer.modelVersion);
  scorer.close();
  await stub.end();
});
