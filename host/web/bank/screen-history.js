// Past transfers, newest first, by day in Mexico City.

/** @import { Screen, Transfer, TransferPage } from "./types.js" */
import { button, focusOn, h, show } from "../shared/dom.js";
import { asProblem } from "../shared/problem.js";
import { announce } from "./announce.js";
import * as api from "./api.js";
import { money, problemNotice } from "./drawing.js";
import { drawLoaded } from "./loading.js";
import { clock, day, dayKey } from "./times.js";
import { counted, t } from "./words.js";

const PAGE_LENGTH = 10;

const STATUSES = ["completed", "pending", "failed"];

/** @param {Transfer} transfer */
function drawTransfer({ beneficiaryName, centavos, status, speiReference, createdAt }) {
  const shown = STATUSES.includes(status) ? status : "pending";
  return h(
    "li.row.movement",
    h("h3", beneficiaryName ?? t("history.unnamed")),
    h("p.sum", money(-centavos)),
    h(
      "p.hint",
      h("time", { datetime: createdAt }, clock(new Date(createdAt))),
      " · ",
      h("span", { class: `state ${shown}` }, t(`status.${shown}`)),
    ),
    speiReference && h("p.hint", `${t("receipt.reference")}: `, h("code", speiReference)),
  );
}

/** Adds transfers below the headings of their days; returns the first. @param {HTMLElement} place @param {Transfer[]} transfers */
function append(place, transfers) {
  /** @type {HTMLElement | null} */
  let first = null;
  for (const transfer of transfers) {
    const date = new Date(transfer.createdAt);
    const key = dayKey(date);
    const id = `day-${key}`;
    let list = place.querySelector(`section[aria-labelledby="${id}"] ul`);
    if (!list) {
      list = h("ul.plain.rows");
      place.append(h("section", { "aria-labelledby": id }, h("h2.day", { id }, day(date)), list));
    }
    const item = drawTransfer(transfer);
    list.append(item);
    first ??= item;
  }
  return first;
}

/** @param {TransferPage} page @param {AbortSignal} signal */
function drawHistory(page, signal) {
  if (page.transfers.length === 0) {
    return h(
      "div.sheet.empty",
      h("h2", t("history.empty.title")),
      h("p", t("history.empty")),
      h("p.acts", h("a.button.main", { href: "#/transfer/parties" }, t("accounts.transfer"))),
    );
  }
  const list = h("div.days");
  const faults = h("div.faults");
  const more = h("p.acts");
  append(list, page.transfers);
  /** @param {string | null} next */
  const offerMore = (next) => show(more, next && button(t("history.more"), () => loadMore(next)));
  /** @param {string} next */
  const loadMore = async (next) => {
    show(faults);
    more.firstElementChild?.setAttribute("aria-disabled", "true");
    try {
      const answer = await api.transfers({ limit: PAGE_LENGTH, next });
      if (signal.aborted) return;
      const first = append(list, answer.transfers);
      offerMore(answer.next);
      announce(counted("history.added", answer.transfers.length));
      focusOn(first);
    } catch (error) {
      const problem = asProblem(error);
      if (signal.aborted || problem.status === 401) return;
      more.firstElementChild?.removeAttribute("aria-disabled");
      show(faults, problemNotice(problem));
    }
  };
  offerMore(page.next);
  return [h("p.hint", t("history.zone")), list, faults, more];
}

/** @type {Screen} */
export const historyScreen = {
  path: "/history",
  name: "history",
  title: () => t("history.title"),
  draw(place, { signal }) {
    return drawLoaded(place, {
      signal,
      lines: 5,
      load: () => api.transfers({ limit: PAGE_LENGTH }),
      draw: (page) => drawHistory(page, signal),
      summary: ({ transfers }) => counted("history.added", transfers.length),
    });
  },
};
