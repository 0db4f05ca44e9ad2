// Signing out reaches every tab of the same person: at once where a tab is awake, and else as soon as it wakes up or is
// restored. Other tabs learn of it from localStorage, where a person is a short digest.

import { digest } from "./device.js";

const KEY = "caudal.left";
/** Since when this tab is signed in. */
const SINCE = "caudal.since";
/** Longer than any session. */
const FORGET_MS = 7 * 24 * 3_600_000;

/** When people signed out, by digest. @returns {Record<string, number>} */
function departures() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}") ?? {};
  } catch {
    return {};
  }
}

/** Begins a session in this tab. */
export function noteArrival(now = Date.now()) {
  sessionStorage.setItem(SINCE, String(now));
}

/** Tells the person's other tabs. @param {string} user */
export function noteDeparture(user, now = Date.now()) {
  sessionStorage.removeItem(SINCE);
  try {
    const recent = Object.entries(departures()).filter(([, at]) => now - at < FORGET_MS);
    localStorage.setItem(KEY, JSON.stringify({ ...Object.fromEntries(recent), [digest(user)]: now }));
  } catch {
    // Without storage each tab is on its own.
  }
}

/** Whether the person has signed out in another tab since this one signed in. @param {string} user */
export function hasLeft(user) {
  const since = Number(sessionStorage.getItem(SINCE) ?? 0);
  return since > 0 && (departures()[digest(user)] ?? 0) > since;
}

/** Calls back whenever the answer may have changed. @param {() => void} check */
export function watchDepartures(check) {
  window.addEventListener("storage", ({ key }) => key === KEY && check());
  window.addEventListener("pageshow", check);
  document.addEventListener("visibilitychange", check);
}
