// Every text that a person sees or hears, by key, in Mexican Spanish (the default) and English.

/** @import { Language } from "./types.js" */

import en from "./words-en.js";
import enSchedule from "./words-en-schedule.js";
import enTransfer from "./words-en-transfer.js";
import es from "./words-es.js";
import esSchedule from "./words-es-schedule.js";
import esTransfer from "./words-es-transfer.js";

/** @type {Record<Language, Record<string, string>>} */
export const TEXTS = {
  "es-MX": { ...es, ...esTransfer, ...esSchedule },
  en: { ...en, ...enTransfer, ...enSchedule },
};
const KEY = "caudal.language";

/** @type {Language} */
let language = "es-MX";
try {
  if (globalThis.localStorage?.getItem(KEY) === "en") language = "en";
} catch {
  // Without storage the page starts in Spanish each time.
}

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

/** 94 %, or in English 94%. @param {number} share */
export function percent(share) {
  return `${Math.round(share * 100)}${language === "en" ? "" : "\u00a0"}%`;
}
