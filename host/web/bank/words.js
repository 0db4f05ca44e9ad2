// The page's two languages: Mexican Spanish first, English by a switch that is remembered. Every text that a
// person sees or hears has a key; the texts stand in words-es*.js and words-en*.js.

import en from "./words-en.js";
import enTransfer from "./words-en-transfer.js";
import es from "./words-es.js";
import esTransfer from "./words-es-transfer.js";

/** All texts by language; tests compare the two. */
export const TEXTS = { "es-MX": { ...es, ...esTransfer }, en: { ...en, ...enTransfer } };
const REMEMBERED = "caudal.language";

let language = "es-MX";
try {
  if (globalThis.localStorage?.getItem(REMEMBERED) === "en") language = "en";
} catch {
  // Storage may be forbidden; the page then starts in Spanish each time.
}

/** "es-MX" or "en". */
export function languageNow() {
  return language;
}

export function speak(wanted) {
  language = wanted === "en" ? "en" : "es-MX";
  try {
    globalThis.localStorage?.setItem(REMEMBERED, language);
  } catch {
    // As above.
  }
}

function textOf(key) {
  const text = TEXTS[language][key];
  if (text === undefined) throw new Error(`no text for ${key}`);
  return text;
}

/** Whether there is a text: for codes that the host may add. */
export function hasText(key) {
  return Object.hasOwn(TEXTS[language], key);
}

/** The text of a key, with {name} replaced by params.name. */
export function t(key, params = {}) {
  return textOf(key).replace(/\{(\w+)\}/g, (whole, name) => (name in params ? String(params[name]) : whole));
}

/** One or many: picks `key.one` or `key.many`. */
export function counted(key, count, params = {}) {
  return t(count === 1 ? `${key}.one` : `${key}.many`, { ...params, count });
}
