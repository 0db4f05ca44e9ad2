// Saying things without moving the focus: in a live region for screen readers, and aloud where a person turned on
// voice feedback. Voice is only ever on because somebody asked for it.

import { at, show } from "./dom.js";
import { languageNow } from "./words.js";

/** A live region that gets the same text twice stays silent; emptying it first takes a moment. */
const SETTLE_MS = 60;

let isVoiceOn = false;
let waiting = 0;

export function setVoice(isOn) {
  isVoiceOn = isOn;
  if (!isOn) globalThis.speechSynthesis?.cancel();
}

export const hasVoice = () => "speechSynthesis" in globalThis;

/** Says it aloud, if the person wants that. */
export function aloud(text) {
  if (!isVoiceOn || !hasVoice() || !text) return;
  const said = new SpeechSynthesisUtterance(text);
  said.lang = languageNow() === "en" ? "en-US" : "es-MX";
  speechSynthesis.cancel();
  speechSynthesis.speak(said);
}

/** Another screen: what was said about the last one is not left standing. */
export function hush() {
  clearTimeout(waiting);
  show(at("announcements"));
}

/** Tells screen readers politely, and says it aloud where that is wanted. */
export function announce(text) {
  const place = at("announcements");
  show(place);
  clearTimeout(waiting);
  waiting = setTimeout(() => show(place, text), SETTLE_MS);
  aloud(text);
}
