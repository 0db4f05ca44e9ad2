// What waits for the person's answer, and what became of the last payment.

/** @import { Schedule } from "./types.js" */
import { h } from "../shared/dom.js";
import { moment, notice } from "./drawing.js";
import { payeeOf } from "./known.js";
import { writeMoney } from "./money.js";
import { daysSince, writeDate } from "./schedule-dates.js";
import { hasText, t } from "./words.js";

/** How long the home says that a payment was not sent. */
const NEWS_DAYS = 3;

/** @param {Schedule} schedule */
export const nameOf = ({ toBeneficiaryId, beneficiaryName }) => payeeOf(toBeneficiaryId)?.name ?? beneficiaryName;

/** @param {Schedule} schedule @param {string} title */
export function drawWaiting({ id, nextDate, waitingUntil }, title = t("schedules.waiting.title")) {
  if (!waitingUntil || !nextDate) return null;
  return notice(
    "warn",
    h("p.title", title),
    h("p", t("schedules.waiting", { date: writeDate(nextDate) }), " ", moment(waitingUntil), " ", t("time.zone"), "."),
    h("p.acts", h("a.button", { href: `#/schedules/confirm?id=${id}` }, t("schedules.decide"))),
  );
}

/** @param {Schedule} schedule @param {string} [title] */
export function drawLast({ occurrences: [last] }, title) {
  if (!last) return null;
  const date = writeDate(last.date);
  if (last.outcome === "sent") {
    const receipt = h("a", { href: `#/history/receipt?id=${last.transactionId}` }, t("schedules.receipt"));
    return h("p.hint", t("schedules.last.sent", { date }), " ", receipt);
  }
  const why = last.outcome === "refused" && hasText(`schedules.why.${last.problem}`);
  return notice(
    last.outcome === "skipped" ? "info" : "warn",
    title && h("p.title", title),
    h("p", t(`schedules.last.${last.outcome}`, { date }), why && ` ${t(`schedules.why.${last.problem}`)}`),
  );
}

/** What is sent next, or null. @param {Schedule[]} schedules */
function drawNext(schedules) {
  const coming = schedules.filter((it) => it.status === "active" && it.nextDate && !it.waitingUntil);
  const [next] = coming.toSorted((one, other) => (one.nextDate ?? "").localeCompare(other.nextDate ?? ""));
  if (!next?.nextDate) return null;
  const about = { amount: writeMoney(next.centavos), name: nameOf(next), date: writeDate(next.nextDate) };
  return h("p.hint", h("a", { href: "#/schedules" }, t("home.schedule.next", about)));
}

/** For the home: what waits, what was not sent lately although the person wanted it, and what comes next. @param {Schedule[]} schedules */
export function drawNews(schedules) {
  const news = schedules.map((it) => {
    const about = { amount: writeMoney(it.centavos), name: nameOf(it) };
    const [last] = it.occurrences;
    const isNews = last && !["sent", "skipped"].includes(last.outcome) && daysSince(last.date) <= NEWS_DAYS;
    return [
      drawWaiting(it, t("home.schedule.waiting", about)),
      isNews && drawLast(it, t("home.schedule.not-sent", about)),
    ];
  });
  return [news, drawNext(schedules)];
}
