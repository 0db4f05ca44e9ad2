// Numbers, times, versions and verdicts as text. An unknown value is a dash, never a zero.

/** @import { Child } from "../shared/dom.js" */
/** @import { Share } from "./types.js" */
import { h } from "../shared/dom.js";

const NOT_KNOWN = "–";

/** @param {unknown} value @returns {value is number} */
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

const counts = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
/** A narrow no-break space before units. */
const NARROW = "\u202f";

/** 12,345 @param {unknown} value */
export function count(value) {
  return isNumber(value) ? counts.format(value) : NOT_KNOWN;
}

/** 0.0163 as 1.63%, with fewer digits for larger values. @param {unknown} value */
export function share(value) {
  if (!isNumber(value)) return NOT_KNOWN;
  const percent = value * 100;
  let digits = 2;
  if (percent >= 10) digits = 1;
  if (percent === 0 || percent === 100) digits = 0;
  return `${percent.toFixed(digits)}%`;
}

/** 1.63% (0.80–3.30%): a share with its 95% confidence interval. @param {Share | null | undefined} value */
export function interval(value) {
  if (!value || value.of === 0) return NOT_KNOWN;
  return `${share(value.share)} (${share(value.low).replace("%", "")}–${share(value.high)})`;
}

/** @param {unknown} value already in percent */
export function percent(value) {
  return isNumber(value) ? `${value}%` : NOT_KNOWN;
}

/** A score or a difference of scores. @param {unknown} value */
export function figure(value, { signed = false } = {}) {
  if (!isNumber(value)) return NOT_KNOWN;
  const text = Math.abs(value).toFixed(4);
  if (value < 0 && Number(text) !== 0) return `\u2212${text}`;
  return signed && Number(text) !== 0 ? `+${text}` : text;
}

/** @param {unknown} value */
export function micros(value) {
  if (!isNumber(value)) return NOT_KNOWN;
  if (value < 1_000) return `${value < 100 ? value.toFixed(value === 0 ? 0 : 1) : counts.format(value)}${NARROW}µs`;
  const ms = value / 1_000;
  return `${ms < 100 ? ms.toFixed(ms < 10 ? 2 : 1) : counts.format(ms)}${NARROW}ms`;
}

const amounts = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** 1,500.50 @param {unknown} value */
export function pesos(value) {
  return isNumber(value) ? amounts.format(value) : NOT_KNOWN;
}

/** 1,500.50 MXN, from a number or its text @param {unknown} value */
export function money(value, unknown = NOT_KNOWN) {
  return value === undefined || value === null ? unknown : `${pesos(Number(value))} MXN`;
}

/** 95 as 1 min @param {unknown} seconds */
export function duration(seconds) {
  if (!isNumber(seconds)) return NOT_KNOWN;
  if (seconds < 60) return `${seconds}${NARROW}s`;
  return seconds < 7200 ? `${Math.floor(seconds / 60)}${NARROW}min` : `${Math.floor(seconds / 3600)}${NARROW}h`;
}

/** Failures in all, and by cause; a single cause needs no count. @param {{ trapped?: number, timed_out?: number, bad_answer?: number }} failed */
export function failuresIn({ trapped = 0, timed_out: late = 0, bad_answer: bad = 0 } = {}) {
  const causes = Object.entries({ trapped, "timed out": late, "gave a bad answer": bad }).filter(([, it]) => it > 0);
  const note = causes.length === 1 ? causes[0][0] : causes.map(([cause, it]) => `${count(it)} ${cause}`).join(", ");
  return { all: trapped + late + bad, note };
}

/** @param {unknown} value */
export function bytes(value) {
  if (!isNumber(value)) return NOT_KNOWN;
  if (value < 1024) return `${value}${NARROW}B`;
  if (value < 1024 * 1024) return `${(value / 1024).toFixed(1)}${NARROW}KiB`;
  return `${(value / 1024 / 1024).toFixed(1)}${NARROW}MiB`;
}

const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** 14:02:31 @param {Date} date */
export function timeOfDay(date) {
  return clock.format(date);
}

/** 23 Nov 2026, 14:02:31 @param {Date} date */
export function dateAndTime(date) {
  return `${day.format(date)}, ${clock.format(date)}`;
}

/** A `<time>` with the exact time as its title. @param {string | null | undefined} text ISO 8601 */
export function when(text) {
  const date = new Date(text ?? NaN);
  if (Number.isNaN(date.getTime())) return NOT_KNOWN;
  return h("time", { datetime: date.toISOString(), title: date.toISOString() }, dateAndTime(date));
}

/** Only the time, if it is today's. @param {Date} expires */
export function endOf(expires) {
  const isToday = expires.toDateString() === new Date().toDateString();
  return isToday ? timeOfDay(expires) : when(expires.toISOString());
}

/** The browser's time zone. */
export function zone() {
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const parts = new Intl.DateTimeFormat("en-GB", { timeZoneName: "shortOffset" }).formatToParts(new Date());
  const offset = parts.find((part) => part.type === "timeZoneName")?.value;
  return offset && offset !== name ? `${name}, ${offset}` : name;
}

/** A model_version: the part that people choose, and the digest in a quieter colour. @param {string} text */
export function version(text) {
  const [name, digest] = text.split("+");
  return h("code.version", name, digest && h("span.digest", `+${digest}`));
}

/** The usual reading of a population stability index. @param {unknown} psi */
export function drift(psi) {
  if (!isNumber(psi)) return "not known yet";
  if (psi < 0.1) return "none";
  return psi <= 0.25 ? "moderate" : "major";
}

/** "a, b and c" @param {string[]} items */
export function list(items) {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

/** Marks the versions in a sentence. @param {string} text @returns {Child[]} */
export function sentence(text) {
  return text.split(/([a-z][a-z-]*-\d[\w.-]*\+[0-9a-f]{8})/).map((part, at) => (at % 2 === 1 ? version(part) : part));
}
