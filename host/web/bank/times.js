// Times in Mexico City, the bank's own zone, so that history and receipts read the same wherever they are opened.

import { languageNow, t } from "./words.js";

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

/** Hoy, Ayer, 21 nov, or 21 nov 2025 @param {Date} date */
export function shortDay(date, now = new Date()) {
  const key = dayKey(date);
  if (key === dayKey(now)) return t("time.today");
  // Noon, since a day with a change of clocks is not 24 hours long.
  const noon = new Date(`${dayKey(now)}T12:00:00Z`);
  if (key === new Date(noon.getTime() - 86_400_000).toISOString().slice(0, 10)) return t("time.yesterday");
  const isThisYear = key.slice(0, 4) === dayKey(now).slice(0, 4);
  return write(date, { day: "numeric", month: "short", year: isThisYear ? undefined : "numeric" });
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

/** When a day begins in Mexico City. @param {string} key 2026-11-21 */
export function startOf(key) {
  // Its clocks have been five to seven hours behind UTC.
  const hours = [5, 6, 7].map((hour) => new Date(`${key}T0${hour}:00:00Z`));
  return hours.find((it) => dayKey(it) === key && clock(it) === "00:00") ?? hours[1];
}

/** The hour where the person is, which the risk scorer needs; the bank's may differ. */
export function localHour(now = new Date()) {
  return now.getHours();
}

export function timeZone() {
  return Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
}
