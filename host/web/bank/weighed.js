// What weighed most in a risk, in the bank's words. This is loaded when somebody looks, so it imports nothing that the page
// has loaded already.

/** @import { ExplainedRisk, RiskRequest } from "../../../components/js/src/index.js" */
/** @import { Language } from "./types.js" */
import { FACTS, FEATURES } from "./fact-words.js";

/** Three are enough to recognise one's own payment. */
const FACTS_MAX = 3;

const WORDS = new Map(Object.entries(FACTS));
const FACT_OF = new Map(Object.entries(FEATURES));

/** What is known of a payment and raised its score most, as a part of a sentence; "" if nothing did. @param {ExplainedRisk["contributions"]} contributions @param {RiskRequest} facts @param {Language} language */
export function raised(contributions, facts, language) {
  /** @type {Map<string, number>} */
  const sums = new Map();
  for (const { feature, weight } of contributions) {
    const fact = FACT_OF.get(feature.toLowerCase()) ?? feature;
    sums.set(fact, (sums.get(fact) ?? 0) + weight);
  }
  const all = [...sums].filter(([fact, sum]) => sum > 0 && WORDS.has(fact) && fact in facts);
  const most = all.sort(([, one], [, other]) => other - one).slice(0, FACTS_MAX);
  const phrases = most.map(([fact]) => WORDS.get(fact)?.[language === "en" ? "en" : "es"] ?? "");
  return new Intl.ListFormat(language).format(phrases);
}
