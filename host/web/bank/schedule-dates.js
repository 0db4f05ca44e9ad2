// Dates of scheduled transfers, in Mexico City, and how they are written.

/** @import { Schedule } from "./types.js" */
import { h } from "../shared/dom.js";
import { day, dayKey, shortDay, weekday } from "./times.js";
import { t } from "./words.js";

const DAY_MS = 86_400_000;
/** How far ahead the first date may be, as the bank has it. */
const AHEAD_DAYS = 366;

/** Noon of a date, when it is the same day in all of Mexico. @param {string} date 2026-12-01 */
const noonOf = (date) => new Date(`${date}T18:00:00Z`);

/** The first and the last date that can be chosen. */
export function firstDates(now = Date.now()) {
  const today = noonOf(dayKey(new Date(now))).getTime();
  const after = (/** @type {number} */ days) => dayKey(new Date(today + days * DAY_MS));
  return { min: after(1), max: after(AHEAD_DAYS) };
}

/** What is wrong with a first date, or "". @param {string} date */
export function faultOfFirst(date) {
  const { min, max } = firstDates();
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) return t("schedule.date.empty");
  if (date < min) return t("schedule.date.past");
  return date > max ? t("schedule.date.far") : "";
}

/** As many as are taken in at a glance. */
const PREVIEW = 3;

/** A date of a plan that recurs, as the bank counts them. @param {string} recurrence @param {string} first @param {number} place from 0 */
function dateAt(recurrence, first, place) {
  const [year, month, day] = first.split("-").map(Number);
  const lastOfMonth = new Date(Date.UTC(year, month + place, 0)).getUTCDate();
  const date =
    recurrence === "weekly"
      ? Date.UTC(year, month - 1, day + 7 * place)
      : Date.UTC(year, month - 1 + place, Math.min(day, lastOfMonth));
  return new Date(date).toISOString().slice(0, 10);
}

/**
 * The first dates of a plan; none of a payment that is made once.
 * @param {string} recurrence @param {string} first @param {string} last "" for no end
 */
export function firstOf(recurrence, first, last) {
  if (recurrence === "once" || !/^\d{4}-\d{2}-\d{2}$/.test(first)) return [];
  const dates = Array.from({ length: PREVIEW }, (_, place) => dateAt(recurrence, first, place));
  return dates.filter((it) => last === "" || it <= last);
}

/** The last date, "" if there is none. @param {Pick<Schedule, "recurrence" | "firstDate" | "lastDate" | "times">} schedule */
export const lastOf = ({ recurrence, firstDate, lastDate, times }) =>
  lastDate ?? (times ? dateAt(recurrence, firstDate, times - 1) : "");

/** Days from a date to today. @param {string} date */
export function daysSince(date, now = Date.now()) {
  return Math.round((noonOf(dayKey(new Date(now))).getTime() - noonOf(date).getTime()) / DAY_MS);
}

/** @param {string} date */
export const writeShort = (date) => shortDay(noonOf(date)).replaceAll(" ", "\u00a0");

/** @param {string} date */
export const writeDate = (date) => day(noonOf(date));

/** @param {string} date */
export const dateOf = (date) => h("time", { datetime: date }, writeDate(date));

/** How often, and until when. @param {Pick<Schedule, "recurrence" | "firstDate" | "lastDate" | "times">} schedule */
export function rhythmOf({ recurrence, firstDate, lastDate, times }) {
  const dayOfMonth = Number(firstDate.slice(8));
  const how = {
    once: () => t("schedule.once"),
    weekly: () => t("schedule.weekly", { weekday: weekday(noonOf(firstDate)) }),
    monthly: () => t(dayOfMonth > 28 ? "schedule.monthly.end" : "schedule.monthly", { day: dayOfMonth }),
  };
  const rhythm = how[recurrence]?.() ?? recurrence;
  if (lastDate) return `${rhythm} ${t("schedule.until", { date: writeDate(lastDate) })}`;
  return times ? `${rhythm} ${t("schedule.times", { times })}` : rhythm;
}
