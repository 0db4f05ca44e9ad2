// What is known about a version before it is promoted or returned to: its traffic, how its answers compared, what failed,
// and what the gate found.

/** @import { Child } from "../shared/dom.js" */
/** @import { Challenger, Deployment, GateReport, Loaded, Report } from "./types.js" */
import { h } from "../shared/dom.js";
import * as api from "./api.js";
import { kindOf, rolesOf } from "./kinds.js";
import { update } from "./patch.js";
import { asFailure } from "./problems.js";
import { formerIn, isWhole, reign, sinceFormer, uncompared } from "./record.js";
import { drawLost } from "./report.js";
import { fact, markScrollable } from "./table.js";
import { drawGate } from "./versions.js";
import { count, failuresIn, interval, micros, percent, sentence, share, version, when } from "./words.js";

/** @param {string} name @param {Deployment} now */
function traffic(name, now) {
  const roles = rolesOf(name, now);
  if (roles.includes("champion")) {
    return now.canary ? `${percent(100 - now.canary.percent)} of users, as the champion` : "everyone, as the champion";
  }
  if (roles.includes("canary")) return `${percent(now.canary?.percent)} of users, as the canary`;
  const nobody = roles.includes("previous") && now.fallback ? "nobody, unless the champion fails" : "nobody";
  return roles.includes("shadow") ? `${nobody}; compared as a shadow` : nobody;
}

/** When it last was the champion. @param {string} name @param {Deployment} now @param {Deployment[]} history newest first @returns {Child} */
function service(name, now, history) {
  const change = (/** @type {Deployment | undefined} */ it) => [`change ${it?.epoch}, `, when(it?.changed_at)];
  const isComplete = isWhole(history, now);
  const [at, first, since] = [history.findIndex((it) => it.champion === name), history.at(-1), reign(history).at(-1)];
  if (at > 0) return ["until ", change(history[at - 1])];
  // Built-in champions have no change of their own.
  const isBuiltIn = isComplete && (first ? first.previous : now.champion) === name;
  if (isBuiltIn && since === first && at === (first ? 0 : -1)) return "built-in champion, since the start";
  if (at === 0) return ["since ", change(since)];
  if (isBuiltIn) return ["built-in champion until ", change(first)];
  return isComplete ? "never" : "not on record";
}

/** @param {Challenger} it @param {Report} report @param {Deployment} now @param {Deployment[]} history */
function comparison(it, report, now, history) {
  const flipped = it.flips.flatMap((row, was) => row.filter((_, is) => was !== is)).reduce((sum, n) => sum + n, 0);
  const { all, note } = failuresIn(it.failed);
  return [
    fact(
      "Compared",
      `${count(it.compared)} of ${count(report.observed)} requests`,
      report.epoch !== now.epoch && `, as a ${it.role} under change ${report.epoch}`,
    ),
    // From old to new: it is what a rollback returns to.
    it === formerIn(report, history)
      ? fact("Its successor", sentence(sinceFormer(it, report)))
      : [
          drawLost(it, it.version !== now.rollback_to),
          fact(
            "Changed class",
            it.compared > 0 ? `${count(flipped)}: ${it.flip ? interval(it.flip) : share(it.flip_share)}` : "–",
          ),
        ],
    fact("Failed", count(all), it.failure && it.failure.of > 0 && `: ${interval(it.failure)}`, note && `, ${note}`),
    fact("Time, p99", `${micros(it.latency_us?.challenger?.p99)}; champion ${micros(it.latency_us?.champion?.p99)}`),
  ];
}

/** @param {GateReport} report */
function gate(report) {
  const counted = (/** @type {string} */ outcome) => report.checks.filter((it) => it.outcome === outcome).length;
  const noted = counted("noted");
  const text = `${counted("passed")} checks passed, ${noted} noted`;
  return h("details", h("summary", noted > 0 ? text : `${counted("passed")} checks passed`), drawGate(report));
}

/**
 * @param {string} name @param {Deployment} now @param {Deployment[]} history @param {Loaded<Report> | undefined} part
 */
export function drawEvidence(name, now, history, part) {
  const { hasCanaries } = kindOf(now.kind);
  const report = part?.data;
  const compared = report?.challengers.find((it) => it.version === name);
  const examined = h("div", "Loading the gate’s report…");
  api
    .version(now.kind, name)
    .then((it) => update(examined, it.report ? gate(it.report) : "Built in: covered by the program’s own tests."))
    .catch((error) => update(examined, `Could not load the report: ${asFailure(error).title}`))
    .finally(() => markScrollable(examined));
  return h(
    "section.evidence",
    h("h3", "What is known about ", version(name)),
    h(
      "dl.facts",
      fact("Answers now", traffic(name, now)),
      fact("Champion", service(name, now, history)),
      compared && report && comparison(compared, report, now, history),
      hasCanaries &&
        !compared &&
        name !== now.champion &&
        fact("Compared", h("strong", sentence(uncompared(name, now, history)))),
    ),
    h("h4", "The gate’s report"),
    examined,
  );
}
