// Parts of the console that need no browser: tables of cards, shares with their intervals.

import assert from "node:assert/strict";
import { test } from "node:test";

import { tablesOf } from "../../host/web/console/card-tables.js";
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
