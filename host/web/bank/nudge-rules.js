// When help may be offered unasked: once per screen and session, not soon after a dismissal, and no more often than the
// person's nudging level allows.

/** @import { NudgeAnswer } from "../../../components/js/src/index.js" */

const MINUTE_MS = 60_000;

/**
 * What each nudging level allows: kinds of help, and the pause after a dismissal.
 * @type {Record<string, { kinds: string[], quietMs: number }>}
 */
export const LEVELS = {
  low: { kinds: ["assist"], quietMs: 15 * MINUTE_MS },
  medium: { kinds: ["assist", "info"], quietMs: 5 * MINUTE_MS },
  high: { kinds: ["assist", "info"], quietMs: 1 * MINUTE_MS },
};

/**
 * @typedef {{ offered: Set<string>, dismissedAt: number | null }} Offers  screens where help was offered
 * @returns {Offers}
 */
export const noOffers = () => ({ offered: new Set(), dismissedAt: null });

/**
 * Whether to show an answer of the nudge scorer now. `warning` is never shown: it means that no help is needed.
 * @param {Offers} offers
 * @param {{ screen: string, result: Partial<NudgeAnswer["result"]> | undefined, level: string, now: number }} moment
 */
export function mayOffer(offers, { screen, result, level, now }) {
  const { kinds, quietMs } = LEVELS[level] ?? LEVELS.medium;
  if (!result?.needs_help || !kinds.includes(result.recommended_nudge_type ?? "")) return false;
  if (offers.offered.has(screen)) return false;
  return offers.dismissedAt === null || now - offers.dismissedAt >= quietMs;
}
