// Privacy: one question about usage data, answered with yes or no, and changed at any time.

/** @import { Consent, Screen } from "./types.js" */
import { h, show } from "../shared/dom.js";
import { loadConsent, saveConsent } from "./analytics.js";
import { announce } from "./announce.js";
import { notice, pair } from "./drawing.js";
import { choiceField } from "./fields.js";
import { drawForm } from "./form.js";
import { drawLoaded } from "./loading.js";
import { day } from "./times.js";
import { t } from "./words.js";

/** @param {Consent} consent */
function stateOf({ granted, updatedAt }) {
  if (!updatedAt) return t("privacy.undecided");
  return t(granted ? "privacy.granted" : "privacy.refused", { day: day(new Date(updatedAt)) });
}

/** @param {Consent} consent */
function drawConsent(consent) {
  const state = h("div", notice("info", h("p", stateOf(consent))));
  const field = choiceField({
    name: "granted",
    legend: t("privacy.question"),
    value: consent.updatedAt ? String(consent.granted) : null,
    options: [
      { value: "true", label: t("privacy.yes") },
      { value: "false", label: t("privacy.no") },
    ],
    check: (answer) => (answer === null ? t("privacy.empty") : ""),
  });
  const form = drawForm({
    name: "consent",
    fields: [field],
    submit: t("privacy.submit"),
    busy: t("saving"),
    isDrafted: false,
    send: async ({ granted }) => {
      const answer = await saveConsent(granted === "true");
      show(state, notice("good", h("p", stateOf(answer))));
      announce(stateOf(answer));
    },
  });
  return [
    h(
      "dl.facts.wide",
      pair(t("privacy.what.title"), t("privacy.what")),
      pair(t("privacy.why.title"), t("privacy.why")),
      pair(t("privacy.never.title"), t("privacy.never")),
      pair(t("privacy.end.title"), t("privacy.end")),
    ),
    state,
    form.element,
  ];
}

/** @type {Screen} */
export const privacyScreen = {
  path: "/privacy",
  name: "privacy",
  title: () => t("privacy.title"),
  draw(place, { signal }) {
    return drawLoaded(place, { signal, load: loadConsent, draw: drawConsent });
  },
};
