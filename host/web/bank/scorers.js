// The scorers in this page: the bank's own components, as the package brings them. Each kind is asked for once and
// followed while the page is open, so a version that the bank puts in force scores the next time without a reload.
// A kind that is not published is scored by the packaged version; null when there is no model in the page at all.

const PACKAGE = "/scorers/src/browser.js";
const KINDS = ["risk", "nudge", "accessibility"];

/** How often a followed kind is looked at again, apart from before each risk score. */
const EVERY_SECONDS = 30;
/** Longest wait for news of a model before a score: the one at hand is good as well. */
const CHECK_MS_MAX = 1_500;
/** How long after a failure the next use tries again. */
const AGAIN_AFTER_MS = 10_000;

const asked = new Map();

async function find(kind) {
  const { live, load } = await import(PACKAGE);
  try {
    const scorer = await live(kind, { base: location.origin, everySeconds: EVERY_SECONDS });
    return { scorer, isLive: true };
  } catch {
    // Not published, or the host does not answer: the one in the package is better than none.
    return { scorer: await load(kind), isLive: false };
  }
}

/** {scorer, isLive} of a kind, or null. */
function scorerOf(kind) {
  const before = asked.get(kind);
  const isStale = before?.failedAt !== undefined && Date.now() - before.failedAt > AGAIN_AFTER_MS;
  if (before && !isStale) return before.found;
  const entry = {};
  entry.found = find(kind).catch(() => {
    entry.failedAt = Date.now();
    return null;
  });
  asked.set(kind, entry);
  return entry.found;
}

/** Brings all three, before a connection may be lost. */
export function prepare() {
  return Promise.all(KINDS.map(scorerOf));
}

const soon = (promise) =>
  Promise.race([
    promise,
    new Promise((resolve) => {
      setTimeout(resolve, CHECK_MS_MAX);
    }),
  ]);

/**
 * Scores with the version that is in force now, or with the last one that was heard of. Gives the scorer's answer,
 * or null when there is no scorer or it refuses the request.
 */
export async function assess(kind, request, { isFresh = false, ...options } = {}) {
  const found = await scorerOf(kind);
  if (!found) return null;
  if (isFresh && found.isLive) await soon(found.scorer.check().catch(() => {}));
  try {
    return found.scorer.assess(request, options);
  } catch (error) {
    console.warn(`the ${kind} scorer refused`, error);
    return null;
  }
}
