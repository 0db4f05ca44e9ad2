// Offering help unasked: asks the scorer in this page how hard a screen seems to be for the person, and says so
// politely at the side. It never takes the focus, can be waved away, and keeps quiet as the rules say.

import { record } from "./analytics.js";
import { aloud } from "./announce.js";
import { behaviour } from "./behaviour.js";
import { at, button, focusOn, h, show } from "./dom.js";
import { hasGuide, openGuide } from "./guide.js";
import { dismissed, mayOffer, noOffers, offered } from "./nudge-rules.js";
import { profileNow } from "./profile.js";
import { assess } from "./scorers.js";
import { t } from "./words.js";

/** Often enough to notice within a breath, rarely enough not to matter to the machine. */
const LOOK_EVERY_MS = 5_000;
const KEPT = "caudal.offers";

/** What is shown now, so that a change of language can write it anew. */
let shown = null;

function remembered() {
  const memory = noOffers();
  try {
    const { offered: screens, dismissedAt } = JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
    if (Array.isArray(screens)) memory.offered = new Set(screens);
    if (Number.isFinite(dismissedAt)) memory.dismissedAt = dismissedAt;
  } catch {
    // Then it begins anew.
  }
  return memory;
}

const memory = remembered();

function keepMemory() {
  sessionStorage.setItem(KEPT, JSON.stringify({ offered: [...memory.offered], dismissedAt: memory.dismissedAt }));
}

/** Another screen: what was offered for the last one is over. */
export function clearNudge() {
  shown = null;
  show(at("nudge"));
}

function close() {
  const hadFocus = at("nudge").contains(document.activeElement);
  clearNudge();
  // Back to the screen rather than to nowhere.
  if (hadFocus) focusOn(at("title"));
}

function accept() {
  record("nudge_accepted", shown.screen);
  close();
  openGuide();
}

function wave() {
  record("nudge_dismissed", shown.screen);
  dismissed(memory, Date.now());
  keepMemory();
  close();
}

export function drawNudge() {
  if (!shown) return;
  const { kind, screen, modelVersion } = shown;
  const says = kind === "assist" ? t("nudge.assist") : t(`hint.${screen}`);
  show(
    at("nudge"),
    h(
      "div",
      { class: `offer ${kind}` },
      h("p", { class: "title" }, t(`nudge.${kind}.title`)),
      h("p", null, says),
      h(
        "p",
        { class: "acts" },
        button(t(`nudge.${kind}.yes`), accept, { class: "small" }),
        button(t("nudge.no"), wave, { class: "quiet small" }),
      ),
      h("p", { class: "model" }, t("nudge.model", { modelVersion })),
    ),
  );
}

/** Asks once; also called when an error has just been shown. */
export async function lookForTrouble() {
  const facts = behaviour.screenFacts();
  if (facts === null || shown !== null || !hasGuide(facts.screen) || document.hidden) return;
  if (memory.offered.has(facts.screen) || document.querySelector("dialog[open]")) return;
  const answer = await assess("nudge", facts);
  const isSame = behaviour.screenFacts()?.screen === facts.screen;
  const { screen } = facts;
  const level = profileNow().nudgingLevel;
  if (!isSame || shown !== null || !mayOffer(memory, { screen, result: answer?.result, level, now: Date.now() }))
    return;
  offered(memory, screen);
  keepMemory();
  shown = { screen, kind: answer.result.recommended_nudge_type, modelVersion: answer.model_version };
  drawNudge();
  aloud(t(`nudge.${shown.kind}.title`));
}

export function watchForTrouble() {
  setInterval(lookForTrouble, LOOK_EVERY_MS);
  document.addEventListener("visibilitychange", () => (document.hidden ? behaviour.away() : behaviour.returned()));
}
