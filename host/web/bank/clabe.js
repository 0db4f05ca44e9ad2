// Account numbers as people type them: CLABE, card, phone or anything else. It says what can be derived and
// never refuses: lists of banks go stale, and real payments are full of numbers that fail a check.

import { bankOf } from "./banks.js";

/** The number without spaces and hyphens, the form in which numbers are compared and sent. */
export function normalise(number) {
  return String(number).replace(/[\s-]/g, "");
}

/** Check digit over the first 17 digits: weights 3, 7, 1 repeating, each product modulo 10. */
function checkDigit(digits) {
  const weights = [3, 7, 1];
  let sum = 0;
  for (let place = 0; place < 17; place += 1) sum += (Number(digits[place]) * weights[place % 3]) % 10;
  return (10 - (sum % 10)) % 10;
}

function passesLuhn(digits) {
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits[digits.length - 1 - place]);
    const doubled = place % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/**
 * What a number says about itself: {kind, bank, checks, digits}. `kind` is clabe, card, phone or other; `bank`
 * the bank that a CLABE names, or null; `checks` false only for a CLABE with a wrong check digit.
 */
export function readNumber(text) {
  const digits = normalise(text);
  const isDigits = /^[0-9]+$/.test(digits);
  let kind = "other";
  if (isDigits && digits.length === 18) kind = "clabe";
  else if (isDigits && (digits.length === 15 || digits.length === 16) && passesLuhn(digits)) kind = "card";
  else if (isDigits && digits.length === 10) kind = "phone";
  const isClabe = kind === "clabe";
  return {
    kind,
    digits,
    bank: isClabe ? bankOf(digits.slice(0, 3)) : null,
    checks: !isClabe || checkDigit(digits) === Number(digits[17]),
  };
}

/** Where a CLABE's parts end: bank, branch, account, check digit. Cards are read in fours, phones in 2-4-4. */
const CLABE_ENDS = [3, 6, 17, 18];
const CARD_ENDS = [4, 8, 12, 16];
const PHONE_ENDS = [2, 6, 10];

function cut(digits, ends) {
  const groups = [];
  let start = 0;
  for (const end of ends) {
    if (start < digits.length) groups.push(digits.slice(start, end));
    start = end;
  }
  return groups;
}

/** A number in the groups in which it is read: 646, 180, 11040000000, 7. */
export function groupsOf(text) {
  const { kind, digits } = readNumber(text);
  if (kind === "clabe") return cut(digits, CLABE_ENDS);
  if (kind === "card") return cut(digits, CARD_ENDS);
  if (kind === "phone") return cut(digits, PHONE_ENDS);
  return [String(text).trim()];
}

/** A number while it is typed: grouped like the CLABE that it may become; text stays as it is. */
export function groupWhileTyping(text) {
  const digits = normalise(text);
  if (!/^[0-9]+$/.test(digits) || digits.length > 18) return text;
  return cut(digits, CLABE_ENDS).join(" ");
}

/** A number as it is said: digit by digit, with a pause between groups. */
export function sayNumber(text) {
  const groups = groupsOf(text);
  return groups.map((group) => (/^[0-9]+$/.test(group) ? [...group].join(" ") : group)).join(", ");
}

/** The last four, enough to tell one's own accounts apart. */
export function lastFour(text) {
  return normalise(text).slice(-4);
}

/** Fewest letters and digits in a name that says something about which bank it is. */
const BANK_NAME_CHARS_MIN = 2;

/** "BBVA México" and "bbva" are the same bank: one name contains the other. */
export function isSameBank(derived, typed) {
  const plain = (name) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  const [left, right] = [plain(derived), plain(typed)];
  return right.length >= BANK_NAME_CHARS_MIN && (left.includes(right) || right.includes(left));
}
