// Announcements that leave the focus where it is: in a live region for screen readers and, for people who turned voice
// feedback on, by speech synthesis.

import { at, show } from "../shared/dom.js";
import { languageNow } from "./words.js";

/** A live region stays silent when its text does not change, so it is emptied first, and this long. */
const SETTLE_MS = 60;

let isVoiceOn = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** @param {boolean} isOn */
export function setVoice(isOn) {
  isVoiceOn = isOn;
  if (!isOn) globalThis.speechSynthesis?.cancel();
}

export const hasVoice = () => "speechSynthesis" in globalThis;

/** Speaks a text if the person turned voice feedback on. @param {string} text */
export function speak(text) {
  if (!isVoiceOn || !hasVoice() || !text) return;
  const utterance = new SpeechSynthesisUtterance(text);
  utterance.lang = languageNow() === "en" ? "en-US" : "es-MX";
  speechSynthesis.cancel();
  speechSynthesis.speak(utterance);
}

/** Drops announcements about the screen that was left. */
export function clearAnnouncement() {
  clearTimeout(timer);
  show(at("announcements"));
}

/** @param {string} text */
export function announce(text) {
  const place = at("announcements");
  show(place);
  clearTimeout(timer);
  timer = setTimeout(() => show(place, text), SETTLE_MS);
  speak(text);
}
