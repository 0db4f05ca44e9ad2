// Privacy: one plain question about usage data, answered with yes or no, changed at any time.

import { loadConsent, saveConsent } from "./analytics.js";
import { announce } from "./announce.js";
import { h, show } from "./dom.js";
import { notice, pair } from "./drawing.js";
import { choiceField } from "./fields.js";
import { drawForm } from "./form.js";
import { load } from "./loading.js";
import { day } from "./times.js";
import { t } from "./words.js";

function stateOf({ granted, updatedAt }) {
  if (!updatedAt) return t("privacy.undecided");
  return t(granted ? "privacy.granted" : "privacy.refused", { day: day(new Date(updatedAt)) });
}

function drawConsent(consent) {
  const state = h("div", null, notice("info", h("p", null, stateOf(consent))));
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
    drafted: false,
    send: async ({ granted }) => {
      const answer = await saveConsent(granted === "true");
      show(state, notice("good", h("p", null, stateOf(answer))));
      announce(stateOf(answer));
    },
  });
  return [
    h(
      "dl",
      { class: "facts wide" },
      pair(t("privacy.what.title"), t("privacy.what")),
      pair(t("privacy.why.title"), t("privacy.why")),
      pair(t("privacy.never.title"), t("privacy.never")),
      pair(t("privacy.end.title"), t("privacy.end")),
    ),
    state,
    form.element,
  ];
}

export const privacyScreen = {
  path: "/privacy",
  name: "privacy",
  title: () => t("privacy.title"),
  draw(place, { signal }) {
    return load(place, { signal, asking: loadConsent, drawing: drawConsent });
  },
};
