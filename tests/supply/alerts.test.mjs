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
  // A family without a series is not shown, and most of these appear with a first failure.
  const source = readFileSync(`${ROOT}host/src/models/metrics.rs`, "utf8");
  const registered = source.matchAll(/registry\s*\.register(_with_unit)?\("(\w+)"/g);
  const families = new Set([...registered].map(([, unit, name]) => `caudal_${name}${unit ? "_seconds" : ""}`));
  const named = new Set([...rules.matchAll(/\bcaudal_\w+/g)].map(([name]) => name.replace(/_(total|bucket)$/, "")));
  assert.ok(named.size >= 5);
  assert.deepEqual(
    [...named].filter((name) => !families.has(name)),
    [],
  );
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
