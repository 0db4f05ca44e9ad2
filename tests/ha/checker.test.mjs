// The checker finds every kind of broken promise, in histories as a broken host would leave them, and nothing in a sound one.

import assert from "node:assert/strict";
import { test } from "node:test";

import { check, RULES } from "./checker.mjs";

const OPENING = 1_000_000;
const AT = "2026-11-22T10:00:0";

/** A ledger with one account and a completed transfer per amount; transfer `t1` is the first. */
function ledger(...amounts) {
  let balance = OPENING;
  const entries = [{ number: 1, amount: OPENING, balance, transfer: null }];
  for (const [index, amount] of amounts.entries()) {
    balance -= amount;
    entries.push({ number: index + 2, amount: -amount, balance, transfer: `t${index + 1}` });
  }
  const transfers = amounts.map((amount, index) => ({
    ...{ id: `t${index + 1}`, account: "a", user: "ana", amount },
    ...{ createdAt: `${AT}${index}Z`, statuses: ["completed"] },
  }));
  return { accounts: [{ id: "a", user: "ana", entries }], transfers, drained: ["events"] };
}

const transfer = (n, amount) => ({
  id: `t${n}`,
  account: "a",
  amount,
  status: "completed",
  createdAt: `${AT}${n - 1}Z`,
});

/** An attempt at the order of `amount`, from `from` to the millisecond after it. */
const attempt = (amount, from, outcome = "done", n = amount) => ({
  ...{ type: "order", session: "sender", key: `k${amount}`, account: "a", amount, from, to: from + 1, outcome },
  transfer: outcome === "done" ? transfer(n, amount) : undefined,
});
const list = (from, ...transfers) => ({
  type: "list",
  session: "reader",
  user: "ana",
  from,
  to: from + 1,
  isWhole: true,
  transfers,
});
const balance = (from, amount, session = "reader") => ({
  type: "balance",
  session,
  account: "a",
  from,
  to: from + 1,
  balance: amount,
});
const event = (to, n, amount, ordinal = 0) => ({
  type: "event",
  session: "events",
  user: "ana",
  to,
  ordinal,
  transfer: transfer(n, amount),
});

/** Two orders, a read after each, and both events. */
const sound = () => [
  attempt(1, 10),
  balance(12, OPENING - 1),
  event(13, 1, 1),
  attempt(2, 20, "unknown"),
  attempt(2, 30),
  list(40, transfer(2, 2), transfer(1, 1)),
  balance(40, OPENING - 3),
  event(41, 2, 2),
];

/** The rules broken, in order and without repetition. */
const broken = (history, final) => [...new Set(check(history, final).map((it) => it.rule))].sort();

test("a sound history has no findings, an unknown outcome may be either", () => {
  assert.deepEqual(check(sound(), ledger(1, 2)), []);
  assert.deepEqual(check([...sound(), attempt(3, 50, "unknown")], ledger(1, 2)), []);
  assert.deepEqual(check([...sound(), attempt(3, 50, "unknown"), event(60, 3, 3)], ledger(1, 2, 3)), []);
});

test("a host that answers before it commits: a read after the answer does not show it", () => {
  const early = [attempt(1, 10), balance(12, OPENING), list(12), event(20, 1, 1)];
  assert.deepEqual(broken(early, ledger(1)), ["stale"]);
  assert.equal(check(early, ledger(1)).length, 2);
});

test("a host that answers before it commits, and never does", () => {
  assert.deepEqual(broken([attempt(1, 10)], ledger()), ["lost"]);
});

test("an acknowledged transfer is lost: its answer, its event, its entry and its balance show it", () => {
  const entry = { number: 4, amount: -3, balance: OPENING - 6, transfer: "t3" };
  const entries = { type: "entries", session: "reader", account: "a", from: 52, to: 53, entries: [entry] };
  for (const seen of [attempt(3, 50), event(50, 3, 3), list(50, transfer(3, 3)), entries])
    assert.ok(broken([...sound(), seen], ledger(1, 2)).includes("lost"), seen.type);
  assert.deepEqual(broken([...sound(), balance(50, OPENING - 6)], ledger(1, 2)), ["balance"]);
});

test("a duplicated event", () => {
  assert.deepEqual(broken([...sound(), event(50, 2, 2)], ledger(1, 2)), ["event-doubled"]);
});

test("an event that skips a status, has another one, or is missing", () => {
  const final = ledger(1, 2);
  final.transfers[1].statuses = ["pending", "completed"];
  const history = sound().filter((it) => it.type !== "event");
  assert.deepEqual(broken([...history, event(13, 1, 1), event(41, 2, 2, 1)], final), ["event-order"]);
  assert.deepEqual(broken([...history, event(13, 1, 1), event(41, 2, 2, 0), event(42, 2, 2, 1)], final), [
    "event-order",
  ]);
  assert.deepEqual(broken([...history, event(13, 1, 1)], ledger(1, 2)), ["event-missed"]);
});

test("a doubled transfer", () => {
  const final = ledger(1, 2, 2);
  final.drained = [];
  assert.deepEqual(broken(sound(), final), ["doubled"]);
  assert.deepEqual(broken([...sound(), attempt(2, 50, "done", 3)], final), ["answers", "doubled"]);
});

test("a transfer that nobody ordered, or that had been refused", () => {
  const history = [...sound(), event(50, 3, 3)];
  assert.deepEqual(broken(history, ledger(1, 2, 3)), ["unasked"]);
  assert.deepEqual(broken([...history, attempt(3, 45, "refused")], ledger(1, 2, 3)), ["undone"]);
});

test("a transfer with another amount or status", () => {
  assert.ok(broken([...sound(), attempt(7, 50, "done", 2)], ledger(1, 2)).includes("changed"));
  const final = ledger(1, 2);
  final.transfers[0].statuses = ["pending"];
  assert.ok(broken(sound(), final).includes("changed"));
});

test("a session that sees less than before, and one that sees less than another did", () => {
  const more = balance(50, OPENING - 3, "reader");
  assert.deepEqual(broken([...sound(), more, balance(60, OPENING - 1, "reader")], ledger(1, 2)), ["unmonotonic"]);
  assert.deepEqual(broken([...sound(), balance(60, OPENING - 1, "other")], ledger(1, 2)), ["stale"]);
});

test("reads that overlap with an order may show it or not", () => {
  const overlapping = [attempt(1, 10), balance(10, OPENING), balance(9, OPENING - 1, "other"), event(20, 1, 1)];
  assert.deepEqual(check(overlapping, ledger(1)), []);
});

test("a full page leaves out only what is older", () => {
  const page = (...transfers) => ({ ...list(50, ...transfers), isWhole: false });
  assert.deepEqual(broken([...sound(), page(transfer(2, 2))], ledger(1, 2)), []);
  assert.deepEqual(broken([...sound(), page(transfer(1, 1))], ledger(1, 2)), ["stale"]);
});

test("every rule has a meaning", () => {
  assert.ok(Object.values(RULES).every((meaning) => meaning.length > 0));
});
