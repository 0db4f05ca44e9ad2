// Parts of the console that need no browser: alerts from metrics, tables of cards, shares with their intervals.

import assert from "node:assert/strict";
import { test } from "node:test";

import { alertsOf, parseMetrics } from "../../host/web/console/alerts.js";
import { tablesOf } from "../../host/web/console/card-tables.js";
import { interval, percent, share } from "../../host/web/console/words.js";

const QUIET = `# HELP caudal_ledger_open 1 while the ledger accepts commands
caudal_ledger_open 1
caudal_payments{state="parked"} 0
caudal_payments_oldest_timestamp_seconds 0
caudal_model_fallbacks_total{kind="risk"} 3
caudal_outbox_lag_seconds_bucket{le="30.0"} 100
caudal_outbox_lag_seconds_bucket{le="+Inf"} 100
caudal_outbox_lag_seconds_count 100
`;

const host = (state, detail = null) => ({ host: "0198f1c2", epoch: 1, state, champion: null, detail, since: "" });

/** The titles of the alerts. */
function titles({ now = QUIET, kinds = [], rollouts = [] } = {}) {
  const seen = { now: parseMetrics(now), before: parseMetrics(QUIET), seconds: 1_800_000_000 };
  return alertsOf({ ...seen, kinds, rollouts: new Map(rollouts) }).map((it) => `${it.severity} ${it.title}`);
}

test("a quiet host has no alerts", () => {
  assert.deepEqual(titles({ kinds: [{ kind: "risk", epoch: 1, versions: [], hosts: [host("serving")] }] }), []);
  // Nor one whose metrics cannot be read.
  assert.deepEqual(titles({ now: "" }), []);
});

test("each alert is told, the urgent ones first", () => {
  const now = QUIET.replace("\ncaudal_ledger_open 1", "\ncaudal_ledger_open 0")
    .replace('parked"} 0', 'parked"} 2')
    .replace("seconds 0", "seconds 1799998000")
    .replace('risk"} 3', 'risk"} 5')
    .replace('"+Inf"} 100', '"+Inf"} 120')
    .replace("count 100", "count 120")
    .concat('caudal_rail_contradictions_total{report="settled"} 1\n');
  const kinds = [
    { kind: "nudge", epoch: 1, versions: [], hosts: [host("serving"), host("failed", "out of memory")] },
    { kind: "risk", epoch: 1, versions: [], hosts: [] },
  ];
  const rollouts = [
    ["nudge", { state: "stopped", steps: [5, 25, 100], step: 1, detail: "it failed" }],
    ["risk", { state: "running", steps: [5, 25, 100], step: 1, detail: "" }],
    ["accessibility", undefined],
  ];
  assert.deepEqual(titles({ now, kinds, rollouts }), [
    "page The ledger of this host has stopped",
    "page Payments awaiting a decision: 2",
    "page A payment is overdue",
    "page The rail contradicted a final status",
    "page Nudge: hosts not serving the deployed version: 1 of 2",
    "page Risk: no hosts are reporting",
    "page Risk: the champion is failing",
    "ticket Events are reaching listeners late",
    "ticket Nudge: a rollout stopped at 25%",
  ]);
});

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
