// The home: what there is, what can be done with one tap, whom the person pays, and what has happened lately.

/** @import { Child } from "../shared/dom.js" */
/** @import { Account, Go, Schedule, Screen, Tools } from "./types.js" */
import { button, h, heard, s, show } from "../shared/dom.js";
import { announce } from "./announce.js";
import { schedules as loadSchedules } from "./api-schedules.js";
import { lastFour } from "./clabe.js";
import { isUnsettled, startWith } from "./draft.js";
import { money, notice, number, streams, typeName } from "./drawing.js";
import { drawLately } from "./home.js";
import { followMoney } from "./journal.js";
import { known, loadAccounts } from "./known.js";
import { drawLoaded } from "./loading.js";
import { drawNews } from "./schedule-notices.js";
import { canMove } from "./screen-move.js";
import { timeout } from "./timeout.js";
import { counted, t } from "./words.js";

/** How long a button says what it has done. */
const DONE_MS = 3_000;
/** How old a balance gets before the page looks again. */
const CHECK_EVERY_MS = 20_000;
/** How long balances wait for the schedules. */
const NEWS_TIMEOUT_MS = 1_000;

/** Icons of the actions, each with its word below. */
const ICONS = {
  transfer: "M4 8h13M13 4l4 4-4 4M20 16H7M11 12l-4 4 4 4",
  move: "M12 4v16M8 8l4-4 4 4M8 16l4 4 4-4",
  payee: "M10 11a3.5 3.5 0 100-7 3.5 3.5 0 000 7zM3.5 20c0-4 2.9-6 6.5-6 1.4 0 2.7.3 3.8 1M18 14v6M15 17h6",
  history: "M6 3h12v18l-3-2-3 2-3-2-3 2zM9.5 8h5M9.5 12h5",
  account: "M3 9l9-5 9 5M4 20h16M6 9v8M10 9v8M14 9v8M18 9v8",
};

/** @param {keyof typeof ICONS} icon @param {string} href @param {string} text */
const action = (icon, href, text) =>
  h(
    "li",
    h(
      "a.action",
      { href },
      s("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" }, s("path", { d: ICONS[icon] })),
      text,
    ),
  );

/** @param {Account[]} accounts */
const drawActions = (accounts) =>
  h(
    "nav.actions",
    { "aria-label": t("home.actions") },
    h(
      "ul.plain",
      action("transfer", "#/transfer/parties", t("accounts.transfer")),
      canMove(accounts) && action("move", "#/accounts/move", t("accounts.move")),
      action("payee", "#/beneficiaries/new", t("home.add-payee")),
      action("history", "#/history", t("home.see-history")),
      action("account", "#/accounts/new", t("accounts.open-another")),
    ),
  );

/** A button that copies the account's number. @param {Account} account @param {string} which */
function copier({ accountNumber }, which = "") {
  const text = h("span", t("home.copy"));
  const copy = async () => {
    const isCopied = await navigator.clipboard.writeText(accountNumber).then(
      () => true,
      () => false,
    );
    text.textContent = t(isCopied ? "home.copied" : "home.not-copied");
    announce(text.textContent);
    setTimeout(() => show(text, t("home.copy")), DONE_MS);
  };
  return button([text, which && heard(which)], copy, { class: "quiet small" });
}

/** @param {Account} account @returns {Child[]} */
const aboutAccount = (account) => [
  account.available < account.centavos && h("p.hint", t("accounts.available"), " ", money(account.available)),
  account.frozen && h("p.hint", t("accounts.frozen")),
  h("p.hint", number(account.accountNumber)),
];

/** One of several accounts. @param {Account} account @param {Go} go */
function drawAccount(account, go) {
  const transfer = (/** @type {Event} */ event) => {
    event.preventDefault();
    startWith({ fromAccountId: account.id });
    go("/transfer/parties");
  };
  const title = `account-${account.id}`;
  const name = typeName(account.accountType);
  const which = ` ${t("home.of-account", { name, four: [...lastFour(account.accountNumber)].join(" ") })}`;
  return h(
    "li.account",
    h("h2", { id: title }, name),
    h("p.balance", heard(`${t("accounts.balance")}: `), money(account.centavos)),
    aboutAccount(account),
    h(
      "p.acts",
      !account.frozen &&
        h("a", { href: "#/transfer/parties", "aria-describedby": title, onClick: transfer }, t("accounts.transfer")),
      h("a", { href: `#/history?account=${account.id}` }, t("home.see-history"), heard(which)),
      copier(account, which),
    ),
  );
}

/** @param {Account[]} accounts */
const totalOf = (accounts) => accounts.reduce((sum, it) => sum + it.centavos, 0);

/** The balance in large figures: of the only account, or of all together. @param {Account[]} accounts */
function drawTotal(accounts) {
  const [only] = accounts;
  const isOnly = accounts.length === 1;
  const id = isOnly ? `account-${only.id}` : "total-title";
  return h(
    "section.total",
    { "aria-labelledby": id },
    h("h2", { id }, isOnly ? typeName(only.accountType) : t("accounts.total")),
    h("p", isOnly && heard(`${t("accounts.balance")}: `), money(totalOf(accounts), "money large")),
    isOnly ? [aboutAccount(only), h("p.acts", copier(only))] : h("p.hint", counted("accounts.count", accounts.length)),
    streams(),
  );
}

function drawEmpty() {
  return h(
    "div.sheet.empty",
    h("h2", t("accounts.empty.title")),
    h("p", t("accounts.empty")),
    h("p.acts", h("a.button.main", { href: "#/accounts/new" }, t("accounts.open"))),
    h("p", t("home.next")),
    h("ol", h("li", t("home.next.1")), h("li", t("home.next.2")), h("li", t("home.next.3"))),
    streams(),
  );
}

/**
 * What is new goes to the top if it is there in time, and otherwise to the end, where it moves nothing under a finger.
 * @typedef {{ accounts: Account[], news?: Schedule[], late?: Promise<Schedule[]> }} Found
 */

/** @param {Found} found @param {Tools} tools */
function drawHome({ accounts, news, late }, tools) {
  if (accounts.length === 0) return drawEmpty();
  const end = h("div");
  if (!news) late?.then((schedules) => show(end, drawNews(schedules)));
  return [
    news && drawNews(news),
    isUnsettled() &&
      notice(
        "warn",
        h("p.title", t("unsettled.title")),
        h("p", h("a", { href: "#/transfer/review" }, t("unsettled.link"))),
      ),
    h(
      "div.home",
      h(
        "div.grid",
        drawTotal(accounts),
        drawActions(accounts),
        accounts.length > 1 &&
          h(
            "ul.plain.accounts",
            accounts.map((it) => drawAccount(it, tools.go)),
          ),
        drawLately(accounts, tools),
      ),
    ),
    end,
  ];
}

/** The home, which follows the balance for as long as it is open. @type {Screen} */
export const accountsScreen = {
  path: "/accounts",
  name: "accounts",
  title: () => t("accounts.title"),
  draw(place, tools) {
    const { signal } = tools;
    place.classList.add("wide");
    /** The total that is shown, or null for an old one. @type {number | null} */
    let shown = null;
    const draw = (isAgain = false) =>
      drawLoaded(place, {
        signal,
        isAgain,
        load: async () => {
          const late = loadSchedules().catch(() => []);
          const inTime = Promise.race([late, timeout(NEWS_TIMEOUT_MS)]);
          const [accounts, news] = await Promise.all([loadAccounts(), inTime]);
          shown = totalOf(accounts);
          return { accounts, news, late };
        },
        fallback: () => {
          shown = null;
          return known.accounts && { accounts: known.accounts };
        },
        seenAt: () => known.accountsAt,
        draw: (found) => drawHome(found, tools),
        summary: ({ accounts }) => counted("accounts.count", accounts.length),
      });
    const check = async () => {
      const accounts = document.hidden ? null : await loadAccounts().catch(() => null);
      if (!accounts || signal.aborted || totalOf(accounts) === shown) return;
      if (shown !== null && totalOf(accounts) > shown) announce(t("home.received"));
      await draw(true);
    };
    followMoney({ signal, onMoney: check });
    // Where no event says so, as when the connection comes back.
    window.addEventListener("online", check, { signal });
    document.addEventListener("visibilitychange", check, { signal });
    const checking = setInterval(check, CHECK_EVERY_MS);
    signal.addEventListener("abort", () => clearInterval(checking));
    return draw();
  },
};
