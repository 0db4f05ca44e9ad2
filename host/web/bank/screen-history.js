// The transfers that were made, newest first, by day in Mexico City.

import { announce } from "./announce.js";
import * as api from "./api.js";
import { button, focusOn, h, show } from "./dom.js";
import { money, problemNotice } from "./drawing.js";
import { load } from "./loading.js";
import { clock, day, dayKey } from "./times.js";
import { counted, t } from "./words.js";

/** A screenful or two: enough to find last week's, little to wait for. */
const PAGE_LENGTH = 10;

const STATUSES = ["completed", "pending", "failed"];

function drawTransfer({ beneficiaryName, centavos, status, speiReference, createdAt }) {
  const shown = STATUSES.includes(status) ? status : "pending";
  return h(
    "li",
    { class: "row movement" },
    h("h3", null, beneficiaryName ?? t("history.nobody")),
    h("p", { class: "sum" }, money(-centavos)),
    h(
      "p",
      { class: "hint" },
      h("time", { datetime: createdAt }, clock(new Date(createdAt))),
      " · ",
      h("span", { class: `state ${shown}` }, t(`status.${shown}`)),
    ),
    speiReference && h("p", { class: "hint" }, `${t("receipt.reference")}: `, h("code", null, speiReference)),
  );
}

/** Adds transfers to the list, under the heading of their day; gives the first that was added. */
function append(place, transfers) {
  let first = null;
  for (const transfer of transfers) {
    const date = new Date(transfer.createdAt);
    const key = dayKey(date);
    let group = place.lastElementChild;
    if (group?.dataset.day !== key) {
      const id = `day-${key}`;
      group = h(
        "section",
        { "data-day": key, "aria-labelledby": id },
        h("h2", { id, class: "day" }, day(date)),
        h("ul", { class: "plain rows" }),
      );
      place.append(group);
    }
    const item = drawTransfer(transfer);
    group.querySelector("ul").append(item);
    first ??= item;
  }
  return first;
}

function drawHistory(page, signal) {
  if (page.transfers.length === 0) {
    return h(
      "div",
      { class: "sheet empty" },
      h("h2", null, t("history.empty.title")),
      h("p", null, t("history.empty")),
      h("p", { class: "acts" }, h("a", { class: "button main", href: "#/transfer/parties" }, t("accounts.transfer"))),
    );
  }
  const list = h("div", { class: "days" });
  const faults = h("div", { class: "faults" });
  const more = h("p", { class: "acts" });
  append(list, page.transfers);
  const offer = (next) => {
    show(more, next && button(t("history.more"), () => goOn(next)));
  };
  const goOn = async (next) => {
    show(faults);
    more.firstElementChild?.setAttribute("aria-disabled", "true");
    try {
      const answer = await api.transfers({ next });
      if (signal.aborted) return;
      const first = append(list, answer.transfers);
      offer(answer.next);
      announce(counted("history.added", answer.transfers.length));
      focusOn(first);
    } catch (problem) {
      if (problem.status === undefined) throw problem;
      if (signal.aborted || problem.status === 401) return;
      more.firstElementChild?.removeAttribute("aria-disabled");
      show(faults, problemNotice(problem));
    }
  };
  offer(page.next);
  return [h("p", { class: "hint" }, t("history.zone")), list, faults, more];
}

export const historyScreen = {
  path: "/history",
  name: "history",
  title: () => t("history.title"),
  draw(place, { signal }) {
    return load(place, {
      signal,
      lines: 5,
      asking: () => api.transfers({ limit: PAGE_LENGTH }),
      drawing: (page) => drawHistory(page, signal),
      said: ({ transfers }) => counted("history.added", transfers.length),
    });
  },
};
