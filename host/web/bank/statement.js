// An account's statement: its entries, and what the user's transfers among them have come to.

/** @import { Account, Entry, Movement, TransferState } from "./types.js" */
import * as api from "./api.js";
import { replay, stateOf } from "./journal.js";
import { addTransfer, known } from "./known.js";

const PAGE_LENGTH = 10;
/** The newest transfers, which may have changed since the page last saw them. */
const RECENT = 50;

/**
 * The statement's lines, newest first. Money that came back is an entry of its own above the transfer that it belongs to,
 * so that the balance adds up line by line.
 * @param {Entry[]} entries newest first, from the newest one on
 * @param {(id: string) => TransferState | null} stateOfId
 * @returns {Movement[]}
 */
export function movementsOf(entries, stateOfId) {
  /** @type {Map<string, TransferState>} */
  const ended = new Map();
  return entries.map((entry) => {
    const { type, transactionId } = entry;
    if (!transactionId) return { entry, state: null };
    if (type === "refund") ended.set(transactionId, "failed");
    if (type === "return") ended.set(transactionId, "returned");
    if (type !== "transfer") return { entry, state: null };
    return { entry, state: ended.get(transactionId) ?? stateOfId(transactionId) ?? "completed" };
  });
}

/** @param {string} id */
function stateOfId(id) {
  const transfer = known.history.find((it) => it.id === id);
  return transfer ? stateOf(transfer) : null;
}

/**
 * The newest movements of several accounts together, newest first, and whose they are.
 * @param {Account[]} accounts @param {number} count @returns {Promise<(Movement & { account: Account })[]>}
 */
export async function newestMovements(accounts, count) {
  const pages = await Promise.all(accounts.map(({ id }) => api.entries(id, { limit: count })));
  return pages
    .flatMap(({ entries }, place) => movementsOf(entries, stateOfId).map((it) => ({ ...it, account: accounts[place] })))
    .sort((one, other) => other.entry.createdAt.localeCompare(one.entry.createdAt))
    .slice(0, count);
}

/** A statement that is read page by page. @param {string} accountId @param {AbortSignal} signal */
export function openStatement(accountId, signal) {
  /** @type {Entry[]} */
  const entries = [];
  /** @type {string | null} */
  let next = null;
  return {
    hasMore: () => next !== null,
    /** Reads one more page; resolves to its lines. */
    async read() {
      const [page, recent] = await Promise.all([
        api.entries(accountId, { limit: PAGE_LENGTH, next }),
        next === null ? api.transfers({ limit: RECENT }) : null,
      ]);
      for (const transfer of recent?.transfers.toReversed() ?? []) addTransfer(transfer);
      const from = entries.length;
      entries.push(...page.entries);
      next = page.next;
      const movements = movementsOf(entries, stateOfId).slice(from);
      await replay(
        movements.flatMap(({ entry, state }) => (hasReason(entry, state) ? [entry.transactionId ?? ""] : [])),
        signal,
      );
      return movements;
    },
  };
}

/** Whether the events may say why. @param {Entry} entry @param {TransferState | null} state */
const hasReason = ({ type }, state) => type === "return" || state === "failed";
