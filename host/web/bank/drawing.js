// The pieces that every screen is made of: money, account numbers, notices, signs, and what stands there while
// something is loading or after it failed.

import { groupsOf, lastFour, readNumber, sayNumber } from "./clabe.js";
import { button, h, s, saidAs } from "./dom.js";
import { sayMoney, writeMoney } from "./money.js";
import { explain } from "./problems.js";
import { clock, day } from "./times.js";
import { languageNow, t } from "./words.js";

/** $1,234.50 MXN, said as pesos and centavos. */
export function money(centavos, className = "money") {
  const [figure, currency] = writeMoney(centavos).split("\u00a0");
  return h(
    "span",
    { class: className },
    saidAs([h("span", null, figure), h("span", { class: "currency" }, currency)], sayMoney(centavos, languageNow())),
  );
}

/** An account number in the groups in which it is read; said digit by digit. Copied without gaps. */
export function number(text) {
  const groups = groupsOf(text).map((group) => h("span", null, group));
  return h("span", { class: "number" }, saidAs(groups, sayNumber(text)));
}

/** An account number where it only tells accounts apart; a card's number is not shown in a list. */
function shortNumber(text) {
  const { kind } = readNumber(text);
  if (kind === "other") return number(text);
  const four = lastFour(text);
  return h("span", { class: "number" }, saidAs(`•••• ${four}`, t("number.ending", { four: [...four].join(" ") })));
}

/** In lists a CLABE is shown whole, since people compare it; a card is not. */
export function listedNumber(text) {
  return readNumber(text).kind === "card" ? shortNumber(text) : number(text);
}

/** A time as the service writes it. */
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
  wait: ["M12 3a9 9 0 100 18a9 9 0 000-18z", "M12 7v5l3 3"],
};

/** A sign beside words, never instead of them. */
export function sign(kind) {
  return s(
    "svg",
    { class: `sign ${kind}`, viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" },
    SIGNS[kind].map((path) => s("path", { d: path })),
  );
}

/** Something to know: `mood` is good, bad, warn or info. */
export function notice(mood, ...about) {
  return h("div", { class: `notice ${mood}` }, sign(mood), h("div", { class: "about" }, about));
}

/** Why something did not work, and what to do now. */
export function problemNotice(problem, again) {
  const { title, advice, reference } = explain(problem);
  return h(
    "div",
    { role: "alert" },
    notice(
      "bad",
      h("p", { class: "title" }, title),
      h("p", null, advice),
      reference && h("p", { class: "hint" }, reference),
      again && h("p", { class: "acts" }, button(t("again"), again)),
    ),
  );
}

/** Grey lines where something will stand, with words for those who do not see them. */
export function skeleton(lines = 3) {
  const bars = Array.from({ length: lines }, () => h("span", { class: "bar" }));
  return h("div", { class: "skeleton" }, h("p", null, t("loading")), h("div", { "aria-hidden": "true" }, bars));
}

/** A pair in a list of facts. */
export function pair(term, ...about) {
  return h("div", null, h("dt", null, term), h("dd", null, about));
}

const TYPES = ["checking", "savings", "payroll"];

/** The types that the page offers have names; others are shown as they were written. */
export function typeName(type) {
  return TYPES.includes(type) ? t(`type.${type}`) : type;
}

/** A payee's name, with the alias that people know them by. */
export function payeeName({ name, alias }) {
  return alias ? `${name} (${alias})` : name;
}

/** What went well or where something stands, said at once to everybody. */
export function status(...about) {
  return h("p", { role: "status", class: "status" }, about);
}

/** The confluence of the logo, large and quiet: decoration, beside the words and never under them. */
export function streams() {
  return s(
    "svg",
    { class: "streams", viewBox: "0 0 160 120", "aria-hidden": "true", focusable: "false" },
    s("path", { d: "M0 18c60 0 50 42 110 42h50M0 60h160M0 102c60 0 50-42 110-42" }),
  );
}
