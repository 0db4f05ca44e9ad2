// The pure parts of what surrounds a transfer: the event stream, the statement, dates, doubtful payees, warnings.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bankOf, knowOwnBank } from "../../host/web/bank/banks.js";
import { note, stateOf } from "../../host/web/bank/journal.js";
import { known as seen } from "../../host/web/bank/known.js";
import { nameOf } from "../../host/web/bank/movements.js";
import { warningCodes } from "../../host/web/bank/payee-warnings.js";
import WORDS from "../../host/web/bank/reason-words.js";
import { reasons } from "../../host/web/bank/reasons.js";
import { firstOf } from "../../host/web/bank/schedule-dates.js";
import { movementsOf } from "../../host/web/bank/statement.js";
import { messagesIn, pauseAfter } from "../../host/web/bank/stream.js";
import { twinOf } from "../../host/web/bank/twin.js";
import { cautionOf, isRed, telling } from "../../host/web/bank/warning-rules.js";
import { raised } from "../../host/web/bank/weighed.js";
import { t } from "../../host/web/bank/words.js";

test("the event stream is read in pieces, wherever it is cut", () => {
  const stream =
    ': hello\n\nevent: transfers\nid: 5f3a9c01.0-0.15-1.7\ndata: [{"transactionId":"a"}]\n\n:\n\nid: 5f3a9c01.0-0.16\ndata: []\n\n';
  for (let cut = 0; cut <= stream.length; cut += 1) {
    const first = messagesIn(stream.slice(0, cut));
    const second = messagesIn(first.rest + stream.slice(cut));
    assert.deepEqual(
      [...first.messages, ...second.messages],
      [
        { id: "5f3a9c01.0-0.15-1.7", events: [{ transactionId: "a" }] },
        { id: "5f3a9c01.0-0.16", events: [] },
      ],
    );
    assert.equal(second.rest, "");
  }
});

test("attempts to listen again grow apart, and wait as long as the ledger asks", () => {
  const middle = () => 0.5;
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 40].map((failures) => pauseAfter(failures, null, middle)),
    [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000],
  );
  assert.equal(pauseAfter(1, 7, middle), 7_000);
  assert.ok(pauseAfter(3, null, () => 0) < pauseAfter(3, null, () => 1));
});

const event = (transactionId, status, more = {}) => ({
  transactionId,
  type: "transfer",
  status,
  createdAt: "",
  ...more,
});

test("a transfer's state only moves forward, whatever comes first: the list or the events", () => {
  const known = new Map();
  assert.equal(stateOf({ id: "a", status: "pending" }, known), "pending");
  assert.equal(stateOf({ id: "a", status: "a status from a later ledger" }, known), "pending");
  note(known, [event("a", "pending"), event("a", "completed")]);
  assert.equal(stateOf({ id: "a", status: "pending" }, known), "completed");
  note(known, [event("r", "completed", { type: "return", returns: "a", reason: "26" })]);
  assert.equal(stateOf({ id: "a", status: "completed" }, known), "returned");
  assert.equal(known.get("a").reason, "26");
  // A replay repeats what is known.
  note(known, [event("a", "completed")]);
  assert.equal(stateOf({ id: "a", status: "completed" }, known), "returned");
  note(known, [event("b", "failed", { reason: "01" })]);
  assert.equal(stateOf({ id: "b", status: "pending" }, known), "failed");
  assert.equal(stateOf({ id: "c", status: "completed" }, known), "completed");
});

test("a statement says of each transfer what it came to, from the entries alone if need be", () => {
  const entry = (number, type, transactionId) => ({ number, type, transactionId, centavos: -100, balance: 0 });
  const entries = [
    entry(7, "transfer", "d"),
    entry(6, "return", "b"),
    entry(5, "refund", "a"),
    entry(4, "transfer", "c"),
    entry(3, "transfer", "b"),
    entry(2, "transfer", "a"),
    entry(1, "opening"),
  ];
  const states = movementsOf(entries, (id) => (id === "d" ? "pending" : null)).map(({ state }) => state);
  assert.deepEqual(states, ["pending", null, null, "completed", "returned", "failed", null]);
});

test("money from a customer of this bank has their name, once the bank says it, or else the one they were saved with", (t) => {
  const called = (entry) => nameOf({ entry, state: null });
  assert.equal(called({ type: "deposit", payerName: "María Ruiz" }), "Transferencia de María Ruiz");
  assert.equal(called({ type: "deposit" }), "Transferencia recibida");
  const payerAccountNumber = "012180004643051249";
  assert.equal(called({ type: "deposit", payerAccountNumber }), "Transferencia de una cuenta con terminación 1249");
  t.after(() => {
    seen.payees = null;
  });
  seen.payees = [{ id: "1", name: "Luis Pérez", alias: "mi hermano", accountNumber: "012 180 00464305124-9" }];
  assert.equal(called({ type: "deposit", payerAccountNumber }), "Transferencia de Luis Pérez (mi hermano)");
  const payerName = "Luis Pérez Gómez";
  assert.equal(called({ type: "deposit", payerAccountNumber, payerName }), "Transferencia de Luis Pérez Gómez");
});

test("what is doubtful about a payee", () => {
  const payee = (id, accountNumber, bankName, more = {}) => ({ id, name: "", accountNumber, bankName, ...more });
  const luis = payee("1", "012180004643051249", "BBVA México");
  assert.deepEqual(warningCodes(luis, [luis]), []);
  assert.deepEqual(warningCodes(luis, null), []);
  assert.deepEqual(warningCodes(luis, [luis, payee("2", "012 180 00464305124-9", "BBVA")]), ["saved-twice"]);
  assert.deepEqual(warningCodes(payee("3", "012180004643051249", "Banorte"), []), ["bank-name-differs"]);
  assert.deepEqual(warningCodes(payee("4", "646180110400000008", "STP"), []), ["clabe-check-digit"]);
  assert.deepEqual(warningCodes(payee("5", "999180000000000002", "Banco X"), []), ["bank-unknown"]);
  assert.deepEqual(warningCodes(payee("6", "la de siempre", "BBVA"), []), ["number-other"]);
  for (const number of ["5512345678", "4111111111111111"])
    assert.deepEqual(warningCodes(payee("7", number, "BBVA"), []), []);
  // The ledger's, each once.
  const told = payee("8", "646180110400000008", "Santander", {
    warnings: ["clabe-check-digit", "from-a-later-ledger"],
  });
  assert.deepEqual(warningCodes(told, []), ["clabe-check-digit", "from-a-later-ledger", "bank-name-differs"]);
});

test("the bank knows its own number, once the service has named it", () => {
  assert.equal(bankOf("999"), null);
  knowOwnBank(undefined, "Caudal");
  assert.equal(bankOf("999"), null);
  knowOwnBank("999", "Caudal");
  assert.equal(bankOf("999"), "Caudal");
  const payee = { id: "p1", name: "Ana", bankName: "Caudal", accountNumber: "999180000000000002" };
  assert.deepEqual(warningCodes({ ...payee, warnings: ["bank-unknown"] }, []), []);
});

test("a plan's dates are every week, or the same day or the last of each month", () => {
  assert.deepEqual(firstOf("weekly", "2026-12-28", ""), ["2026-12-28", "2027-01-04", "2027-01-11"]);
  assert.deepEqual(firstOf("monthly", "2027-01-31", ""), ["2027-01-31", "2027-02-28", "2027-03-31"]);
  assert.deepEqual(firstOf("monthly", "2027-01-31", "2027-02-28"), ["2027-01-31", "2027-02-28"]);
  assert.deepEqual(firstOf("once", "2027-01-31", ""), []);
});

test("no warning is red for what everybody does at some time, or beside a confirmed name", () => {
  const newcomer = { level: "high", scoredBy: "page", factors: ["NEW_BENEFICIARY", "NEW_DEVICE", "LOW_HISTORY"] };
  const odd = { ...newcomer, factors: ["NEW_BENEFICIARY", "AMOUNT_MUCH_HIGHER_THAN_AVERAGE"] };
  assert.equal(isRed(newcomer, false), false);
  assert.equal(isRed(odd, false), true);
  assert.equal(isRed(odd, true), false);
  assert.equal(isRed({ ...odd, level: "medium" }, false), false);
  assert.equal(isRed({ level: "high", scoredBy: "none", factors: [] }, false), true);
  const told = (count) => telling({ ...newcomer, facts: { num_past_transactions: count } });
  assert.deepEqual(told(0), ["NEW_BENEFICIARY"]);
  assert.deepEqual(told(3), ["NEW_BENEFICIARY", "NEW_DEVICE"]);
});

test("a model's own reasons appear in the bank's words, and a medium risk always has a reason", () => {
  const facts = {
    amount: 900,
    avg_transaction_amount: 1_000,
    num_past_transactions: 9,
    num_transactions_to_beneficiary: 1,
  };
  const verdict = { level: "medium", scoredBy: "page", facts: { ...facts, is_new_device: true }, factors: [] };
  const draft = { centavos: 90_000, payee: { name: "Luis" } };
  const told = (changes) => {
    const changed = { ...verdict, ...changes };
    return [cautionOf(changed, false), reasons(changed, draft)];
  };
  const { MISSING_FACT, NEW_DEVICE } = WORDS;
  assert.deepEqual(told({ reasons: ["MISSING_FACT"] }), ["reasons", [MISSING_FACT.es]]);
  assert.deepEqual(told({ factors: ["NEW_DEVICE"], reasons: ["NEW_DEVICE"] }), ["reasons", [NEW_DEVICE.es]]);
  assert.deepEqual(told({ reasons: ["OF_A_LATER_HOST"] }), ["reasons", [t("risk.other")]]);
  assert.deepEqual(told({}), ["reasons", [t("risk.unexplained")]]);
  assert.deepEqual(told({ level: "low" }), ["none", []]);
  assert.deepEqual(told({ factors: ["LOW_HISTORY"] }), ["none", []], "true of everybody who begins");
});

test("the facts that raised a score most are named in the bank's words, each with its features added up", () => {
  const facts = {
    amount: 900,
    is_new_beneficiary: true,
    is_new_device: true,
    hour_of_day: 3,
    num_past_transactions: 9,
  };
  const told = (parts, language) =>
    raised(
      Object.entries(parts).map(([feature, weight]) => ({ feature, weight })),
      facts,
      language,
    );
  const features = { amount_over_average: 0.25, amount_over_maximum: 0.5, NEW_DEVICE: 0.5, past_transactions: -2 };
  // Not known of this payment, and no fact at all.
  const parts = { ...features, hour_of_day: 1, new_beneficiary: 0.125, sent_count_24h: 3, toString: 4 };
  assert.equal(told(parts, "es-MX"), "la hora, el monto y si el dispositivo es nuevo");
  assert.equal(told(parts, "en"), "the time of day, the amount, and whether the device is new");
  assert.equal(told({ past_transactions: -2 }, "en"), "");
});

test("the same amount to the same payee within ten minutes is a twin, unless it failed", () => {
  const now = Date.parse("2026-11-26T18:00:00Z");
  const one = { id: "a", toBeneficiaryId: "p1", centavos: 6_000, status: "pending", createdAt: "2026-11-26T17:51:00Z" };
  const find = (changes) => twinOf({ toBeneficiaryId: "p1", centavos: 6_000 }, [{ ...one, ...changes }], now)?.id;
  assert.equal(find({}), "a");
  for (const other of [
    { createdAt: "2026-11-26T17:50:00Z" },
    { centavos: 6_001 },
    { toBeneficiaryId: "p2" },
    { status: "failed" },
  ])
    assert.equal(find(other), undefined);
});
