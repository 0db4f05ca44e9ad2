// Times as they are in Mexico City, which is the bank's: history and receipts of one person then read the same
// wherever they are opened.

import { languageNow } from "./words.js";

const ZONE = "America/Mexico_City";

const LOCALES = { "es-MX": "es-MX", en: "en-GB" };

function write(date, options) {
  return new Intl.DateTimeFormat(LOCALES[languageNow()], { timeZone: ZONE, ...options }).format(date);
}

/** sábado, 21 de noviembre de 2026 */
export function day(date) {
  return write(date, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
}

/** 14:02; with seconds on a receipt. */
export function clock(date, { withSeconds = false } = {}) {
  return write(date, {
    hour: "2-digit",
    minute: "2-digit",
    second: withSeconds ? "2-digit" : undefined,
    hourCycle: "h23",
  });
}

/** A day in a form that sorts and compares: 2026-11-21. */
export function dayKey(date) {
  return new Intl.DateTimeFormat("en-CA", { timeZone: ZONE, year: "numeric", month: "2-digit", day: "2-digit" }).format(
    date,
  );
}

/** The hour where the person is: the risk scorer asks for theirs, not the bank's. */
export function localHour(now = new Date()) {
  return now.getHours();
}

export function timeZone() {
  return Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
}
