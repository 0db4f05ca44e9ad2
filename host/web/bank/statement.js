// An account's statement: its entries, and what the user's transfers among them have come to.

/** @import { Account, Entry, Movement, TransferState } from "./types.js" */
import * as api from "./api.js";
import { replay, stateOf } from "./journal.js";
import { addTransfer, known } from "./known.js";

const PAGE_LENGTH = 10;
/** The longest page of the API. */
const LONG_PAGE = 1_000;
/** What a search, a file or a print looks through: years of an ordinary account, in at most ten requests. */
export const ENTRIES_MAX = 10_000;
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

/**
 * A statement that is read page by page, from now back to `from`.
 * @param {string} accountId @param {{ signal: AbortSignal, from?: Date | null }} about
 */
export function openStatement(accountId, { signal, from = null }) {
  /** @type {Entry[]} */
  const entries = [];
  /** @type {string | null} */
  let next = null;
  let isOpen = false;
  const hasMore = () => !isOpen || next !== null;
  /** @param {number} limit */
  async function readEntries(limit) {
    const [page, recent] = await Promise.all([
      api.entries(accountId, { limit, next, from }),
      isOpen ? null : api.transfers({ limit: RECENT }),
    ]);
    for (const transfer of recent?.transfers.toReversed() ?? []) addTransfer(transfer);
    entries.push(...page.entries);
    next = page.next;
    isOpen = true;
  }
  return {
    hasMore,
    /** Everything that has been read. */
    movements: () => movementsOf(entries, stateOfId),
    /** Reads one more page; resolves to its lines. */
    async read(limit = PAGE_LENGTH) {
      const before = entries.length;
      await readEntries(limit);
      const movements = movementsOf(entries, stateOfId).slice(before);
      await replay(
        movements.flatMap(({ entry, state }) => (hasReason(entry, state) ? [entry.transactionId ?? ""] : [])),
        signal,
      );
      return movements;
    },
    /** Reads everything, or else as much as a page can hold. */
    async readAll() {
      while (hasMore() && entries.length < ENTRIES_MAX && !signal.aborted) await readEntries(LONG_PAGE);
    },
  };
}

/** Whether the events may say why. @param {Entry} entry @param {TransferState | null} state */
const hasReason = ({ type }, state) => type === "return" || state === "failed";
