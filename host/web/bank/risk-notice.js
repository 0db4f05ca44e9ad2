// The risk of a payment and its reasons, where the page asks no question about it.

/** @import { Child } from "../shared/dom.js" */
/** @import { Caution, FullDraft, Verdict } from "./types.js" */
import { h } from "../shared/dom.js";
import { groupsOf } from "./clabe.js";
import { details, drawList, notice } from "./drawing.js";
import { writeMoney } from "./money.js";
import { isConfirmed } from "./payee-names.js";
import { reasons } from "./reasons.js";
import { explain } from "./scorers.js";
import { isCalm, isRed } from "./warning-rules.js";
import { languageNow, t } from "./words.js";

const WEIGHED = "/bank/weighed.js";

/** What the texts about a payment name. @param {FullDraft} draft */
export const summaryOf = ({ centavos, payee }) => ({
  amount: writeMoney(centavos),
  name: payee.name,
  bank: payee.bankName,
  number: groupsOf(payee.accountNumber).join(" "),
});

/** A text about a payment. Its account number, which people compare, stays on one line where it fits. @param {string} key @param {FullDraft} draft @returns {Child[]} */
export function summarised(key, draft) {
  const summary = summaryOf(draft);
  const [first, ...parts] = t(key, summary).split(summary.number);
  // With its full stop or comma.
  const after = (/** @type {string} */ part) => (/^[.,]/.test(part) ? 1 : 0);
  return [
    first,
    parts.map((part) => [h("span.unsplit", summary.number + part.slice(0, after(part))), part.slice(after(part))]),
  ];
}

/** @param {Verdict} verdict @param {Caution} caution @param {FullDraft} draft */
export function keyOfRisk(verdict, caution, { payee }) {
  if (caution === "question") return "warning.question";
  if (verdict.scoredBy === "none") return "risk.unscored";
  // Doubts about the payee keep even a low risk from looking good.
  if (caution === "doubts") return "risk.doubtful";
  if (caution === "first") return "risk.first";
  if (caution === "none" || verdict.level === "low") return "risk.low";
  if (caution === "familiar") return "risk.familiar";
  return isRed(verdict, isConfirmed(payee)) ? "risk.high" : "risk.medium";
}

/** @type {Record<string, "good" | "warn" | "bad" | "info">} */
const MOODS = {
  "risk.low": "good",
  "risk.familiar": "info",
  "risk.first": "info",
  "risk.doubtful": "warn",
  "risk.medium": "warn",
  "risk.high": "bad",
  "risk.unscored": "bad",
};

/** Adds what weighed most. A large model takes a while to say it. @param {HTMLElement} place @param {Verdict} verdict */
async function tellWeighed(place, { facts, modelVersion }) {
  const explained = await explain(facts, modelVersion);
  if (!explained) return;
  /** @type {typeof import("./weighed.js")} */
  const { raised } = await import(WEIGHED);
  const weighed = raised(explained.contributions, facts, languageNow());
  if (weighed) place.append(h("p", t("risk.weighed", { facts: weighed })));
}

/** What helps the bank: model and codes; of a risk also what weighed most, once somebody looks. @param {Verdict} verdict */
export function drawRiskDetails(verdict) {
  const { level, modelVersion, scoredBy, factors, reasons = [] } = verdict;
  const codes = [...new Set([...factors, ...reasons])];
  const drawn = details(
    modelVersion ? t(`risk.by.${scoredBy}`, { modelVersion }) : t("risk.by.none"),
    ...(codes.length > 0 ? [t("risk.codes", { codes: codes.join(", ") })] : []),
  );
  // Without a connection it remains untold.
  const tell = () => tellWeighed(drawn, verdict).catch(() => {});
  if (level !== "low") drawn.addEventListener("toggle", tell, { once: true });
  return drawn;
}

/** A calm risk gives way to `twin`, a notice with a title of its own. @param {Verdict} verdict @param {Caution} caution @param {FullDraft} draft @param {HTMLElement | null} [twin] */
export function drawRisk(verdict, caution, draft, twin = null) {
  if (twin && isCalm(caution)) {
    return h("section.risk", { "aria-labelledby": "twin-title" }, twin, drawRiskDetails(verdict));
  }
  const key = keyOfRisk(verdict, caution, draft);
  const sentences = caution === "reasons" ? reasons(verdict, draft) : [];
  return h(
    "section.risk",
    { "aria-labelledby": "risk-title" },
    twin,
    notice(
      MOODS[key],
      h("h2", { id: "risk-title" }, t(`${key}.title`)),
      h("p", summarised(key, draft)),
      sentences.length > 0 && drawList(sentences),
      !isCalm(caution) && verdict.level !== "low" && h("p", h("strong", t("risk.pressure"))),
    ),
    drawRiskDetails(verdict),
  );
}
