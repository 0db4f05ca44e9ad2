// How a transfer was decided, checked in this browser. This is loaded when somebody asks, so it imports nothing that the
// page has loaded already.

/** @import { h as H } from "../shared/dom.js" */
/** @import { Language, ReceiptDecision, TransactionReceipt } from "./types.js" */
/** @typedef {Record<"es" | "en", string>} Words */
import { FACTS } from "./fact-words.js";
import { check } from "./receipt-proof.js";

/** Facts of rules, whose amounts are in centavos. @type {Record<string, Words>} */
const RULES_FACTS = {
  amount: { es: "el monto", en: "the amount" },
  available: { es: "tu saldo disponible", en: "your available balance" },
  day_total: { es: "lo que ya habías enviado ese día", en: "what you had sent that day" },
  per_transfer_limit: { es: "tu límite por transferencia", en: "your limit for one transfer" },
  per_day_limit: { es: "tu límite por día", en: "your limit for one day" },
  beneficiary_saved_seconds: {
    es: "cuántos segundos llevaba guardado el beneficiario",
    en: "how many seconds ago you had saved the payee",
  },
  cooling_seconds: {
    es: "cuántos segundos hay que esperar con un beneficiario nuevo",
    en: "how many seconds a new payee has to wait",
  },
  same_account: { es: "si era la misma cuenta", en: "whether it was the same account" },
  hour_of_day: { es: "la hora", en: "the time of day" },
  risk_level: {
    es: "el riesgo: 0 bajo, 1 medio o 2 alto",
    en: "the risk: 0 for low, 1 for medium or 2 for high",
  },
  acknowledged: { es: "si aceptaste el riesgo", en: "whether you accepted the risk" },
};

/** The others are numbers. */
const MONEY = /amount|available|day_total|limit$|received/;
const FLAGS = /^is_|^same_account|^geolocation_changed|^acknowledged/;

const CENTAVOS = 100;

/** @type {Record<keyof Words, Record<string, string>>} */
const WORDS = {
  es: {
    risk: "El modelo de riesgo",
    shown: "El modelo de riesgo, antes de que confirmaras",
    "transfer-rules": "Las reglas del banco",
    same: "Este dispositivo volvió a hacer el cálculo con los mismos datos y la respuesta es idéntica.",
    score: "Este dispositivo volvió a hacer el cálculo con los mismos datos y la calificación es idéntica.",
    different: "Este dispositivo volvió a hacer el cálculo y la respuesta es otra. Avísale al banco.",
    proven:
      "La decisión no ha cambiado desde que se guardó. Este dispositivo no repitió el cálculo: incluye datos de otra persona, o un modelo que el banco no publica o que no se pudo descargar.",
    facts: "Los datos que se usaron",
    withheld: "y otros sobre el beneficiario, que no se muestran",
    sealed: "La decisión quedó sellada junto con tu dinero y el banco la firmó.",
    unsigned: "La decisión quedó sellada junto con tu dinero. Este navegador no puede comprobar la firma del banco.",
    broken: "La comprobación falló: el banco no firmó esta decisión tal como está. Avísale.",
    save: "Guardar la comprobación",
    yes: "sí",
    no: "no",
  },
  en: {
    risk: "The risk model",
    shown: "The risk model, before you confirmed",
    "transfer-rules": "The bank's rules",
    same: "This device repeated the calculation with the same facts, and the answer is identical.",
    score: "This device repeated the calculation with the same facts, and the score is identical.",
    different: "This device repeated the calculation, and the answer is another one. Tell the bank.",
    proven:
      "The decision has not changed since it was recorded. This device did not repeat the calculation: it includes facts about somebody else, or a model that the bank does not publish or that could not be downloaded.",
    facts: "The facts that were used",
    withheld: "and others about the payee, which are not shown",
    sealed: "The decision was sealed with your money, and the bank signed it.",
    unsigned: "The decision was sealed with your money. This browser cannot check the bank's signature.",
    broken: "The check failed: the bank did not sign this decision as it is. Tell the bank.",
    save: "Save the proof",
    yes: "yes",
    no: "no",
  },
};

/**
 * @param {TransactionReceipt} answer @param {Language} language
 * @param {{ h: typeof H, save: (text: string) => void }} page
 */
export async function drawWhy(answer, language, { h, save }) {
  const { isSealed, isSigned, outcomes } = await check(answer);
  const spoken = language === "en" ? "en" : "es";
  const words = WORDS[spoken];
  const pesos = new Intl.NumberFormat("es-MX", { style: "currency", currency: "MXN" });
  const isSound = isSealed && isSigned !== false;

  /** @param {string} kind @param {ReceiptDecision["facts"][number]} fact */
  const drawFact = (kind, { name, value }) => {
    const isRules = kind === "transfer-rules";
    const word = (isRules ? RULES_FACTS : /** @type {typeof RULES_FACTS} */ (FACTS))[name]?.[spoken] ?? name;
    const told = FLAGS.test(name)
      ? words[value > 0 ? "yes" : "no"]
      : MONEY.test(name)
        ? `${pesos.format(isRules ? value / CENTAVOS : value)} MXN`
        : new Intl.NumberFormat(language).format(value);
    return h("li", `${word}: ${told}`);
  };
  const drawDecision = (
    /** @type {ReceiptDecision} */ { kind, role, component, facts, withheld },
    /** @type {number} */ at,
  ) => [
    h("h3", words[role === "shown" ? role : kind] ?? kind),
    h("p", words[kind === "risk" && outcomes[at] === "same" ? "score" : outcomes[at]]),
    h(
      "details",
      h("summary", words.facts),
      h(
        "ul",
        facts.map((fact) => drawFact(kind, fact)),
        withheld.length > 0 ? h("li", words.withheld) : null,
      ),
      h("p.hint", "SHA-256 ", h("code", component)),
    ),
  ];
  return [
    h("p", words[!isSound ? "broken" : isSigned ? "sealed" : "unsigned"]),
    ...(isSound ? answer.receipt.decisions.flatMap(drawDecision) : []),
    h(
      "p.acts",
      h("button.quiet", { type: "button", onclick: () => save(JSON.stringify(answer, null, 2)) }, words.save),
    ),
  ];
}
