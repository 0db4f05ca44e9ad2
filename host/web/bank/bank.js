// The bank's page: shows one screen at a time and handles the change to the next.

/** @import { Screen } from "./types.js" */
import { at, focusOn, h, show } from "../shared/dom.js";
import { record } from "./analytics.js";
import { announce, clearAnnouncement, speak } from "./announce.js";
import { behaviour } from "./behaviour.js";
import { closeDialogs } from "./dialog.js";
import { notice, skeleton } from "./drawing.js";
import { takeFlash } from "./flash.js";
import { hooks } from "./form.js";
import { clearWarning, closeMenu, drawFrame, warnOfExpiry } from "./frame.js";
import { drawGuide } from "./guide.js";
import { bringNudge, checkForTrouble, clearNudge, drawNudge, watchForTrouble } from "./nudges.js";
import { keepShell } from "./offline.js";
import { endPreview, restoreLook } from "./profile.js";
import { follow, go, pathNow } from "./router.js";
import { signInScreen } from "./screen-sign-in.js";
import { screenOf } from "./screens.js";
import { isSignedIn, watchSession } from "./session.js";
import { resume } from "./sign-in.js";
import { drawSteps, STEPS } from "./steps.js";
import { languageNow, setLanguage, t } from "./words.js";

/** Sooner it would only flicker. */
const SKELETON_AFTER_MS = 400;

/** @type {Screen | null} */
let screen = null;
let flash = "";
/** Aborted when the person leaves the screen. */
let leaving = new AbortController();
let isFaulty = false;

/** @param {Screen} shown */
const stepText = ({ step }) => t("steps.at", { step, steps: STEPS.length });

function drawTitle() {
  if (!screen) return;
  const place = screen.step ? [stepText(screen)] : [];
  const title = [screen.title(), ...place, "Caudal"].join(" – ");
  document.title = isFaulty ? `${t("error")}: ${title}` : title;
}

/** @param {Screen} shown */
const heading = (shown) => [shown.step ? h("span.eyebrow", stepText(shown), " ") : null, shown.title()];

/** Writes what a screen has found out about itself; the focus stays. */
function retitle() {
  if (!screen) return;
  show(at("title"), heading(screen));
  drawTitle();
}

hooks.setFaulty = (isNow, place) => {
  isFaulty = isNow;
  drawTitle();
  if (!isNow) return;
  if (place) bringNudge(place);
  checkForTrouble();
};

function draw() {
  if (!screen) return;
  leaving.abort();
  leaving = new AbortController();
  isFaulty = false;
  drawFrame(screen, switchLanguage);
  drawTitle();
  const place = h("div.screen");
  show(
    at("main"),
    screen.step ? drawSteps(screen.step) : null,
    h("h1", { id: "title", tabindex: -1 }, heading(screen)),
    flash && h("div.flash", notice("good", h("p", flash))),
    place,
    drawGuide(screen.name),
  );
  screen.draw(place, { signal: leaving.signal, go, redraw: draw, retitle });
}

/** Until someone signs in, the sign-in screen; the address still names the screen that follows. */
function wantedScreen() {
  if (!isSignedIn()) return signInScreen;
  const wanted = screenOf(pathNow());
  // An address that names no screen becomes the one of the screen that is shown.
  const elsewhere = wanted.path === pathNow().split("?")[0] ? wanted.guard?.() : wanted.path;
  if (!elsewhere) return wanted;
  history.replaceState(history.state, "", `#${elsewhere}`);
  return screenOf(elsewhere);
}

function enter({ wentBack = false, isFirst = false } = {}) {
  const wanted = wantedScreen();
  // Returning to an earlier step counts as going back, whichever button does it.
  const isBehind = (wanted.step ?? Infinity) < (screen?.step ?? 0);
  closeDialogs();
  closeMenu();
  clearAnnouncement();
  clearNudge();
  endPreview();
  screen = wanted;
  flash = takeFlash();
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
  speak(at("title").textContent ?? "");
  if (flash) announce(flash);
}

function switchLanguage() {
  setLanguage(languageNow() === "en" ? "es-MX" : "en");
  draw();
  drawNudge();
}

at("skip").addEventListener("click", (event) => {
  // Following the link would leave the screen, since the address names screens.
  event.preventDefault();
  at("main").focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && closeMenu()) at("menu").focus();
});

watchSession({
  onChange() {
    if (!isSignedIn()) clearWarning();
    if (screen) enter();
  },
  onExpiring: warnOfExpiry,
  onExtended: clearWarning,
});
restoreLook();
// Coming back from the provider takes several requests.
const slow = setTimeout(() => show(at("main"), skeleton()), SKELETON_AFTER_MS);
await resume();
clearTimeout(slow);
follow(enter);
enter({ isFirst: true });
watchForTrouble();
keepShell();
