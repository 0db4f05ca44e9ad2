// Offers help unasked: the scorer in this page says how hard a screen seems to be for the person. An offer appears at the
// side, never takes the focus, and can be dismissed.

import { at, button, focusOn, h, show } from "../shared/dom.js";
import { record } from "./analytics.js";
import { speak } from "./announce.js";
import { behaviour } from "./behaviour.js";
import { isUnsettled } from "./draft.js";
import { details } from "./drawing.js";
import { hasGuide, openGuide } from "./guide.js";
import { mayOffer, noOffers } from "./nudge-rules.js";
import { profileNow } from "./profile.js";
import { assess } from "./scorers.js";
import { t } from "./words.js";

const CHECK_EVERY_MS = 5_000;
const KEY = "caudal.offers";

/** The current offer, so that a change of language can redraw it. @type {{ screen: string, kind: string, modelVersion: string } | null} */
let offer = null;

function storedOffers() {
  const offers = noOffers();
  try {
    const { offered: screens, dismissedAt } = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
    if (Array.isArray(screens)) offers.offered = new Set(screens);
    if (Number.isFinite(dismissedAt)) offers.dismissedAt = dismissedAt;
  } catch {
    // Start over.
  }
  return offers;
}

const offers = storedOffers();

function storeOffers() {
  sessionStorage.setItem(KEY, JSON.stringify({ offered: [...offers.offered], dismissedAt: offers.dismissedAt }));
}

/** What is shown of it. @type {HTMLElement | null} */
let shown = null;

export function clearNudge() {
  offer = null;
  shown?.remove();
}

/** Moves an offer that is out of sight, or that stood among earlier errors, to the present errors. @param {HTMLElement} place */
export function bringNudge(place) {
  if (offer === null || shown === null) return;
  if (!shown.isConnected || shown.getBoundingClientRect().top > window.innerHeight) place.append(shown);
}

function close() {
  const hadFocus = shown?.contains(document.activeElement);
  clearNudge();
  // Back to the screen, or the focus would be lost.
  if (hadFocus) focusOn(at("title"));
}

export function drawNudge() {
  if (!offer) return;
  const { kind, screen, modelVersion } = offer;
  const accept = () => {
    record("nudge_accepted", screen);
    close();
    openGuide();
  };
  const dismiss = () => {
    record("nudge_dismissed", screen);
    offers.dismissedAt = Date.now();
    storeOffers();
    close();
  };
  const text = kind === "assist" ? t("nudge.assist") : t(`hint.${screen}`);
  shown?.remove();
  shown = h(
    "div",
    { class: `offer ${kind}` },
    h("p.title", t(`nudge.${kind}.title`)),
    h("p", text),
    h(
      "p.acts",
      button(t(`nudge.${kind}.yes`), accept, { class: "small" }),
      button(t("nudge.no"), dismiss, { class: "quiet small" }),
    ),
    details(t("nudge.model", { modelVersion })),
  );
  show(at("nudge"), shown);
}

/**
 * Checks once; also called when an error has just been shown. While it is unknown whether a transfer was sent, nothing is
 * offered: the hints say that nothing has been sent yet.
 */
export async function checkForTrouble() {
  const facts = behaviour.screenFacts();
  if (facts === null || offer !== null || !hasGuide(facts.screen) || document.hidden) return;
  if (offers.offered.has(facts.screen) || document.querySelector("dialog[open]") || isUnsettled()) return;
  const answer = await assess("nudge", facts);
  const isSame = behaviour.screenFacts()?.screen === facts.screen;
  const { screen } = facts;
  const level = profileNow().nudgingLevel;
  if (!answer || !isSame || offer !== null || isUnsettled()) return;
  if (!mayOffer(offers, { screen, result: answer.result, level, now: Date.now() })) return;
  offers.offered.add(screen);
  storeOffers();
  offer = { screen, kind: answer.result.recommended_nudge_type, modelVersion: answer.model_version };
  drawNudge();
  speak(t(`nudge.${offer.kind}.title`));
}

export function watchForTrouble() {
  setInterval(checkForTrouble, CHECK_EVERY_MS);
  document.addEventListener("visibilitychange", () => (document.hidden ? behaviour.hidden() : behaviour.visible()));
}
