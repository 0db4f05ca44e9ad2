// The alert rules: promtool accepts and tests them, the host has their metrics, and each leads to its section of OPERATING.md.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Service } from "../parity/service.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const rules = readFileSync(`${ROOT}host/alerts.yml`, "utf8");
const alerts = [...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name);

test("promtool accepts the rules, and its tests of them pass", (t) => {
  const found = spawnSync("tests/supply/promtool.sh", { cwd: ROOT, encoding: "utf8" });
  if (found.status === 3) return t.skip(`NOT CHECKED: alert rules (${found.stderr.trim()})`);
  assert.equal(found.status, 0, found.stderr);
  for (const options of [
    ["check", "rules", "host/alerts.yml"],
    ["test", "rules", "tests/supply/alerts.yml"],
  ]) {
    const { status, stdout, stderr } = spawnSync(found.stdout.trim(), options, { cwd: ROOT, encoding: "utf8" });
    assert.equal(status, 0, `${stdout}${stderr}`);
  }
});

test("every alert is tested, and has a section that says what to do", () => {
  assert.ok(alerts.length > 0);
  const tests = readFileSync(`${ROOT}tests/supply/alerts.yml`, "utf8");
  const manual = readFileSync(`${ROOT}host/OPERATING.md`, "utf8");
  for (const alert of alerts) {
    assert.ok(tests.includes(alert), `no test of ${alert}`);
    assert.ok(manual.includes(`\n### ${alert}\n`), `no section about ${alert}`);
    assert.ok(
      rules.includes(`runbook: host/OPERATING.md#${alert.toLowerCase()}\n`),
      `${alert} does not name its section`,
    );
  }
});

test("the host has every metric that the rules name", () => {
  // Many families are shown only after a first failure; the manual's table is generated from what the host declares.
  const manual = readFileSync(`${ROOT}host/OPERATING.md`, "utf8");
  const rows = [...manual.matchAll(/^\| `(caudal_\w+)` \| (counter|gauge|histogram) \| (.*?) \|/gm)];
  const declared = new Map(
    rows.map(([, name, , labels]) => [name, [...labels.matchAll(/`(\w+)`/g)].map(([, it]) => it)]),
  );
  const named = [...rules.matchAll(/\b(caudal_\w+?)(?:_bucket|_count|_sum)?\b(?:\{(.*?)\})?/g)];
  assert.ok(new Set(named.map(([, name]) => name)).size >= 12);
  for (const [text, name, selector = ""] of named) {
    assert.ok(declared.has(name), `${name} is no metric of the host`);
    for (const [, label] of selector.matchAll(/(\w+)[!=]~?/g))
      assert.ok(declared.get(name).includes(label), `${text}: ${name} has no such label`);
  }
});

test("a running host spells them as the rules do", async () => {
  const service = await Service.start();
  try {
    const on = { screen: "transfer", num_validation_errors: 0, time_on_screen_seconds: 5, num_back_navigations: 0 };
    const response = await service.post("/ai/nudge", JSON.stringify({ ...on, steps_total: 1, current_step: 1 }));
    assert.equal(response.status, 200);
    const metrics = await (await fetch(`${service.assist}/metrics`)).text();
    for (const line of [
      'caudal_model_decisions_total{kind="nudge",outcome="answered"} 1',
      'caudal_model_decision_seconds_bucket{le="0.05",kind="nudge"} 1',
      // What alerts have to see from its first occurrence on.
      'caudal_ledger_failures_total{cause="unknown"} 0',
      'caudal_http_problems_total{status="500",code="internal-error"} 0',
      'caudal_refusals_total{event="token_refused",reason="signature"} 0',
      "caudal_ledger_open 1",
    ])
      assert.ok(metrics.includes(line), metrics);
    const ready = await fetch(`${service.assist}/readyz`);
    assert.equal(ready.status, 200);
    const { models } = await (await fetch(`${service.assist}/ai/health`)).json();
    assert.ok("transfer-rules" in models, JSON.stringify(models));
  } finally {
    await service.end();
  }
});
