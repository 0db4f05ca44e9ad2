// The scorers in this page: the bank's own components, from its npm package. Each kind is loaded once and followed while
// the page is open, so a version that the bank activates scores the next request without a reload. For a kind that the
// bank does not publish, the package's own version scores.

/** @import { Explains, live as Live, load as Load, RiskRequest } from "../../../components/js/src/index.js" */
/** @import { Answers } from "./types.js" */
import { timeout } from "./timeout.js";

const PACKAGE = "/scorers/dist/entry/page.js";

/** How often to look for another version, apart from before each risk score. */
const CHECK_EVERY_SECONDS = 30;
/** Longest wait for that before a score: the loaded version will do. */
const CHECK_TIMEOUT_MS = 1_500;
/** Pause between a failure to load and the next attempt. */
const RETRY_AFTER_MS = 10_000;

/** @typedef {{ assess: (request: any, options: any) => any, explain?: Explains["explain"], check?: () => Promise<boolean> }} Scorer */

/** @type {Map<string, { scorer: Promise<Scorer | null>, failedAt?: number }>} */
const loaded = new Map();

/** @param {any} kind @returns {Promise<Scorer>} */
async function find(kind) {
  /** @type {{ live: typeof Live, load: typeof Load }} */
  const { live, load } = await import(PACKAGE);
  try {
    return await live(kind, { base: location.origin, everySeconds: CHECK_EVERY_SECONDS });
  } catch {
    return load(kind);
  }
}

/** @param {string} kind */
function scorerOf(kind) {
  const before = loaded.get(kind);
  const isStale = before?.failedAt !== undefined && Date.now() - before.failedAt > RETRY_AFTER_MS;
  if (before && !isStale) return before.scorer;
  /** @type {{ scorer: Promise<Scorer | null>, failedAt?: number }} */
  const entry = {
    scorer: find(kind).catch(() => {
      entry.failedAt = Date.now();
      return null;
    }),
  };
  loaded.set(kind, entry);
  return entry.scorer;
}

/** Loads those that payments need while there is a connection. Display settings can wait for one. */
export function loadScorers() {
  return Promise.all(["risk", "nudge"].map(scorerOf));
}

/**
 * Scores with the latest known version; `isFresh` asks for a later one first. Null without a scorer, or if it refuses the
 * request.
 * @template {keyof Answers} Kind
 * @param {Kind} kind @param {Answers[Kind]["request"]} request @param {{ isFresh?: boolean, language?: string }} options
 * @returns {Promise<Answers[Kind]["answer"] | null>}
 */
export async function assess(kind, request, { isFresh = false, ...options } = {}) {
  const scorer = await scorerOf(kind);
  if (!scorer) return null;
  if (isFresh && scorer.check) await Promise.race([scorer.check().catch(() => {}), timeout(CHECK_TIMEOUT_MS)]);
  try {
    return scorer.assess(request, options);
  } catch (error) {
    console.warn(`the ${kind} scorer failed`, error);
    return null;
  }
}

/** A risk once more, with what weighed how much in it; null if the version that scored it has gone. @param {RiskRequest} request @param {string | null} modelVersion */
export async function explain(request, modelVersion) {
  const scorer = await scorerOf("risk");
  const explained = await scorer?.explain?.(request).catch(() => null);
  return explained?.model_version === modelVersion ? explained : null;
}
