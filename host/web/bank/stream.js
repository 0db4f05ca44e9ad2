// The ledger's event stream, read with fetch: the browser's EventSource sends no token. It reconnects
// with growing pauses and misses nothing, because each message carries its position.

/** @import { TransferEvent } from "./types.js" */
import { asProblem, Problem } from "../shared/problem.js";
import { exchange } from "./request.js";

const PATH = "/api/ledger/events";
/** For the headers of the response. */
const OPEN_TIMEOUT_MS = 10_000;
/** The ledger sends something every 15 s: after so long without it the connection is dead, whatever the browser thinks. */
const SILENCE_MS = 40_000;
const PAUSE_MIN_MS = 1_000;
const PAUSE_MAX_MS = 30_000;

/**
 * The complete messages of a stream, and the rest of its text.
 * @param {string} text
 */
export function messagesIn(text) {
  const blocks = text.split("\n\n");
  const rest = blocks.pop() ?? "";
  const messages = blocks.flatMap((block) => {
    const lines = block.split("\n");
    /** @param {string} name */
    const read = (name) =>
      lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ""));
    const data = read("data").join("\n");
    // Comments keep the connection open.
    return data === "" ? [] : [{ id: read("id").at(-1) ?? null, events: JSON.parse(data) }];
  });
  return { messages, rest };
}

/** How long to wait before another attempt, after `failures` of them. @param {number} failures @param {number | null} asked seconds */
export function pauseAfter(failures, asked, random = Math.random) {
  const pause = Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** (failures - 1));
  // Not everybody at once.
  return Math.max((asked ?? 0) * 1_000, pause * (0.75 + random() / 2));
}

/** The connection broke in the middle. @returns {never} */
function broken() {
  throw new Problem({ code: "unreachable" });
}

/**
 * One connection, from `cursor` ("" for the beginning, null for now) to its end.
 * @param {string | null} cursor
 * @param {{ signal: AbortSignal, onOpen: () => void, onMessage: (id: string | null, events: TransferEvent[]) => void }} about
 */
async function listen(cursor, { signal, onOpen, onMessage }) {
  const path = cursor === null ? PATH : `${PATH}?from=${encodeURIComponent(cursor)}`;
  const connection = new AbortController();
  const end = () => connection.abort(new DOMException("", "TimeoutError"));
  signal.addEventListener("abort", end);
  let timer = setTimeout(end, OPEN_TIMEOUT_MS);
  try {
    const headers = { Accept: "text/event-stream" };
    const { body } = await exchange("GET", path, { headers }, () => connection.signal);
    if (!body) return;
    onOpen();
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      clearTimeout(timer);
      timer = setTimeout(end, SILENCE_MS);
      const { done, value } = await reader.read().catch(broken);
      if (done) return;
      const { messages, rest } = messagesIn(text + value);
      text = rest;
      for (const { id, events } of messages) onMessage(id, events);
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    connection.abort();
  }
}

/** Resolves after a pause; at once when the connection or the person comes back, or when following ends. @param {number} ms @param {AbortSignal} signal */
function pause(ms, signal) {
  return new Promise((resolve) => {
    const over = new AbortController();
    const go = () => {
      clearTimeout(timer);
      over.abort();
      resolve(undefined);
    };
    const timer = setTimeout(go, ms);
    signal.addEventListener("abort", go, { signal: over.signal });
    window.addEventListener("online", go, { signal: over.signal });
    document.addEventListener("visibilitychange", () => !document.hidden && go(), { signal: over.signal });
  });
}

/** Resolves once the page is visible: a tab in the background holds no connection. @param {AbortSignal} signal */
async function seen(signal) {
  while (document.hidden && !signal.aborted) await pause(PAUSE_MAX_MS, signal);
}

/**
 * Follows the events until `signal` aborts. `cursorNow` says where to go on, each time. `onOpen` is called whenever the
 * stream is open, `onLost` whenever it is not.
 * @param {{ signal: AbortSignal, cursorNow: () => string | null, onOpen: () => void, onLost: (problem: Problem) => void,
 *   onMessage: (id: string | null, events: TransferEvent[]) => void }} about
 */
export async function follow({ signal, cursorNow, onOpen, onLost, onMessage }) {
  let failures = 0;
  for (await seen(signal); !signal.aborted; await seen(signal)) {
    const hiding = new AbortController();
    const hide = () => document.hidden && hiding.abort();
    document.addEventListener("visibilitychange", hide);
    const opened = () => {
      failures = 0;
      onOpen();
    };
    /** @type {number | null} */
    let asked = null;
    try {
      await listen(cursorNow(), { signal: AbortSignal.any([signal, hiding.signal]), onOpen: opened, onMessage });
    } catch (error) {
      const problem = asProblem(error);
      if (signal.aborted || problem.status === 401) return;
      asked = problem.retryAfterSeconds;
      if (!hiding.signal.aborted) onLost(problem);
    } finally {
      document.removeEventListener("visibilitychange", hide);
    }
    failures += 1;
    if (!signal.aborted && !hiding.signal.aborted) await pause(pauseAfter(failures, asked), signal);
  }
}
