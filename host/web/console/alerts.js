// What the alert rules would say, as far as the host that answers knows: its own metrics, what the hosts report and what
// became of rollouts. A monitoring system sees more, and wakes people; this only shows.

/** @import { Rollout, Versions } from "./types.js" */
import { h } from "../shared/dom.js";
import { KINDS } from "./kinds.js";
import { count, duration, percent } from "./words.js";

/** @typedef {{ key: string, severity: "page" | "ticket", title: string, detail: string, kind?: string }} Alert */
/** @typedef {Map<string, number>} Metrics  by name and labels, as in the text */

/** The bounds of the alert rules. */
const OVERDUE_SECONDS = 1_800;
const OUTBOX_SECONDS = 30;
const OUTBOX_SHARE = 0.01;

/** @param {string} text in the format of Prometheus @returns {Metrics} */
export function parseMetrics(text) {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(" ");
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

/** The sum over all labels. @param {Metrics} metrics @param {string} name @param {string} [label] */
function sum(metrics, name, label = "") {
  let all = 0;
  for (const [series, value] of metrics) {
    if ((series === name || series.startsWith(`${name}{`)) && series.includes(label)) all += value;
  }
  return all;
}

/** @param {Metrics} now @param {Metrics} before @returns {Alert[]} */
function ofModels(now, before) {
  return KINDS.flatMap(({ kind, name }) => {
    const more =
      sum(now, "caudal_model_fallbacks_total", `kind="${kind}"`) -
      sum(before, "caudal_model_fallbacks_total", `kind="${kind}"`);
    if (more <= 0) return [];
    const detail = `Answered by the previous version since you signed in: ${count(more)}. Roll back.`;
    return [{ key: `fallback ${kind}`, severity: "page", title: `${name}: the champion is failing`, detail, kind }];
  });
}

/** @param {Metrics} now @param {Metrics} before @param {number} seconds since 1970 @returns {Alert[]} */
function ofMoney(now, before, seconds) {
  /** @type {Alert[]} */
  const alerts = [];
  /** @param {string} key @param {Alert["severity"]} severity @param {string} title @param {string} detail */
  const add = (key, severity, title, detail) => alerts.push({ key, severity, title, detail });
  if (now.get("caudal_ledger_open") === 0) {
    add("ledger", "page", "The ledger of this host has stopped", "It accepts no transfers. The log says why.");
  }
  const parked = sum(now, "caudal_payments", 'state="parked"');
  if (parked > 0)
    add(
      "parked",
      "page",
      `Payments awaiting a decision: ${count(parked)}`,
      "The rail has not said what happened to them. Ask it, then settle or refuse them.",
    );
  const oldest = now.get("caudal_payments_oldest_timestamp_seconds") ?? 0;
  if (oldest > 0 && seconds - oldest > OVERDUE_SECONDS) {
    add(
      "overdue",
      "page",
      "A payment is overdue",
      `It has been pending for ${duration(Math.floor(seconds - oldest))}.`,
    );
  }
  const contradictions = sum(now, "caudal_rail_contradictions_total");
  if (contradictions > 0) {
    const detail = `Contradictions since this host started: ${count(contradictions)}.`;
    add("contradicted", "page", "The rail contradicted a final status", detail);
  }
  const handed = sum(now, "caudal_outbox_lag_seconds_count") - sum(before, "caudal_outbox_lag_seconds_count");
  const bucket = `le="${OUTBOX_SECONDS}.0"`;
  const soon =
    sum(now, "caudal_outbox_lag_seconds_bucket", bucket) - sum(before, "caudal_outbox_lag_seconds_bucket", bucket);
  if (handed > 0 && handed - soon > OUTBOX_SHARE * handed) {
    const detail = `Since you signed in, ${count(handed - soon)} of ${count(handed)} events took more than ${OUTBOX_SECONDS} s.`;
    add("outbox", "ticket", "Events are reaching listeners late", detail);
  }
  return alerts;
}

/** @param {Iterable<Versions>} kinds @returns {Alert[]} */
function ofHosts(kinds) {
  return [...kinds].flatMap(({ kind, hosts }) => {
    const failed = hosts.filter((it) => it.state === "failed");
    const name = KINDS.find((it) => it.kind === kind)?.name ?? kind;
    if (hosts.length === 0) {
      const [title, detail] = [`${name}: no hosts are reporting`, "The version in service is unknown."];
      return [{ key: `hosts ${kind}`, severity: /** @type {const} */ ("page"), title, detail, kind }];
    }
    if (failed.length === 0) return [];
    const title = `${name}: hosts not serving the deployed version: ${failed.length} of ${hosts.length}`;
    const detail = `${failed[0].host}: ${failed[0].detail ?? "no reason given"}`;
    return [{ key: `hosts ${kind}`, severity: /** @type {const} */ ("page"), title, detail, kind }];
  });
}

/** A stopped rollout is shown until another one is started. @param {Map<string, Rollout | undefined>} latest @returns {Alert[]} */
function ofRollouts(latest) {
  return [...latest].flatMap(([kind, it]) => {
    if (it?.state !== "stopped") return [];
    const name = KINDS.find((one) => one.kind === kind)?.name ?? kind;
    const title = `${name}: a rollout stopped at ${percent(it.steps[it.step])}`;
    return [{ key: `rollout ${kind}`, severity: /** @type {const} */ ("ticket"), title, detail: it.detail, kind }];
  });
}

/**
 * @param {{ now: Metrics, before: Metrics, seconds: number, kinds: Iterable<Versions>, rollouts: Map<string, Rollout | undefined> }} seen
 */
export function alertsOf({ now, before, seconds, kinds, rollouts }) {
  const alerts = [
    ...ofMoney(now, before, seconds),
    ...ofHosts(kinds),
    ...ofModels(now, before),
    ...ofRollouts(rollouts),
  ];
  return alerts.toSorted((a, b) => a.severity.localeCompare(b.severity));
}

/** @param {Alert[]} alerts */
export function drawAlerts(alerts) {
  if (alerts.length === 0) return h("p", "✓ No alerts on this host.");
  const items = alerts.map(({ key, severity, title, detail, kind }) =>
    h(
      "li",
      { class: `alert ${severity}`, "data-key": key },
      h(
        "p.title",
        severity === "page" ? "▲ Urgent: " : "● Not urgent: ",
        kind ? h("a", { href: `#${kind}` }, title) : title,
      ),
      h("p", detail),
    ),
  );
  return h("ul.alerts", items);
}
