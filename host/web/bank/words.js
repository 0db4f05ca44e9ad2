// Every text that a person sees or hears, by key, in Mexican Spanish (the default) and English.

/** @import { Language } from "./types.js" */

import en from "./words-en.js";
import enHome from "./words-en-home.js";
import enTransfer from "./words-en-transfer.js";
import es from "./words-es.js";
import esHome from "./words-es-home.js";
import esTransfer from "./words-es-transfer.js";

/** @type {Record<Language, Record<string, string>>} */
export const TEXTS = {
  "es-MX": { ...es, ...esHome, ...esTransfer },
  en: { ...en, ...enHome, ...enTransfer },
};
const KEY = "caudal.language";

/** The first wanted language that the page has, else Spanish. @param {readonly string[]} wanted as in `navigator.languages` */
export function languageFor(wanted) {
  const found = wanted.map((it) => it.toLowerCase().split("-")[0]).find((it) => it === "es" || it === "en");
  return /** @type {Language} */ (found === "en" ? "en" : "es-MX");
}

/** What the person has chosen on this device, or null. @returns {Language | null} */
function chosen() {
  try {
    const kept = globalThis.localStorage?.getItem(KEY);
    return kept === "en" || kept === "es-MX" ? kept : null;
  } catch {
    // Without storage the page starts in the browser's language each time.
    return null;
  }
}

// Outside a page there is no reader whose language could be asked for.
let language = chosen() ?? languageFor(globalThis.document ? navigator.languages : []);

export function languageNow() {
  return language;
}

/** @param {Language} wanted */
export function setLanguage(wanted) {
  language = wanted;
  try {
    globalThis.localStorage?.setItem(KEY, language);
  } catch {
    // See above.
  }
}

/** @param {string} key */
function textOf(key) {
  const text = TEXTS[language][key];
  if (text === undefined) throw new Error(`no text for ${key}`);
  return text;
}

/** For codes that a newer host may send. @param {string} key */
export function hasText(key) {
  return Object.hasOwn(TEXTS[language], key);
}

/** The text of a key, with `{name}` replaced by `params.name`. @param {string} key @param {Record<string, unknown>} params */
export function t(key, params = {}) {
  return textOf(key).replace(/\{(\w+)\}(\.?)/g, (whole, name, stop) => {
    if (!(name in params)) return whole;
    // "Renta S.A. de C.V." already ends the sentence.
    const value = String(params[name]);
    return value.endsWith(".") ? value : value + stop;
  });
}

/** The text of `key.one` or `key.many`. @param {string} key @param {number} count @param {Record<string, unknown>} params */
export function counted(key, count, params = {}) {
  return t(count === 1 ? `${key}.one` : `${key}.many`, { ...params, count });
}

/** 94%, in both languages. @param {number} share */
export function percent(share) {
  return `${Math.round(share * 100)}%`;
}
