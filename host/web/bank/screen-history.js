// The statement of an account, newest first, by day in Mexico City: what came in, what went out, and what came back; all of
// it, or what the person looks for; also as a file and on paper.

/** @import { Account, Filter, Movement, Screen } from "./types.js" */
import { button, focusOn, h, show } from "../shared/dom.js";
import { asProblem } from "../shared/problem.js";
import { announce } from "./announce.js";
import { money, number, problemNotice, typeName } from "./drawing.js";
import { followMoney } from "./journal.js";
import { known, loadAccounts, loadPayees } from "./known.js";
import { drawLoaded } from "./loading.js";
import { drawState, linkOf, payerLine, reasonFor, sumOf } from "./movements.js";
import { remittanceLine } from "./remittance.js";
import { pathNow } from "./router.js";
import { openStatement } from "./statement.js";
import { downloadCsv, drawPaper } from "./statement-export.js";
import { isActive, matches, noFilter } from "./statement-filter.js";
import { drawSearch } from "./statement-form.js";
import { clock, day, dayKey, startOf } from "./times.js";
import { counted, t } from "./words.js";

/** @typedef {ReturnType<typeof openStatement>} Statement */
/** What is on the screen. @typedef {{ account: Account, filter: Filter, statement: Statement }} Shown */

/** Matches that are drawn at a time. */
const MATCHES = 50;

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
    payerLine(movement),
    remittanceLine(entry),
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

/** How far back the page has looked. @param {Shown} shown */
function coverageOf({ filter, statement }) {
  const read = statement.movements();
  const entries = counted("history.added", read.length);
  const oldest = read.at(-1);
  if (statement.hasMore() && oldest) {
    return t("history.covers.part", { entries, day: day(new Date(oldest.entry.createdAt)) });
  }
  if (filter.from !== "") return t("history.covers.since", { entries, day: day(startOf(filter.from)) });
  return t("history.covers.all", { entries });
}

/** What the person looks for among what has been read. @param {Shown} shown */
const foundIn = ({ filter, statement }) => statement.movements().filter((it) => matches(it, filter));

/**
 * Movements, and a button for more of them. `more` resolves to the next ones.
 * @param {Movement[]} movements @param {{ hasMore: () => boolean, more: () => Promise<Movement[]>, signal: AbortSignal }} about
 */
function drawList(movements, { hasMore, more, signal }) {
  const list = h("div.days");
  const faults = h("div.faults");
  const acts = h("p.acts");
  const showMore = async () => {
    show(faults);
    acts.firstElementChild?.setAttribute("aria-disabled", "true");
    try {
      const added = await more();
      if (signal.aborted) return;
      const first = append(list, added);
      offerMore();
      announce(counted("history.added", added.length));
      focusOn(first);
    } catch (error) {
      const problem = asProblem(error);
      if (signal.aborted || problem.status === 401) return;
      acts.firstElementChild?.removeAttribute("aria-disabled");
      show(faults, problemNotice(problem));
    }
  };
  const offerMore = () => show(acts, hasMore() && button(t("history.more"), showMore));
  append(list, movements);
  offerMore();
  return [list, faults, acts];
}

/** @param {Shown} shown @param {AbortSignal} signal */
function drawFound(shown, signal) {
  const found = foundIn(shown);
  let drawn = MATCHES;
  const more = async () => {
    drawn += MATCHES;
    return found.slice(drawn - MATCHES, drawn);
  };
  return [
    h("p.found", found.length === 0 ? t("history.found.none") : counted("history.found", found.length)),
    h("p.hint", coverageOf(shown)),
    found.length > 0 && drawList(found.slice(0, MATCHES), { hasMore: () => drawn < found.length, more, signal }),
  ];
}

/** @param {Shown} shown @param {AbortSignal} signal */
function drawStatement({ statement }, signal) {
  const movements = statement.movements();
  if (movements.length === 0) return drawEmpty(t("history.empty"), "#/transfer/parties", t("accounts.transfer"));
  return drawList(movements, { hasMore: statement.hasMore, more: () => statement.read(), signal });
}

/**
 * Buttons that take the statement elsewhere: all of it, or what was looked for.
 * @param {() => Shown | null} now @param {AbortSignal} signal
 */
function drawExports(now, signal) {
  const status = h("div", { role: "status" });
  /** @param {(shown: Shown) => unknown} act */
  const withAll =
    (act) =>
    async (/** @type {Event} */ { currentTarget }) => {
      const shown = now();
      const pressed = /** @type {HTMLElement} */ (currentTarget);
      if (!shown || pressed.getAttribute("aria-disabled")) return;
      pressed.setAttribute("aria-disabled", "true");
      show(status, h("p", t("export.busy")));
      try {
        await shown.statement.readAll();
        if (signal.aborted || now() !== shown) return;
        show(status, h("p.hint", coverageOf(shown)));
        act(shown);
      } catch (error) {
        const problem = asProblem(error);
        if (!signal.aborted && problem.status !== 401) show(status, problemNotice(problem));
      } finally {
        pressed.removeAttribute("aria-disabled");
      }
    };
  const save = withAll((shown) => downloadCsv(shown.account, foundIn(shown)));
  // Drawn by the event, which comes after every other way to print too.
  const print = withAll(() => window.print());
  const draw = () => {
    const shown = now();
    if (!shown) return;
    const { text, direction, state } = shown.filter;
    const isSearch = [text, direction, state].some((it) => it !== "");
    document.body.append(drawPaper(shown.account, foundIn(shown), { coverage: coverageOf(shown), isSearch }));
  };
  const remove = () => document.querySelector(".paper")?.remove();
  window.addEventListener("beforeprint", draw, { signal });
  window.addEventListener("afterprint", remove, { signal });
  return h(
    "div.exports",
    h(
      "p.acts",
      button(t("export.csv"), save, { class: "small" }),
      button(t("export.print"), print, { class: "small" }),
    ),
    status,
  );
}

/** @param {Account[]} accounts @param {Account} account @param {AbortSignal} signal */
function drawHistory(accounts, account, signal) {
  const results = h("div.results");
  /** @type {Shown | null} */
  let shown = null;
  const load = async () => {
    const filter = known.filters.get(account.id) ?? noFilter();
    const from = filter.from === "" ? null : startOf(filter.from);
    const next = { account, filter, statement: openStatement(account.id, { signal, from }) };
    shown = null;
    // Whose names movements have; without them they have numbers.
    const payees = known.payees ?? loadPayees().catch(() => {});
    await Promise.all([isActive(filter) ? next.statement.readAll() : next.statement.read(), payees]);
    shown = next;
    return next;
  };
  const read = (isSearch = false) =>
    drawLoaded(results, {
      signal,
      lines: 5,
      load,
      draw: (loaded) => (isActive(loaded.filter) ? drawFound(loaded, signal) : drawStatement(loaded, signal)),
      summary: (loaded) => counted("history.added", foundIn(loaded).length),
    }).then(() => {
      if (isSearch && shown && !signal.aborted) announce(counted("history.found", foundIn(shown).length));
    });
  const search = (/** @type {Filter} */ filter) => {
    known.filters.set(account.id, filter);
    read(true);
  };
  const exports = drawExports(() => shown, signal);
  read();
  followMoney({ signal, onMoney: () => read() });
  return [
    drawChoice(accounts, account),
    h(
      "div.history",
      h("div.lookup", drawSearch(known.filters.get(account.id) ?? noFilter(), search, exports)),
      h("div", results, h("p.hint", t("history.zone"))),
    ),
  ];
}

/** @type {Screen} */
export const historyScreen = {
  path: "/history",
  name: "history",
  title: () => t("history.title"),
  draw(place, { signal }) {
    const wanted = new URLSearchParams(pathNow().split("?")[1]).get("account");
    place.classList.add("wide");
    return drawLoaded(place, {
      signal,
      lines: 5,
      load: loadAccounts,
      draw: (accounts) => {
        const account = accounts.find((it) => it.id === wanted) ?? accounts[0];
        if (!account) return drawEmpty(t("history.no-account"), "#/accounts/new", t("accounts.open"));
        return drawHistory(accounts, account, signal);
      },
    });
  },
};
