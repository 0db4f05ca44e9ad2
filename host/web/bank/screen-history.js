// The statement of an account, newest first, by day in Mexico City: what came in, what went out, and what came back.

/** @import { Account, Movement, Screen } from "./types.js" */
import { button, focusOn, h, show } from "../shared/dom.js";
import { asProblem } from "../shared/problem.js";
import { announce } from "./announce.js";
import { money, number, problemNotice, typeName } from "./drawing.js";
import { loadAccounts } from "./known.js";
import { drawLoaded } from "./loading.js";
import { drawState, linkOf, reasonFor, sumOf } from "./movements.js";
import { pathNow } from "./router.js";
import { openStatement } from "./statement.js";
import { clock, day, dayKey } from "./times.js";
import { counted, t } from "./words.js";

/** @typedef {ReturnType<typeof openStatement>} Statement */

/** @param {Movement} movement */
function drawMovement(movement) {
  const { entry, state } = movement;
  const { balance, createdAt, speiReference } = entry;
  const reason = reasonFor(movement);
  return h(
    "li.row.movement",
    h("h3", linkOf(movement)),
    sumOf(movement),
    h("p.hint", h("time", { datetime: createdAt }, clock(new Date(createdAt))), drawState(state)),
    h("p.hint.after", t("history.balance"), " ", money(balance)),
    reason && h("p.hint.whole", t("receipt.reason", { reason })),
    speiReference && h("p.hint.whole", `${t("receipt.reference")}: `, h("code", speiReference)),
  );
}

/** Adds movements below the headings of their days; returns the first. @param {HTMLElement} place @param {Movement[]} movements */
function append(place, movements) {
  /** @type {HTMLElement | null} */
  let first = null;
  for (const movement of movements) {
    const date = new Date(movement.entry.createdAt);
    const key = dayKey(date);
    const id = `day-${key}`;
    let list = place.querySelector(`section[aria-labelledby="${id}"] ul`);
    if (!list) {
      list = h("ul.plain.rows");
      place.append(h("section", { "aria-labelledby": id }, h("h2.day", { id }, day(date)), list));
    }
    const item = drawMovement(movement);
    list.append(item);
    first ??= item;
  }
  return first;
}

/** @param {Account[]} accounts @param {Account} shown */
function drawChoice(accounts, shown) {
  if (accounts.length < 2) return null;
  const links = accounts.map((it) =>
    h(
      "li",
      h(
        "a",
        { href: `#/history?account=${it.id}`, "aria-current": it === shown ? "true" : null },
        h("span", typeName(it.accountType)),
        " ",
        number(it.accountNumber),
      ),
    ),
  );
  return h("nav.choice", { "aria-label": t("history.accounts") }, h("ul.plain", links));
}

/** @param {string} about @param {string} link @param {string} action */
const drawEmpty = (about, link, action) =>
  h(
    "div.sheet.empty",
    h("h2", t("history.empty.title")),
    h("p", about),
    h("p.acts", h("a.button.main", { href: link }, action)),
  );

/** @param {Statement} statement @param {Movement[]} movements @param {AbortSignal} signal */
function drawStatement(statement, movements, signal) {
  if (movements.length === 0) return drawEmpty(t("history.empty"), "#/transfer/parties", t("accounts.transfer"));
  const list = h("div.days");
  const faults = h("div.faults");
  const more = h("p.acts");
  const loadMore = async () => {
    show(faults);
    more.firstElementChild?.setAttribute("aria-disabled", "true");
    try {
      const added = await statement.read();
      if (signal.aborted) return;
      const first = append(list, added);
      offerMore();
      announce(counted("history.added", added.length));
      focusOn(first);
    } catch (error) {
      const problem = asProblem(error);
      if (signal.aborted || problem.status === 401) return;
      more.firstElementChild?.removeAttribute("aria-disabled");
      show(faults, problemNotice(problem));
    }
  };
  const offerMore = () => show(more, statement.hasMore() && button(t("history.more"), loadMore));
  append(list, movements);
  offerMore();
  return [h("p.hint", t("history.zone")), list, faults, more];
}

/** @type {Screen} */
export const historyScreen = {
  path: "/history",
  name: "history",
  title: () => t("history.title"),
  draw(place, { signal }) {
    const wanted = new URLSearchParams(pathNow().split("?")[1]).get("account");
    return drawLoaded(place, {
      signal,
      lines: 5,
      load: async () => {
        const accounts = await loadAccounts();
        const shown = accounts.find((it) => it.id === wanted) ?? accounts[0];
        if (!shown) return null;
        const statement = openStatement(shown.id, signal);
        return { accounts, shown, statement, movements: await statement.read() };
      },
      draw: (loaded) => {
        if (!loaded) return drawEmpty(t("history.no-account"), "#/accounts/new", t("accounts.open"));
        const { accounts, shown, statement, movements } = loaded;
        return [drawChoice(accounts, shown), drawStatement(statement, movements, signal)];
      },
      summary: (loaded) => counted("history.added", loaded?.movements.length ?? 0),
    });
  },
};
