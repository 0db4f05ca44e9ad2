// What the home shows below the balances: whom the person pays, and what has happened lately.

/** @import { Child } from "../shared/dom.js" */
/** @import { Account, Go, Movement, Payee, Tools, Transfer } from "./types.js" */
import { h, heard, show } from "../shared/dom.js";
import { asProblem } from "../shared/problem.js";
import * as api from "./api.js";
import { startWith } from "./draft.js";
import { listedNumber, notice, payeeName, problemNotice, skeleton, typeName } from "./drawing.js";
import { addTransfer, known, loadPayees } from "./known.js";
import { showAgain } from "./loading.js";
import { drawState, linkOf, sumOf } from "./movements.js";
import { newestMovements } from "./statement.js";
import { clock, shortDay } from "./times.js";
import { t } from "./words.js";

/** As many as are taken in at a glance. */
const PAYEES_MAX = 5;
const MOVEMENTS_MAX = 5;
/** Each account costs a request. */
export const ACCOUNTS_MAX = 6;
/** The newest transfers, among which recent payees are looked for. */
const RECENT = 50;

/**
 * Those who were paid last, then those who were saved last.
 * @param {Payee[]} payees in the order in which they were saved @param {Transfer[]} transfers newest first
 */
export function recentPayees(payees, transfers, count = PAYEES_MAX) {
  const paid = transfers.flatMap((it) => payees.find(({ id }) => id === it.toBeneficiaryId) ?? []);
  return [...new Set([...paid, ...payees.toReversed()])].slice(0, count);
}

/**
 * Where the money came from the last time, if it still can, or the only account; null leaves the choice to the person.
 * @param {string} payeeId @param {Account[]} accounts @param {Transfer[]} transfers newest first
 */
export function usualAccount(payeeId, accounts, transfers) {
  const open = accounts.filter((it) => !it.frozen);
  const last = transfers.find((it) => it.toBeneficiaryId === payeeId)?.fromAccountId;
  return open.find((it) => it.id === last) ?? (open.length === 1 ? open[0] : null);
}

/** Two letters that tell payees apart at a glance. @param {string} name */
const initials = (name) =>
  [...name.matchAll(/(?<!\p{L})\p{L}/gu)]
    .slice(0, 2)
    .map(([letter]) => letter.toUpperCase())
    .join("");

/** @param {Payee} payee @param {Account[]} accounts @param {Go} go */
function drawPayee(payee, accounts, go) {
  const transfer = (/** @type {Event} */ event) => {
    event.preventDefault();
    const from = usualAccount(payee.id, accounts, known.history);
    startWith({ toBeneficiaryId: payee.id, payee, fromAccountId: from?.id ?? null });
    // With several accounts the person sees where the money comes from before anything else.
    go(accounts.length === 1 && from ? "/transfer/amount" : "/transfer/parties");
  };
  return h(
    "li",
    h(
      "a.person",
      { href: "#/transfer/parties", onClick: transfer },
      h("span.initials", { "aria-hidden": "true" }, initials(payee.alias || payee.name)),
      h(
        "span.about",
        heard(`${t("home.transfer-to")} `),
        h("strong", payeeName(payee)),
        " ",
        h("span.hint", payee.bankName, h("br"), listedNumber(payee.accountNumber)),
      ),
    ),
  );
}

/** @param {Account[]} accounts @param {Go} go @returns {Child} */
function drawPayees(accounts, go) {
  const payees = recentPayees(known.payees ?? [], known.history);
  if (payees.length === 0) {
    return [h("p", t("home.payees.empty")), h("p.acts", h("a", { href: "#/beneficiaries/new" }, t("payees.add")))];
  }
  return [
    h(
      "ul.plain.people",
      payees.map((it) => drawPayee(it, accounts, go)),
    ),
    (known.payees?.length ?? 0) > payees.length &&
      h("p.acts", h("a", { href: "#/beneficiaries" }, t("home.payees.all"))),
  ];
}

/** @param {Movement & { account: Account }} movement @param {boolean} isOneOfMany */
function drawMovement({ account, ...movement }, isOneOfMany) {
  const date = new Date(movement.entry.createdAt);
  const four = account.accountNumber.slice(-4);
  return h(
    "li.row.movement",
    h("h3", linkOf(movement, `#/history?account=${account.id}`)),
    sumOf(movement),
    h(
      "p.hint.whole",
      h("time", { datetime: movement.entry.createdAt }, `${shortDay(date)}, ${clock(date)}`),
      drawState(movement.state),
      isOneOfMany && ` · ${typeName(account.accountType)} ${four}`,
    ),
  );
}

/** @param {(Movement & { account: Account })[]} movements @param {Account[]} accounts @returns {Child} */
function drawMovements(movements, accounts) {
  if (movements.length === 0) return h("p", t("home.movements.empty"));
  return [
    accounts.length > ACCOUNTS_MAX && h("p.hint", t("home.movements.some", { most: ACCOUNTS_MAX })),
    h(
      "ul.plain.rows",
      movements.map((it) => drawMovement(it, accounts.length > 1)),
    ),
    h("p.acts", h("a", { href: "#/history" }, t("home.movements.all"))),
  ];
}

/**
 * Fills a part of the home, which the rest does not wait for. What is known from before is shown until then, and while the
 * bank is unreachable; the balances above say so.
 * @template Data
 * @param {HTMLElement} place
 * @param {{ signal: AbortSignal, load: () => Promise<Data>, old: () => Data | null, draw: (data: Data) => Child }} about
 */
async function fill(place, about) {
  const { signal, load, old, draw } = about;
  const earlier = old();
  place.setAttribute("aria-busy", "true");
  show(place, earlier ? draw(earlier) : skeleton(3));
  try {
    const data = await load();
    if (!signal.aborted) showAgain(place, draw(data));
  } catch (error) {
    const problem = asProblem(error);
    if (signal.aborted || problem.status === 401) return;
    if (earlier && problem.status === 0) return;
    if (problem.status === 0) show(place, notice("info", h("p", t("home.offline"))));
    else
      show(
        place,
        problemNotice(problem, () => fill(place, about)),
      );
  } finally {
    place.removeAttribute("aria-busy");
  }
}

/** @param {string} name @param {HTMLElement} place */
const section = (name, place) =>
  h(
    `section.${name}`,
    { "aria-labelledby": `${name}-title` },
    h("h2", { id: `${name}-title` }, t(`home.${name}`)),
    place,
  );

/** Payees and movements of someone who has accounts. @param {Account[]} accounts @param {Pick<Tools, "signal" | "go">} tools */
export function drawLately(accounts, { signal, go }) {
  const payees = h("div.part");
  const movements = h("div.part");
  const transfers = api.transfers({ limit: RECENT }).then((page) => {
    for (const transfer of page.transfers.toReversed()) addTransfer(transfer);
  });
  /** Movements name payees, with whom the list above begins. @type {Promise<unknown>} */
  let asked = Promise.resolve();
  fill(payees, {
    signal,
    load: async () => {
      const found = loadPayees();
      asked = found.catch(() => {});
      return (await Promise.all([found, transfers]))[0];
    },
    old: () => known.payees,
    draw: () => drawPayees(accounts, go),
  });
  fill(movements, {
    signal,
    load: async () => {
      await Promise.all([transfers, asked]);
      known.movements = await newestMovements(accounts.slice(0, ACCOUNTS_MAX), MOVEMENTS_MAX);
      return known.movements;
    },
    old: () => known.movements,
    draw: (found) => drawMovements(found, accounts),
  });
  return [section("payees", payees), section("movements", movements)];
}
