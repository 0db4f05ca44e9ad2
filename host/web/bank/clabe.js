// Account numbers as people type them: CLABE, card, phone or anything else. They are described, never refused: lists of
// banks go stale, and real payments are full of numbers that fail a check.

import { bankOf, publicName } from "./banks.js";

/** The number without spaces and hyphens, and without Mexico's prefix, as it is compared and sent. @param {string} number */
export function normalise(number) {
  return number.replace(/[\s-]/g, "").replace(/^\+52(?=\d{10}$)/, "");
}

/** The check digit of the first 17: weights 3, 7, 1 repeating, each product modulo 10. @param {string} digits */
function checkDigit(digits) {
  const weights = [3, 7, 1];
  let sum = 0;
  for (let place = 0; place < 17; place += 1) sum += (Number(digits[place]) * weights[place % 3]) % 10;
  return (10 - (sum % 10)) % 10;
}

/** @param {string} digits */
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
 * Describes a number. `bank` is the one that a CLABE names, `checks` is false only for a CLABE with a wrong check digit.
 * @param {string} text
 */
export function readNumber(text) {
  const digits = normalise(text);
  const isDigits = /^[0-9]+$/.test(digits);
  /** @type {"clabe" | "card" | "phone" | "other"} */
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

/** Ends of a CLABE's parts: bank, branch, account, check digit. Cards are read in fours, phones in 2-4-4. */
const CLABE_ENDS = [3, 6, 17, 18];
const CARD_ENDS = [4, 8, 12, 16];
const PHONE_ENDS = [2, 6, 10];

/** @param {string} digits @param {number[]} ends */
function cut(digits, ends) {
  const groups = [];
  let start = 0;
  for (const end of ends) {
    if (start < digits.length) groups.push(digits.slice(start, end));
    start = end;
  }
  return groups;
}

/** The groups in which a number is read: 646, 180, 11040000000, 7. @param {string} text */
export function groupsOf(text) {
  const { kind, digits } = readNumber(text);
  if (kind === "clabe") return cut(digits, CLABE_ENDS);
  if (kind === "card") return cut(digits, CARD_ENDS);
  if (kind === "phone") return cut(digits, PHONE_ENDS);
  return [text.trim()];
}

/** A number being typed, grouped like the CLABE it may become; text stays as it is. @param {string} text */
export function groupWhileTyping(text) {
  const digits = normalise(text);
  if (!/^[0-9]+$/.test(digits) || digits.length > 18) return text;
  return cut(digits, CLABE_ENDS).join(" ");
}

/** A number to be spoken: digit by digit, with a pause between groups. @param {string} text */
export function sayNumber(text) {
  const groups = groupsOf(text);
  return groups.map((group) => (/^[0-9]+$/.test(group) ? [...group].join(" ") : group)).join(", ");
}

/** @param {string} text */
export function lastFour(text) {
  return normalise(text).slice(-4);
}

/** Shorter names would match any bank. */
const BANK_NAME_CHARS_MIN = 2;

/** "BBVA México" and "bbva" are the same bank, "BanBajío" and "Bajio" too: one name contains the other. @param {string} derived @param {string} typed */
export function isSameBank(derived, typed) {
  // Decomposed, so that an accent is a mark of its own.
  /** @param {string} name */
  const plain = (name) =>
    name
      .normalize("NFKD")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]/gu, "");
  const right = plain(typed);
  const names = [derived, publicName(derived) ?? derived].map(plain);
  return right.length >= BANK_NAME_CHARS_MIN && names.some((name) => name.includes(right) || right.includes(name));
}
