// Interaction events, sent only with consent. An event carries a screen and a type; never a person, payee or amount.

import * as api from "./api.js";

/** The privacy text that a person agrees to; change it whenever the meaning of that text changes. */
const NOTICE_VERSION = "2026-11-usage";

/** @import { Consent } from "./types.js" */

/** @returns {Consent} */
const noConsent = () => ({ granted: false, updatedAt: null });

let state = noConsent();

export async function loadConsent() {
  state = await api.consent();
  return state;
}

/** @param {boolean} granted */
export async function saveConsent(granted) {
  // Withdrawing consent takes effect immediately, even if storing it fails.
  if (!granted) state = { ...state, granted: false };
  state = await api.saveConsent(granted, NOTICE_VERSION);
  return state;
}

export function forgetConsent() {
  state = noConsent();
}

/**
 * @param {"screen_view" | "nudge_accepted" | "nudge_dismissed" | "theme_changed" | "transfer_completed"} eventType
 * @param {string} screen
 */
export function record(eventType, screen) {
  if (!state.granted) return;
  // Losing an event costs the person nothing: do not wait for it, and show no failure.
  api.sendEvent({ screen, eventType }).catch(() => {});
}
