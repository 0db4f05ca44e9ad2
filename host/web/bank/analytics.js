// Interaction events, sent only with consent. An event carries a screen and a type, one about a warning also which one it was
// and what the person said the payment is for; never a person, payee or amount.

import * as api from "./api.js";

/** The privacy text that a person agrees to; change it whenever the meaning of that text changes. */
const NOTICE_VERSION = "2026-11-linked";

/** @import { Consent } from "./types.js" */

/** @returns {Consent} */
const noConsent = () => ({ granted: false, updatedAt: null, noticeVersion: null });

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

/**
 * Purposes are in the privacy text since its present version: who agreed to an earlier one did not agree to this.
 * @param {"warning_shown" | "warning_stopped" | "warning_continued" | "fraud_help_opened"} eventType
 * @param {string} screen @param {string} details
 */
export function recordWarning(eventType, screen, details) {
  if (!state.granted || state.noticeVersion !== NOTICE_VERSION) return;
  api.sendEvent({ screen, eventType, details }).catch(() => {});
}
