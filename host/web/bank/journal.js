// What became of each of the user's transfers, by the ledger's events: replayed once, then followed from where they were
// left. In memory only, forgotten at sign-out.

import { follow } from "./stream.js";
/** @import { Outcome, Transfer, TransferEvent, TransferState } from "./types.js" */
import { hasText, t } from "./words.js";

/** Where the replay starts. */
const BEGINNING = "";
/** Longest wait for a replay on a screen that can do without. */
const REPLAY_MS = 1_500;

/** @type {Map<string, Outcome>} */
let outcomes = new Map();
/** Null: the replay was too long for the ledger, and what happened before is known from its lists only. @type {string | null} */
let cursor = BEGINNING;

export function forgetJournal() {
  outcomes = new Map();
  cursor = BEGINNING;
}

/** Adds events to what is known. @param {Map<string, Outcome>} known @param {TransferEvent[]} events */
export function note(known, events) {
  for (const { transactionId, type, status, reason = null, returns, createdAt } of events) {
    if (type === "return" && returns) {
      known.set(returns, {
        ...(known.get(returns) ?? { status: "completed" }),
        status: "returned",
        reason,
        at: createdAt,
      });
    } else if (type === "transfer" && known.get(transactionId)?.status !== "returned") {
      known.set(transactionId, { status, reason, at: createdAt });
    }
  }
}

/**
 * What a transfer has come to: the later of what the ledger's list and its events say, since only one way leads from
 * pending to the end.
 * @param {Pick<Transfer, "id" | "status">} transfer @param {Map<string, Outcome>} known @returns {TransferState}
 */
export function stateOf({ id, status }, known = outcomes) {
  const ORDER = ["pending", "completed", "failed", "returned"];
  const told = [status, known.get(id)?.status ?? "pending"];
  const [last] = told
    .filter((it) => ORDER.includes(it))
    .sort((one, other) => ORDER.indexOf(other) - ORDER.indexOf(one));
  return /** @type {TransferState} */ (last ?? "pending");
}

/** Why a transfer failed or came back, in words, or null. @param {string} id */
export function reasonOf(id) {
  const reason = outcomes.get(id)?.reason;
  if (!reason) return null;
  return hasText(`reason.${reason}`) ? t(`reason.${reason}`) : null;
}

/**
 * Follows the events until `signal` aborts. `onNews` gets the transfers that they are about, `onOpen` and `onLost` are
 * called as the connection comes and goes.
 * @param {{ signal: AbortSignal, onNews: (ids: string[]) => void, onOpen?: () => void, onLost?: () => void }} about
 */
export function followJournal({ signal, onNews, onOpen = () => {}, onLost = () => {} }) {
  const mine = outcomes;
  return follow({
    signal,
    cursorNow: () => cursor,
    onOpen,
    onMessage: (id, events) => {
      // Somebody else may have signed in.
      if (mine !== outcomes) return;
      note(outcomes, events);
      cursor = id ?? cursor;
      onNews(events.flatMap((it) => [it.transactionId, it.returns ?? it.transactionId]));
    },
    onLost: (problem) => {
      if (problem.status === 400) cursor = null;
      // Events were lost: what they said is forgotten, and the others are replayed.
      if (problem.status === 410 && mine === outcomes) {
        outcomes.clear();
        cursor = BEGINNING;
      }
      onLost();
    },
  });
}

/** Types of events about money that somebody has sent. */
const INCOMING = ["received", "deposit"];

/**
 * Calls `onMoney` when somebody sends money from now on, and when they may have meanwhile.
 * @param {{ signal: AbortSignal, onMoney: () => void }} about
 */
export function followMoney({ signal, onMoney }) {
  /** @type {string | null} */
  let place = null;
  let wasLost = false;
  return follow({
    signal,
    cursorNow: () => place,
    onOpen: () => {
      if (wasLost && place === null) onMoney();
      wasLost = true;
    },
    onMessage: (id, events) => {
      place = id ?? place;
      if (events.some(({ type }) => INCOMING.includes(type))) onMoney();
    },
    onLost: (problem) => {
      if (problem.status === 400 || problem.status === 410) place = null;
    },
  });
}

/** Waits, but not for long, until the reasons of these transfers are known. @param {string[]} ids @param {AbortSignal} signal */
export async function replay(ids, signal) {
  const missing = () => ids.some((id) => !outcomes.has(id));
  if (!missing() || cursor === null) return;
  const over = new AbortController();
  const both = AbortSignal.any([signal, over.signal, AbortSignal.timeout(REPLAY_MS)]);
  const onNews = () => missing() || over.abort();
  // One attempt is enough: the statement is complete without reasons.
  await followJournal({ signal: both, onNews, onLost: () => over.abort() });
}
