// The bank page: which screen is shown, and what happens on the way from one to the next. What a screen does stands
// in its own file; who is signed in, in session.js.

import { record } from "./analytics.js";
import { aloud, announce, hush } from "./announce.js";
import { behaviour } from "./behaviour.js";
import { closeDialogs } from "./dialog.js";
import { at, focusOn, h, show } from "./dom.js";
import { notice } from "./drawing.js";
import { titles } from "./form.js";
import { clearWarning, closeMenu, drawFrame, warnOfEnd } from "./frame.js";
import { drawGuide } from "./guide.js";
import { clearNudge, drawNudge, lookForTrouble, watchForTrouble } from "./nudges.js";
import { endPreview, lookAsRemembered } from "./profile.js";
import { follow, go, pathNow } from "./router.js";
import { signInScreen } from "./screen-sign-in.js";
import { screenOf } from "./screens.js";
import { begin, isSignedIn, watchSession } from "./session.js";
import { drawSteps, STEPS } from "./steps.js";
import { takeWord } from "./word.js";
import { languageNow, speak, t } from "./words.js";

/** The screen that is shown, and the end of what it asked for. */
let screen = null;
/** What went well on the screen before. */
let word = null;
let leaving = new AbortController();
let isFaulty = false;

function drawTitle() {
  const place = screen.step ? [t("steps.at", { step: screen.step, steps: STEPS.length })] : [];
  const title = [screen.title(), ...place, "Caudal"].join(" – ");
  document.title = isFaulty ? `${t("error")}: ${title}` : title;
}

titles.setFaulty = (isNow) => {
  isFaulty = isNow;
  drawTitle();
  if (isNow) lookForTrouble();
};

/** Draws the screen into the page. What was asked for by the one before is not waited for any more. */
function draw() {
  leaving.abort();
  leaving = new AbortController();
  isFaulty = false;
  drawFrame(screen, switchLanguage);
  drawTitle();
  const place = h("div", { class: "screen" });
  show(
    at("main"),
    screen.step && drawSteps(screen.step),
    h(
      "h1",
      { id: "title", tabindex: -1 },
      screen.step && h("span", { class: "eyebrow" }, t("steps.at", { step: screen.step, steps: STEPS.length }), " "),
      screen.title(),
    ),
    word && h("div", { class: "word" }, notice("good", h("p", null, word))),
    place,
    drawGuide(screen.name),
  );
  screen.draw(place, { signal: leaving.signal, go, redraw: draw });
}

/** The sign-in stands in front of any screen; the address keeps which one it is to be. */
function wantedScreen() {
  if (!isSignedIn()) return signInScreen;
  const wanted = screenOf(pathNow());
  const elsewhere = wanted.guard?.();
  if (!elsewhere) return wanted;
  history.replaceState(history.state, "", `#${elsewhere}`);
  return screenOf(elsewhere);
}

function enter({ wentBack = false, isFirst = false } = {}) {
  const wanted = wantedScreen();
  // From a later step to an earlier one is going back, by whichever button.
  const isBehind = screen?.step !== undefined && wanted.step !== undefined && wanted.step < screen.step;
  closeDialogs();
  closeMenu();
  hush();
  clearNudge();
  endPreview();
  screen = wanted;
  word = takeWord();
  draw();
  behaviour.enter({
    name: screen.name,
    step: screen.step,
    steps: screen.step ? STEPS.length : 1,
    wentBack: wentBack || isBehind,
  });
  if (isSignedIn()) record("screen_view", screen.name);
  if (isFirst) return;
  window.scrollTo(0, 0);
  focusOn(at("title"));
  aloud(at("title").textContent);
  if (word) announce(word);
}

function switchLanguage() {
  speak(languageNow() === "en" ? "es-MX" : "en");
  draw();
  drawNudge();
}

at("skip").addEventListener("click", (event) => {
  // The address names the screen; following the link would replace it.
  event.preventDefault();
  at("main").focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && at("menu")?.getAttribute("aria-expanded") === "true") {
    closeMenu();
    at("menu").focus();
  }
});

watchSession({
  sessionChanged() {
    if (!isSignedIn()) clearWarning();
    // Before the first screen there is nothing to draw anew.
    if (screen) enter();
  },
  sessionEnding: warnOfEnd,
});
lookAsRemembered();
await begin();
follow(enter);
enter({ isFirst: true });
watchForTrouble();
