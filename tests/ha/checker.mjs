// Compares what clients saw with what is in the ledger at the end. Pure: a history and a final state in, findings
// out. A history is everything that clients saw, in any order; times are milliseconds of one clock. Whether the books are
// in order is for `caudal verify` to say.

/** @typedef {{ id: string, account: string, amount: number, status: string, createdAt?: string }} Transfer centavos */
/** @typedef {{ type: "order", session: string, key: string, account: string, amount: number, from: number, to: number,
 *    outcome: "done" | "refused" | "unknown", transfer?: Transfer }} OrderRecord an attempt; retries share the key */
/** @typedef {{ type: "list", session: string, user: string, from: number, to: number, isWhole: boolean,
 *    transfers: Transfer[] }} ListRecord newest first; whole unless the page was full */
/** @typedef {{ type: "balance", session: string, account: string, from: number, to: number, balance: number }} BalanceRecord */
/** @typedef {{ number: number, amount: number, balance: number, transfer: string | null }} Entry */
/** @typedef {{ type: "entries", session: string, account: string, from: number, to: number, entries: Entry[] }} EntriesRecord */
/** @typedef {{ type: "event", session: string, user: string, to: number, ordinal: number, transfer: Transfer }} EventRecord
 *    `session` is the stream, resumed or not */
/** @typedef {OrderRecord | ListRecord | BalanceRecord | EntriesRecord | EventRecord} Record */
/** @typedef {{ id: string, account: string, user: string, amount: number, createdAt: string, statuses: string[] }} Settled */
/** @typedef {{ accounts: { id: string, user: string, entries: Entry[] }[], transfers: Settled[],
 *    drained: string[] }} Final `drained`: streams that were read to their end */
/** @typedef {{ rule: string, detail: string }} Finding */

/** @typedef {(rule: keyof typeof RULES, detail: string) => void} Find */

/** What a finding of each rule means. */
export const RULES = {
  lost: "a client saw a transfer that is not in the ledger",
  changed: "a client saw another account, amount or status than the ledger has",
  doubled: "one order moved money twice",
  unasked: "a transfer that nobody ordered",
  undone: "an order was refused for good and moved money all the same",
  answers: "one key was answered with two transfers",
  balance: "a client saw a balance that the account never had",
  stale: "a read does not show what somebody saw before it began",
  unmonotonic: "a session saw less than it had seen before",
  "event-doubled": "a stream reported a status twice",
  "event-order": "a stream reported a status out of order, or one that never was",
  "event-missed": "a stream that was read to its end left a status out",
};

/** @param {string} account @param {number} amount */
const order = (account, amount) => `${account} ${amount}`;

/**
 * The findings, in no particular order; none if all promises held.
 * @param {Record[]} history
 * @param {Final} final
 */
export function check(history, final) {
  /** @type {Finding[]} */
  const findings = [];
  /** @type {Find} */
  const find = (rule, detail) => findings.push({ rule, detail });
  const ledger = new Ledger(final);
  checkOrders(history, final, find);
  checkTold(history, ledger, find);
  checkReads(history, ledger, find);
  checkEvents(history, final, ledger, find);
  return findings;
}

/** The final state by id. */
class Ledger {
  /** @param {Final} final */
  constructor(final) {
    this.transfers = new Map(final.transfers.map((it) => [it.id, it]));
    this.accounts = new Map(final.accounts.map((it) => [it.id, it]));
    /** Number of the entry that moved a transfer's money. @type {Map<string, number>} */
    this.numbers = new Map();
    /** Per account, the number of the entry after which a balance was reached first. @type {Map<string, Map<number, number>>} */
    this.balances = new Map();
    for (const account of final.accounts) {
      const reached = new Map([[0, 0]]);
      for (const entry of account.entries) {
        if (!reached.has(entry.balance)) reached.set(entry.balance, entry.number);
        if (entry.transfer) this.numbers.set(entry.transfer, entry.number);
      }
      this.balances.set(account.id, reached);
    }
  }
}

/**
 * An order is recognised by account and amount, which clients never repeat: the ledger's own keys are not trusted.
 * @param {Record[]} history @param {Final} final @param {Find} find
 */
function checkOrders(history, final, find) {
  const done = new Map();
  for (const { id, account, amount } of final.transfers) {
    const known = done.get(order(account, amount));
    if (known) find("doubled", `${account}, ${amount}: ${known} and ${id}`);
    done.set(order(account, amount), id);
  }
  const ordered = new Set();
  const answers = new Map();
  for (const record of history) {
    if (record.type !== "order") continue;
    const name = order(record.account, record.amount);
    ordered.add(name);
    if (record.outcome === "refused" && done.has(name)) find("undone", `${record.key}: ${done.get(name)}`);
    if (!record.transfer) continue;
    const known = answers.get(record.key);
    if (known && known !== record.transfer.id) find("answers", `${record.key}: ${known} and ${record.transfer.id}`);
    answers.set(record.key, record.transfer.id);
  }
  for (const [name, id] of done) if (!ordered.has(name)) find("unasked", `${id} (${name})`);
}

/** The transfers that a record shows. @param {Record} record @returns {Transfer[]} */
function seen(record) {
  if (record.type === "list") return record.transfers;
  return (record.type === "order" || record.type === "event") && record.transfer ? [record.transfer] : [];
}

/** @param {Record[]} history @param {Ledger} ledger @param {Find} find */
function checkTold(history, ledger, find) {
  const known = new Set();
  for (const record of history) {
    for (const { id, account, amount, status } of seen(record)) {
      const name = [record.type, id, account, amount, status].join(" ");
      if (known.has(name)) continue;
      known.add(name);
      const transfer = ledger.transfers.get(id);
      if (!transfer) find("lost", `${id}, ${amount} from ${account}: ${status} by ${record.type} of ${record.session}`);
      else if (transfer.account !== account || transfer.amount !== amount)
        find("changed", `${id}: ${amount} from ${account}, in the ledger ${transfer.amount} from ${transfer.account}`);
      else if (!transfer.statuses.includes(status))
        find("changed", `${id}: ${status}, in the ledger ${transfer.statuses}`);
    }
    if (record.type === "entries") {
      const entries = ledger.accounts.get(record.account)?.entries ?? [];
      for (const entry of record.entries) {
        const name = `${record.account} ${entry.number} ${entry.transfer}`;
        if (known.has(name)) continue;
        known.add(name);
        const real = entries[entry.number - 1];
        const isSame =
          real?.amount === entry.amount && real.balance === entry.balance && real.transfer === entry.transfer;
        if (!isSame) find("lost", `entry ${entry.number} of ${record.account}: ${JSON.stringify(entry)}`);
      }
    }
    if (record.type === "balance" && !ledger.balances.get(record.account)?.has(record.balance))
      find("balance", `${record.account}: ${record.balance} by ${record.session}`);
  }
}

/**
 * How far into accounts' histories a record reaches: the number of the last entry it shows.
 * @param {Record} record @param {Ledger} ledger @returns {[string, number | undefined][]}
 */
function reach(record, ledger) {
  if (record.type === "balance") return [[record.account, ledger.balances.get(record.account)?.get(record.balance)]];
  if (record.type === "entries") return [[record.account, Math.max(0, ...record.entries.map((it) => it.number))]];
  return seen(record).map((it) => [it.account, ledger.numbers.get(it.id)]);
}

/**
 * What anybody saw is visible to every read that begins later, through any host. Per account that is a
 * number that never falls; for a list, a set of transfers that only grows.
 * @param {Record[]} history @param {Ledger} ledger @param {Find} find
 */
function checkReads(history, ledger, find) {
  const moments = [];
  for (const record of history) {
    moments.push({ at: record.to, isTelling: true, record });
    if (record.type === "balance" || record.type === "entries" || record.type === "list")
      moments.push({ at: record.from, isTelling: false, record });
  }
  // What was seen in the same millisecond may have been seen later.
  moments.sort((a, b) => a.at - b.at || Number(a.isTelling) - Number(b.isTelling));
  const shown = new Map();
  const transfers = new Map();
  for (const { at, isTelling, record } of moments) {
    if (isTelling) {
      for (const [account, number] of reach(record, ledger)) {
        for (const scope of [account, `${account} ${record.session}`])
          shown.set(scope, Math.max(shown.get(scope) ?? 0, number ?? 0));
      }
      for (const { id } of seen(record)) {
        const transfer = ledger.transfers.get(id);
        if (!transfer) continue;
        if (!transfers.has(transfer.user)) transfers.set(transfer.user, new Map());
        transfers.get(transfer.user).set(id, Date.parse(transfer.createdAt));
      }
    } else if (record.type === "list") {
      const oldest = record.isWhole ? 0 : Date.parse(record.transfers.at(-1)?.createdAt ?? "");
      const seen = new Set(record.transfers.map((it) => it.id));
      for (const [id, createdAt] of transfers.get(record.user) ?? []) {
        if (!seen.has(id) && createdAt > oldest) find("stale", `list of ${record.session} at ${at} without ${id}`);
      }
    } else {
      for (const [account, number] of reach(record, ledger)) {
        if (number === undefined) continue;
        const detail = `${record.type} of ${record.session} at ${at} shows entry ${number}`;
        const own = shown.get(`${account} ${record.session}`) ?? 0;
        const any = shown.get(account) ?? 0;
        if (number < own) find("unmonotonic", `${detail}, after ${own}`);
        else if (number < any) find("stale", `${detail}, after ${any}`);
      }
    }
  }
}

/** @param {Record[]} history @param {Final} final @param {Ledger} ledger @param {Find} find */
function checkEvents(history, final, ledger, find) {
  const streams = new Map();
  for (const record of history) {
    if (record.type !== "event") continue;
    const { session, user, ordinal, transfer } = record;
    if (!streams.has(session)) streams.set(session, { user, next: new Map() });
    const { next } = streams.get(session);
    const expected = next.get(transfer.id) ?? 0;
    const name = `${session}: ${transfer.id} ${ordinal} ${transfer.status}`;
    if (ordinal < expected) find("event-doubled", name);
    else if (ordinal > expected) find("event-order", `${name}, not ${expected}`);
    const statuses = ledger.transfers.get(transfer.id)?.statuses;
    if (statuses && statuses[ordinal] !== transfer.status) find("event-order", `${name}, in the ledger ${statuses}`);
    next.set(transfer.id, Math.max(expected, ordinal + 1));
  }
  for (const session of final.drained) {
    const stream = streams.get(session);
    if (!stream) continue;
    for (const { id, user, statuses } of final.transfers) {
      const seen = stream.next.get(id) ?? 0;
      if (user === stream.user && seen < statuses.length) find("event-missed", `${session}: ${id} after ${seen}`);
    }
  }
}
