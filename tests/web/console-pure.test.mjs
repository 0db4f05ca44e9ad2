// Parts of the console that need no browser: tables of cards, shares with their intervals.

import assert from "node:assert/strict";
import { test } from "node:test";

import { tablesOf } from "../../host/web/console/card-tables.js";
import { jumpIn } from "../../host/web/console/jumps.js";
import { formerIn, hasOther, keptIn, sinceFormer, uncompared } from "../../host/web/console/record.js";
import { interval, percent, share } from "../../host/web/console/words.js";

test("the tables of a card are found by heading, column and row", () => {
  const card =
    "# m\n\n## Coefficients\n\n| feature | value | origin |\n| --- | --: | --- |\n| a | 1.5 | fitted |\n| b | -2 |\n\ntext\n";
  const tables = tablesOf(`${card}## Other\n\n| x | value |\n|---|---|\n| a | 9 |\n`);
  assert.deepEqual([...tables.keys()], ["Coefficients", "Other"]);
  assert.deepEqual(
    [...(tables.get("Coefficients")?.get("value") ?? [])],
    [
      ["a", "1.5"],
      ["b", "-2"],
    ],
  );
  assert.equal(tables.get("Coefficients")?.get("origin")?.get("b"), "–");
  assert.equal(tables.get("Other")?.get("value")?.get("a"), "9");
  assert.equal(tablesOf("").size, 0);
});

test("shares are written with their interval, and percent signs follow the number", () => {
  assert.equal(interval({ count: 6, of: 500, share: 0.012, low: 0.0055, high: 0.0259 }), "1.20% (0.55–2.59%)");
  assert.equal(interval({ count: 0, of: 0, share: 0, low: 0, high: 1 }), "–");
  assert.deepEqual([share(0.5), share(1), percent(5)], ["50.0%", "100%", "5%"]);
});

test("a jump after a change is distinguished from chance, and reported with its figures", () => {
  const from = "2026-11-24T10:00:00Z";
  const traffic = (highs, times) => ({
    from,
    step_seconds: 60,
    steps: highs.length,
    classes: ["low", "high"],
    versions: [
      {
        answered: highs.map(() => 100),
        classes: [highs.map((it) => 100 - it), highs],
        p99_us: times,
      },
    ],
  });
  const history = [
    { epoch: 2, champion: "b", canary: null, changed_at: "2026-11-24T10:03:30Z" },
    { epoch: 1, champion: "a", canary: null, changed_at: "2026-11-24T08:00:00Z" },
  ];
  const calm = [100, 100, 100, 100, 100, 100];
  // The minute of the change counts for neither side.
  const jump = jumpIn(traffic([11, 11, 11, 90, 1, 1], [100, 100, 100, 100, 2_000, 2_200]), history);
  assert.equal(jump?.change.epoch, 2);
  assert.deepEqual(jump?.lines, [
    "“high”: 11.0% of answers before, 1.00% after.",
    "Time per answer, p99: 100\u202fµs before, 2.10\u202fms after.",
  ]);
  assert.equal(jumpIn(traffic([11, 10, 12, 11, 9, 12], calm), history), null);
  assert.equal(jumpIn(traffic([11, 11, 11, 11, 1, 1], calm), [history[1]]), null, "the change was before the range");
  assert.equal(jumpIn(traffic([11, 11, 11, 11, 1, 1], calm), []), null);
});

test("a former champion is kept for a day, and compared from old to new", () => {
  const change = (epoch, champion, previous, shadows = [], fallback = true) => {
    return { epoch, champion, previous, shadows, fallback, canary: null, changed_at: `2026-11-24T1${epoch}:00:00Z` };
  };
  const past = [change(2, "new", "old", ["old", "third"]), change(1, "new", "old", ["old"])];
  const flips = [
    [5, 3, 1],
    [2, 60, 19],
    [4, 40, 90],
  ];
  const shadow = { version: "old", role: "shadow", compared: 224, classes: ["low", "medium", "high"], flips };
  const report = { epoch: 2, current: true, champion: "new", challengers: [{ ...shadow, flip_share: 0.308 }] };
  assert.deepEqual(keptIn(past[0], past), { version: "old", until: "2026-11-25T11:00:00.000Z" });
  assert.equal(keptIn(past[0], [{ ...past[0], shadows: [] }, past[1]]), null, "removed");
  const former = formerIn(report, past);
  assert.equal(former, report.challengers[0]);
  assert.equal(
    sinceFormer(former, report),
    "Since change 2, new gives another class than old in 30.8%: stricter 46, milder 23; 20 of 110 are no longer high.",
  );
  const back = [change(3, "old", "new", ["new"], false), ...past];
  assert.equal(
    formerIn({ ...report, epoch: 3, challengers: [{ ...shadow, version: "new" }] }, back),
    undefined,
    "left",
  );
  assert.deepEqual([hasOther(past[0], past), hasOther(change(1, "a", "a"), [])], [true, false]);
  assert.equal(uncompared("old", past[0], past), "not compared in the latest trial");
  assert.equal(uncompared("fourth", past[0], past), "never compared with new");
});
