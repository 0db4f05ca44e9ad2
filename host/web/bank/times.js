// Times in Mexico City, the bank's own zone, so that history and receipts read the same wherever they are opened.

import { languageNow } from "./words.js";

const ZONE = "America/Mexico_City";

const LOCALES = { "es-MX": "es-MX", en: "en-GB" };

/** @param {Date} date @param {Intl.DateTimeFormatOptions} options */
function write(date, options) {
  return new Intl.DateTimeFormat(LOCALES[languageNow()], { timeZone: ZONE, ...options }).format(date);
}

/** sábado 21 de noviembre de 2026, or Saturday 21 November 2026 @param {Date} date */
export function day(date) {
  const text = write(date, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
  // Nobody in Mexico writes the comma that Unicode's data has.
  return text.replace(",", "");
}

/** lunes, or Monday @param {Date} date */
export const weekday = (date) => write(date, { weekday: "long" });

/** 14:02, or 14:02:31 @param {Date} date */
export function clock(date, { withSeconds = false } = {}) {
  return write(date, {
    hour: "2-digit",
    minute: "2-digit",
    second: withSeconds ? "2-digit" : undefined,
    hourCycle: "h23",
  });
}

/** 2026-11-21, for comparisons. @param {Date} date */
export function dayKey(date) {
  return new Intl.DateTimeFormat("en-CA", { timeZone: ZONE, year: "numeric", month: "2-digit", day: "2-digit" }).format(
    date,
  );
}

/** The hour where the person is, which the risk scorer needs; the bank's may differ. */
export function localHour(now = new Date()) {
  return now.getHours();
}

export function timeZone() {
  return Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
}
