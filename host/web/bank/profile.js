// Applies the stored accessibility profile, and nothing that the person did not choose. Theme and text size are also
// stored in this browser, so that the sign-in screen is readable.

/** @import { Profile } from "./types.js" */
import { setVoice } from "./announce.js";
import * as api from "./api.js";

export const THEMES = ["standard-accessible", "large-text-high-contrast", "voice-assisted"];
export const NUDGING_LEVELS = ["low", "medium", "high"];
export const FONT_SCALE_MIN = 0.8;
export const FONT_SCALE_MAX = 2;
export const FONT_SCALE_STEP = 0.1;

const KEY = "caudal.look";

/** @returns {Profile} */
const defaults = () => ({
  theme: "standard-accessible",
  screenReaderMode: false,
  fontScale: 1,
  nudgingLevel: "medium",
  voiceFeedback: false,
});

let stored = defaults();

/** The profile in force, whatever is previewed. */
export const profileNow = () => stored;

/** @param {Profile} profile */
function apply({ theme, fontScale, screenReaderMode, voiceFeedback }) {
  const root = document.documentElement;
  root.dataset.theme = THEMES.includes(theme) ? theme : THEMES[0];
  const scale = Math.min(FONT_SCALE_MAX, Math.max(FONT_SCALE_MIN, Number(fontScale) || 1));
  root.style.setProperty("--font-scale", String(scale));
  root.dataset.reader = screenReaderMode ? "on" : "off";
  setVoice(voiceFeedback === true);
}

/** Applies a profile without storing it; voice stays off. @param {Profile} profile */
export function preview(profile) {
  apply({ ...profile, voiceFeedback: false });
}

export function endPreview() {
  apply(stored);
}

/** @param {Profile} profile */
function adopt(profile) {
  stored = { ...defaults(), ...profile };
  apply(stored);
  try {
    const { theme, fontScale } = stored;
    localStorage.setItem(KEY, JSON.stringify({ theme, fontScale }));
  } catch {
    // Without storage the sign-in screen has the default look.
  }
}

/** The look that this browser had last, for the sign-in screen. */
export function restoreLook() {
  try {
    stored = { ...defaults(), ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    stored = defaults();
  }
  apply(stored);
}

/** At sign-in. Without an answer the look stays as it is. */
export async function loadProfile() {
  try {
    adopt(await api.profile());
  } catch {
    // Not worth an error: the page works with any look.
  }
}

/** Stores a profile, then applies it. @param {Profile} profile */
export async function saveProfile(profile) {
  adopt(await api.saveProfile(profile));
}
