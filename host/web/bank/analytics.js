// Interaction events, under consent. Nothing is sent before the person said yes, and an event says which screen and
// what kind, never who, whom, how much or where to.

import * as api from "./api.js";

/** Which text about privacy a person agreed to; raise it when the text changes in meaning. */
const NOTICE_VERSION = "2026-11";

let state = { granted: false, updatedAt: null, isKnown: false };

export async function loadConsent() {
  const { granted, updatedAt } = await api.consent();
  state = { granted, updatedAt, isKnown: true };
  return state;
}

export async function saveConsent(granted) {
  // A no holds from now on, whatever becomes of the request that stores it.
  if (!granted) state = { ...state, granted: false };
  const answer = await api.saveConsent(granted, NOTICE_VERSION);
  state = { granted: answer.granted, updatedAt: answer.updatedAt, isKnown: true };
  return state;
}

export function forgetConsent() {
  state = { granted: false, updatedAt: null, isKnown: false };
}

/** `eventType` is screen_view, nudge_accepted, nudge_dismissed, theme_changed or transfer_completed. */
export function record(eventType, screen) {
  if (!state.granted) return;
  // An event that is lost is no loss to the person, so nobody waits for it and no failure is shown.
  api.sendEvent({ screen, eventType }).catch(() => {});
}
