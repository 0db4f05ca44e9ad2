// What every screen is made of: money, account numbers, notices, signs, and placeholders while something loads.

/** @import { Child } from "../shared/dom.js" */
/** @import { Problem } from "../shared/problem.js" */
/** @import { Payee } from "./types.js" */
import { button, h, heard, s, saidAs } from "../shared/dom.js";
import { groupsOf, lastFour, readNumber, sayNumber } from "./clabe.js";
import { sayMoney, writeMoney } from "./money.js";
import { explain } from "./problems.js";
import { clock, day } from "./times.js";
import { languageNow, t } from "./words.js";

/** What came in, with a plus sign, or went out. @param {number} centavos */
export const signedMoney = (centavos) => money(centavos, centavos > 0 ? "money in" : "money", centavos > 0 ? "+" : "");

/** $1,234.50 MXN, spoken as pesos and centavos. @param {number} centavos */
export function money(centavos, className = "money", sign = "") {
  const [figure, currency] = `${sign}${writeMoney(centavos)}`.split("\u00a0");
  return h(
    "span",
    { class: className },
    saidAs([h("span", figure), h("span.currency", currency)], sayMoney(centavos, languageNow())),
  );
}

/** An account number in groups, spoken digit by digit, copied without gaps. @param {string} text */
export function number(text) {
  const groups = groupsOf(text).map((group) => h("span", group));
  // A check digit never stands alone on a line.
  const tail = h("span.tail", groups.splice(-2));
  return h("span.number", saidAs([groups, tail], sayNumber(text)));
}

/** An account number where it only has to tell accounts apart. @param {string} text */
function shortNumber(text) {
  const { kind } = readNumber(text);
  if (kind === "other") return number(text);
  const four = lastFour(text);
  return h("span.number", saidAs(`•••• ${four}`, t("number.ending", { four: [...four].join(" ") })));
}

/** In lists a CLABE is shown in full, since people compare it; a card number is not. @param {string} text */
export function listedNumber(text) {
  return readNumber(text).kind === "card" ? shortNumber(text) : number(text);
}

/** @param {string} text an ISO 8601 time */
export function moment(text, { withSeconds = false } = {}) {
  const date = new Date(text);
  return h(
    "time",
    { datetime: date.toISOString() },
    t("time.full", { day: day(date), clock: clock(date, { withSeconds }) }),
  );
}

const SIGNS = {
  good: ["M4 12.5l5 5L20 6.5"],
  bad: ["M12 3L2 21h20z", "M12 10v5", "M12 18v.2"],
  warn: ["M12 3L2 21h20z", "M12 10v5", "M12 18v.2"],
  info: ["M12 3a9 9 0 100 18a9 9 0 000-18z", "M12 11v6", "M12 7.5v.2"],
};

/** A sign beside words, never in their place. @param {keyof typeof SIGNS} kind */
function sign(kind) {
  return s(
    "svg",
    { class: `sign ${kind}`, viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" },
    SIGNS[kind].map((path) => s("path", { d: path })),
  );
}

/** @param {keyof typeof SIGNS} mood @param {Child[]} about */
export function notice(mood, ...about) {
  return h("div", { class: `notice ${mood}` }, sign(mood), h("div.about", about));
}

/** What went wrong and what to do now. @param {Problem} problem @param {() => unknown} [retry] @param {keyof typeof SIGNS} [mood] */
export function problemNotice(problem, retry, mood = "bad") {
  const { title, advice, technical } = explain(problem);
  return h(
    "div",
    { role: "alert" },
    notice(
      mood,
      h("p.title", title),
      h("p", advice),
      retry && h("p.acts", button(t("again"), retry)),
      technical.length > 0 && details(...technical),
    ),
  );
}

/** What helps the bank more than the person: versions, codes, references. @param {string[]} lines */
export function details(...lines) {
  return h(
    "details.more",
    h("summary", t("details")),
    lines.map((it) => h("p", it)),
  );
}

/** Grey bars while something loads, with words for screen readers. */
export function skeleton(lines = 3) {
  const bars = Array.from({ length: lines }, () => h("span.bar"));
  return h("div.skeleton", h("p", t("loading")), h("div", { "aria-hidden": "true" }, bars));
}

/** @param {Child[]} sentences */
export const drawList = (sentences) =>
  h(
    "ul",
    sentences.map((it) => h("li", it)),
  );

/** A row in a list of facts. @param {string} term @param {Child[]} about */
export function pair(term, ...about) {
  return h("div", h("dt", term), h("dd", about));
}

/** What an account number is called. @param {string} text */
export const numberTerm = (text) => t(readNumber(text).kind === "clabe" ? "review.clabe" : "review.number");

const TYPES = ["checking", "savings", "payroll"];

/** The page names the account types that it offers and shows others as they are. @param {string} type */
export function typeName(type) {
  return TYPES.includes(type) ? t(`type.${type}`) : type;
}

/** @param {Pick<Payee, "name" | "alias">} payee */
export function payeeName({ name, alias }) {
  return alias ? `${name} (${alias})` : name;
}

/** A star with its meaning in words, or nothing. @param {Pick<Payee, "isFavorite">} payee */
export function favoriteMark({ isFavorite }) {
  return isFavorite && h("span.favorite", heard(` (${t("payees.favorite")})`));
}

/** The confluence of the logo, as decoration. */
export function streams() {
  return s(
    "svg.streams",
    { viewBox: "0 0 160 120", "aria-hidden": "true", focusable: "false" },
    s("path", { d: "M0 18c60 0 50 42 110 42h50M0 60h160M0 102c60 0 50-42 110-42" }),
  );
}
