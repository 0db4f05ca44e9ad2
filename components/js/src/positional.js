// The host's half of contract 2. A component of it names the facts it needs, gets their values by position, and answers with
// numbers; the level, the factors and the names of its reasons are the host's. Here they are the page's.

/** @import { AnswerField, Half, Schema } from "./internal.js" */
import known from "../dist/schema/facts.js";
import { Abstained, ModelFailed } from "./errors.js";
import { find, isWithin } from "./faults.js";

/** A component asks for what this release does not have. */
class OtherFacts extends Error {
  name = "OtherFacts";
}

/** @param {unknown} holds @param {string} what */
function must(holds, what) {
  if (!holds) throw new OtherFacts(`this release of the package has no ${what}`);
}

/**
 * What a component needs and may answer, as it describes itself.
 * @param {{ facts: { name: string, kind: string, unit: string, required: boolean }[], reasons: string[], contributions: string[] }} manifest
 * @param {Schema} schema
 * @returns {Half}
 */
export function half({ facts, reasons, contributions }, { answer }) {
  const all = new Map(Object.entries(known.facts));
  for (const { length } of [facts, reasons, contributions]) must(length <= known.names_max, `room for ${length} names`);
  const needed = facts.map(({ name, kind, unit, required }) => {
    const fact = all.get(name);
    must(fact?.kind === kind && (fact.unit ?? "") === unit, `fact ${name} of kind ${kind}, unit "${unit}"`);
    must(!required || fact?.always_known, `${name} for every transfer`);
    return { name, scale: fact?.scale };
  });
  for (const name of contributions) must(all.has(name), `fact ${name}`);
  for (const code of reasons) must(known.reasons.includes(code), `reason ${code}`);
  const score = find(answer, "risk_score");
  const codes = /** @type {string[]} */ (find(answer, "risk_factors").texts);

  return {
    question: (sent) => needed.map(({ name, scale }) => amountOf(sent[name], scale)),
    assessment({ tag, val }, sent) {
      const given = Array.from(tag === "abstained" ? [val] : val.reasons, (at) => reasons[at]);
      if (given.some((it) => it === undefined)) throw new Error("a reason is not in the manifest");
      if (tag === "abstained") throw new Abstained(given[0]);
      if (!isWithin(score, val.score)) throw new Error("the score is not a number from 0 to 1");
      if (!Number.isFinite(val.predictor)) throw new Error("the predictor is not a finite number");
      return { score: val.score, factors: factors(codes, sent), modelReasons: given.length > 0 ? given : undefined };
    },
    explanation({ base, contributions: given }) {
      if (given.length !== contributions.length || ![base, ...given].every(Number.isFinite))
        throw new ModelFailed(new Error("the explanation is not usable"));
      return { base, contributions: contributions.map((feature, at) => ({ feature, weight: given[at] })) };
    },
  };
}

/** The value in the unit of the fact; undefined if it is not known. @param {any} value @param {number} [scale] */
function amountOf(value, scale) {
  if (value === undefined) return undefined;
  const number = Number(value);
  // No amount is negative, so halves are rounded as on the host.
  return Math.min(scale ? Math.round(number * scale) : number, known.value_max);
}

/** The factors that apply, in the order of their codes. @param {string[]} codes @param {any} sent */
function factors(codes, sent) {
  const { much_higher_times: times, normal_hours: hours, history_min: history } = known.factors;
  const applies = [
    sent.avg_transaction_amount > 0 && sent.amount > times * sent.avg_transaction_amount,
    sent.is_new_beneficiary,
    sent.hour_of_day < hours[0] || sent.hour_of_day > hours[1],
    sent.is_new_device,
    sent.geolocation_changed,
    sent.num_past_transactions < history,
  ];
  return codes.filter((_, at) => applies[at]);
}
