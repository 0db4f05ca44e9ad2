// When help may be offered unasked: once a screen and session, not soon after somebody waved it away, and not more
// than the person's nudging level allows. Pure: time comes in, nothing is drawn.

const MINUTE_MS = 60_000;

/** What each stored nudging level allows: which kinds of help, and how long it keeps quiet after a dismissal. */
export const LEVELS = {
  low: { kinds: ["assist"], quietMs: 15 * MINUTE_MS },
  medium: { kinds: ["assist", "info"], quietMs: 5 * MINUTE_MS },
  high: { kinds: ["assist", "info"], quietMs: 1 * MINUTE_MS },
};

/** A fresh memory of what was offered in a session. */
export function noOffers() {
  return { offered: new Set(), dismissedAt: null };
}

/** Whether an answer of the nudge scorer is to be shown now. `warning` never is: it means that nobody needs help. */
export function mayOffer(memory, { screen, result, level, now }) {
  const { kinds, quietMs } = LEVELS[level] ?? LEVELS.medium;
  if (!result?.needs_help || !kinds.includes(result.recommended_nudge_type)) return false;
  if (memory.offered.has(screen)) return false;
  return memory.dismissedAt === null || now - memory.dismissedAt >= quietMs;
}

export function offered(memory, screen) {
  memory.offered.add(screen);
}

export function dismissed(memory, now) {
  memory.dismissedAt = now;
}
