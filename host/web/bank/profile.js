// How the page looks and behaves for a person: the stored accessibility profile, applied. What was chosen decides;
// nothing here turns anything on by itself. Theme and text size are remembered in this browser too, so that the
// sign-in screen can be read before there is a person.

import { setVoice } from "./announce.js";
import * as api from "./api.js";

export const THEMES = ["standard-accessible", "large-text-high-contrast", "voice-assisted"];
export const NUDGING_LEVELS = ["low", "medium", "high"];
/** Text sizes that a profile may hold. */
export const FONT_SCALE_MIN = 0.8;
export const FONT_SCALE_MAX = 2;
export const FONT_SCALE_STEP = 0.1;

const REMEMBERED = "caudal.look";

const usual = () => ({
  theme: "standard-accessible",
  screenReaderMode: false,
  fontScale: 1,
  nudgingLevel: "medium",
  voiceFeedback: false,
});

let stored = usual();

/** The profile in force, without a preview. */
export const profileNow = () => stored;

function look({ theme, fontScale, screenReaderMode, voiceFeedback }) {
  const root = document.documentElement;
  root.dataset.theme = THEMES.includes(theme) ? theme : THEMES[0];
  const scale = Math.min(FONT_SCALE_MAX, Math.max(FONT_SCALE_MIN, Number(fontScale) || 1));
  root.style.setProperty("--font-scale", String(scale));
  root.dataset.reader = screenReaderMode ? "on" : "off";
  setVoice(voiceFeedback === true);
}

/** Shows how it would be; nothing is kept. */
export function preview(profile) {
  look({ ...profile, voiceFeedback: false });
}

/** Shows the profile in force again. */
export function endPreview() {
  look(stored);
}

function adopt(profile) {
  stored = { ...usual(), ...profile };
  look(stored);
  try {
    const { theme, fontScale } = stored;
    localStorage.setItem(REMEMBERED, JSON.stringify({ theme, fontScale }));
  } catch {
    // Then the sign-in screen looks as usual.
  }
}

/** Before anybody has signed in: how this browser looked last. */
export function lookAsRemembered() {
  try {
    stored = { ...usual(), ...JSON.parse(localStorage.getItem(REMEMBERED) ?? "{}") };
  } catch {
    stored = usual();
  }
  look(stored);
}

/** At sign-in. Without an answer the page stays as it looks. */
export async function loadProfile() {
  try {
    adopt(await api.profile());
  } catch {
    // Not worth an error: the page works in any look.
  }
}

/** Keeps a profile for good, and applies it once it is kept. */
export async function saveProfile(profile) {
  adopt(await api.saveProfile(profile));
}

/** After the person has left: their voice and their level of help are theirs. */
export function forgetProfile() {
  lookAsRemembered();
}
