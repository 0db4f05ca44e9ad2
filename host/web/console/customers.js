// A customer whom an operator looks up, with the transfers, payees and holds of the first pages. The host records each
// look-up.

/** @import { Child } from "../shared/dom.js" */
/** @import { Beneficiary, Cell, Customer, Hold, Transaction } from "./types.js" */
import { at, button, h, markInvalid, show } from "../shared/dom.js";
import * as api from "./api.js";
import { update } from "./patch.js";
import { asFailure, drawFailure } from "./problems.js";
import { markScrollable, table } from "./table.js";
import { pesos, when } from "./words.js";

const input = /** @type {HTMLInputElement} */ (at("customer-quoted"));
const by = /** @type {HTMLSelectElement} */ (at("customer-by"));

/** @type {[Cell, Cell, Cell, Cell, Cell, Cell]} */
const PAYMENT_HEADS = ["Payment", "Made", "Payee", ["MXN", "number"], "Status", "Tracking key"];

/** @param {string} id */
const code = (id) => h("code", id);

/** @param {Transaction} it @returns {Cell[]} */
const transfer = (it) => [
  code(it.id),
  [when(it.createdAt), "time"],
  [it.beneficiaryName ?? "–", "words"],
  [pesos(it.amount), "number"],
  it.status,
  code(it.speiReference ?? "–"),
];

/** @param {Beneficiary} it @returns {Cell[]} */
const payee = (it) => [it.name, code(it.accountNumber), it.bankName];

/** @param {Hold} it @returns {Cell[]} */
const hold = (it) => [
  code(it.id),
  [it.beneficiaryName, "words"],
  [pesos(it.amount), "number"],
  it.status,
  [when(it.expiresAt), "time"],
];

/** @type {{ list: string, title: string, none: string, heads: Cell[], row: (it: any) => Cell[] }[]} */
const LISTS = [
  { list: "transactions", title: "Transfers", none: "No transfers.", heads: PAYMENT_HEADS, row: transfer },
  { list: "beneficiaries", title: "Payees", none: "No payees.", heads: ["Name", "Number", "Bank"], row: payee },
  {
    list: "holds",
    title: "Holds",
    none: "No holds.",
    heads: ["Hold", "Payee", ["MXN", "number"], "Status", "Expires"],
    row: hold,
  },
];

/** @param {string} title @param {Cell[]} heads @param {Cell[][]} rows */
const part = (title, heads, rows) => [h("h3", title), table({ label: title, heads, rows, className: "customer" })];

/** @param {number | undefined} limit */
const limit = (limit) => (limit === undefined ? "default" : `${pesos(limit)} MXN`);

/** @param {Customer} customer @returns {Child} */
function drawCustomer({ user, holder, accounts, limits, freezes, payments }) {
  const balances = accounts.map((it) => [
    code(it.id),
    code(it.accountNumber),
    [pesos(it.balance), "number"],
    [pesos(it.held ?? 0), "number"],
    it.frozen ? h("strong", "frozen") : "–",
  ]);
  const events = freezes.map((it) => [
    [when(it.createdAt), "time"],
    code(it.accountId),
    it.event,
    it.by,
    [it.reason, "words"],
  ]);
  const quoted = payments.map((it) => [
    code(it.id),
    [when(it.createdAt), "time"],
    [`${it.type === "received" ? "from " : ""}${it.name ?? "–"}`, "words"],
    [pesos(it.amount), "number"],
    it.status,
    code(it.speiReference),
  ]);
  return [
    h("p", h("strong", user), holder ? `, verified as ${holder}` : ", no verified name"),
    h("p", `Limits: ${limit(limits.perTransfer)} per transfer, ${limit(limits.perDay)} per day.`),
    quoted.length > 0 && part("Payment with this tracking key", PAYMENT_HEADS, /** @type {Cell[][]} */ (quoted)),
    part(
      "Accounts",
      ["Account", "Number", ["MXN", "number"], ["Held", "number"], "State"],
      /** @type {any} */ (balances),
    ),
    events.length > 0 && part("Freezes", ["When", "Account", "Event", "By", "Reason"], /** @type {any} */ (events)),
  ];
}

export function openCustomers() {
  /** @param {HTMLElement} place @param {() => Promise<void>} load */
  const attempt = async (place, load) => {
    const session = api.sessionNow();
    try {
      await load();
    } catch (error) {
      if (session.aborted) return;
      update(place, h("div.notice.bad", drawFailure(asFailure(error))));
    }
  };

  /** One page after the other, each below the ones before. @param {string} user @param {typeof LISTS[number]} of */
  const openList = async (user, { list, title, none, heads, row }) => {
    const place = h("div");
    /** @type {Cell[][]} */
    const rows = [];
    /** @param {string} path */
    const more = async (path) => {
      const { items, next } = await api.page(path);
      rows.push(...items.map(row));
      const fault = h("div", { role: "alert" });
      const goOn = next && button(`More ${title.toLowerCase()}`, () => attempt(fault, () => more(next)));
      show(place, rows.length > 0 ? part(title, heads, rows) : h("p", none), goOn, fault);
      markScrollable(place);
    };
    await more(api.listOf(user, list));
    return place;
  };

  at("customer-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const wanted = input.value.trim();
    update(at("customer-fault"), wanted === "" ? "Enter what the customer quotes." : "");
    markInvalid(input, wanted === "");
    if (wanted === "") {
      input.focus();
      return;
    }
    const place = at("customer");
    attempt(place, async () => {
      const session = api.sessionNow();
      const customer = await api.customer(by.value, wanted);
      const lists = await Promise.all(LISTS.map((of) => openList(customer.user, of)));
      if (session.aborted) return;
      const title = h("h3", { tabindex: "-1" }, "Customer");
      show(place, title, drawCustomer(customer), lists);
      markScrollable(place);
      title.focus();
    });
  });
}

export function forgetCustomer() {
  input.value = "";
  at("customer").replaceChildren();
  update(at("customer-fault"));
  markInvalid(input, false);
}
