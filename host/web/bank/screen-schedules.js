// The scheduled transfers: what is sent next, what waits for an answer, and what became of the last payment.

/** @import { Go, Schedule, Screen } from "./types.js" */
import { button, h, heard, show } from "../shared/dom.js";
import { asProblem } from "../shared/problem.js";
import * as api from "./api-schedules.js";
import { confirmed } from "./dialog.js";
import { startWith } from "./draft.js";
import { money, problemNotice } from "./drawing.js";
import { setFlash } from "./flash.js";
import { loadAccounts, loadPayees, payeeOf } from "./known.js";
import { drawLoaded } from "./loading.js";
import { remittanceLine } from "./remittance.js";
import { dateOf, rhythmOf } from "./schedule-dates.js";
import { drawLast, drawWaiting, nameOf } from "./schedule-notices.js";
import { counted, t } from "./words.js";

/** @param {Schedule} schedule @param {HTMLElement} faults @param {Go} go */
async function cancel(schedule, faults, go) {
  const name = nameOf(schedule);
  const isSure = await confirmed({
    title: t("schedules.cancel.title", { name }),
    about: [h("p", money(schedule.centavos), ". ", rhythmOf(schedule)), h("p", t("schedules.cancel.about"))],
    yes: t("schedules.cancel.yes"),
    no: t("schedules.cancel.no"),
    isDangerous: true,
  });
  if (!isSure) return;
  try {
    await api.cancel(schedule.id);
  } catch (error) {
    const problem = asProblem(error);
    if (problem.status === 401) return;
    // One that has ended meanwhile sends nothing either.
    if (problem.code !== "schedule-ended") {
      show(
        faults,
        problemNotice(problem, () => cancel(schedule, faults, go)),
      );
      return;
    }
  }
  setFlash(t("schedules.cancelled", { name }));
  go("/schedules");
}

/** @param {Schedule} schedule @param {HTMLElement} faults @param {Go} go */
function drawSchedule(schedule, faults, go) {
  const { id, centavos, nextDate, status, waitingUntil } = schedule;
  const isActive = status === "active";
  const stop = () => cancel(schedule, faults, go);
  const edit = () => {
    const { fromAccountId, toBeneficiaryId, concept = null, numericReference = null } = schedule;
    const payee = payeeOf(toBeneficiaryId) ?? null;
    const terms = { fromAccountId, toBeneficiaryId, payee, centavos, concept, numericReference };
    startWith({ ...terms, isForLater: true, replaces: schedule });
    go("/transfer/amount");
  };
  const of = () => heard(` ${t("schedules.cancel.of", { name: nameOf(schedule) })}`);
  return h(
    "li.row",
    h(
      "div.what.flow",
      h(
        "div",
        h("h2", { id: `schedule-${id}` }, nameOf(schedule)),
        h("p", money(centavos)),
        h("p", rhythmOf(schedule)),
        remittanceLine(schedule),
        isActive && nextDate && !waitingUntil && h("p", t("schedules.next"), " ", dateOf(nextDate)),
        !isActive && h("p.hint", t(`schedules.status.${status}`)),
      ),
      drawWaiting(schedule),
      drawLast(schedule),
      isActive &&
        h(
          "p.acts",
          !waitingUntil && button([t("schedules.edit"), of()], edit, { class: "quiet" }),
          button([t("schedules.cancel"), of()], stop, { class: "quiet" }),
        ),
    ),
  );
}

/** What waits comes first, then what comes soonest, then what is over. @param {Schedule} schedule */
const rankOf = ({ status, waitingUntil, nextDate }) =>
  `${status === "active" ? 0 : 1}${waitingUntil ? 0 : 1}${nextDate ?? ""}`;

/** @param {Schedule[]} schedules @param {Go} go */
function drawSchedules(schedules, go) {
  const begin = (/** @type {Event} */ event) => {
    event.preventDefault();
    startWith({ isForLater: true });
    go("/transfer/parties");
  };
  const add = (/** @type {string} */ text, className = "button") =>
    h("p.acts", h("a", { class: className, href: "#/transfer/parties", onClick: begin }, text));
  if (schedules.length === 0) {
    const first = add(t("schedules.first"), "button main");
    return h("div.sheet.empty", h("h2", t("schedules.empty.title")), h("p", t("schedules.empty")), first);
  }
  const faults = h("div.faults");
  const ordered = schedules.toSorted((one, other) => rankOf(one).localeCompare(rankOf(other)));
  return [
    add(t("schedules.add")),
    faults,
    h(
      "ul.plain.rows",
      ordered.map((it) => drawSchedule(it, faults, go)),
    ),
  ];
}

/** @type {Screen} */
export const schedulesScreen = {
  path: "/schedules",
  name: "schedule_list",
  title: () => t("schedules.title"),
  draw(place, { signal, go }) {
    return drawLoaded(place, {
      signal,
      load: async () => {
        const [schedules] = await Promise.all([api.schedules(), loadPayees(), loadAccounts()]);
        return schedules;
      },
      draw: (schedules) => drawSchedules(schedules, go),
      summary: (schedules) => counted("schedules.count", schedules.length),
    });
  },
};
