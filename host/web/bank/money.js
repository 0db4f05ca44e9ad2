// Money in whole centavos, never fractions: parsed from what people type, written for the screen, for speech and for
// JSON. Which amounts may be sent is for the ledger to decide.

/** 2^53 - 1 centavos: the largest transfer that the ledger accepts, and the largest exact integer here. */
export const CENTAVOS_MAX = Number.MAX_SAFE_INTEGER;

const CENTAVOS_IN_PESO = 100;

/**
 * Parses an amount as people write it in Mexico: "1,234.50", "$1234.5", "1234.50 MXN".
 * @param {string} text
 * @returns {{ centavos: number, fault?: undefined } | { centavos?: undefined, fault: AmountFault }}
 * @typedef {"empty" | "comma" | "not-a-number" | "too-precise" | "too-small" | "too-large"} AmountFault
 */
export function readAmount(text) {
  const plain = text.replace(/MXN|MN|\$/gi, "").replace(/[\s\u00a0\u202f]/g, "");
  if (plain === "") return { fault: "empty" };
  if (plain.startsWith("-")) return { fault: /^-[\d,.]+$/.test(plain) ? "too-small" : "not-a-number" };
  // "12,50" may mean 12.50 or be a slip for 1,250: with money, asking is better than guessing.
  if (/^\d+,\d{1,2}$/.test(plain)) return { fault: "comma" };
  if (!/^(\d{1,3}(,\d{3})+|\d+)?(\.\d*)?$/.test(plain) || !/\d/.test(plain)) return { fault: "not-a-number" };
  const [whole, fraction = ""] = plain.replaceAll(",", "").split(".");
  if (fraction.replace(/0+$/, "").length > 2) return { fault: "too-precise" };
  const digits = `${whole}${fraction.padEnd(2, "0").slice(0, 2)}`.replace(/^0+/, "");
  if (digits === "") return { fault: "too-small" };
  const centavos = Number(digits);
  return centavos > CENTAVOS_MAX ? { fault: "too-large" } : { centavos };
}

/** From pesos as a JSON number. @param {number} pesos */
export function fromPesos(pesos) {
  return Math.round(pesos * CENTAVOS_IN_PESO);
}

/** Pesos as the nearest double: for scorers, never for accounts. @param {number} centavos */
export function toPesos(centavos) {
  return centavos / CENTAVOS_IN_PESO;
}

/** The exact digits of pesos as a JSON number: 123450 as 1234.50. @param {number} centavos */
export function toJson(centavos) {
  const digits = String(Math.abs(centavos)).padStart(3, "0");
  return `${centavos < 0 ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** $1,234.50 MXN, in both languages. @param {number} centavos */
export function writeMoney(centavos) {
  const [whole, fraction] = toJson(Math.abs(centavos)).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  // A no-break space keeps the currency with its figures.
  return `${centavos < 0 ? "\u2212" : ""}$${grouped}.${fraction}\u00a0MXN`;
}

/** An amount to be spoken: "1,234 pesos con 50 centavos". @param {number} centavos @param {string} language */
export function sayMoney(centavos, language) {
  const isSpanish = language !== "en";
  const size = Math.abs(centavos);
  const pesos = Math.floor(size / CENTAVOS_IN_PESO);
  const rest = size % CENTAVOS_IN_PESO;
  const whole = String(pesos).replace(/\B(?=(\d{3})+$)/g, ",");
  const minus = centavos < 0 ? (isSpanish ? "menos " : "minus ") : "";
  const unit = pesos === 1 ? "peso" : isSpanish && pesos > 0 && pesos % 1_000_000 === 0 ? "de pesos" : "pesos";
  const parts = [`${minus}${whole} ${unit}`];
  if (rest > 0) parts.push(`${rest} ${rest === 1 ? "centavo" : "centavos"}`);
  return parts.join(isSpanish ? " con " : " and ");
}
