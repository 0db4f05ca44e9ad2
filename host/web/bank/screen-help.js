// Help and accessibility: a few questions, a recommendation that the person may take or leave, and every setting by
// hand. Answers are scored in this page and go nowhere; only the settings that somebody chose are stored.

import { behaviour } from "./behaviour.js";
import { h, show } from "./dom.js";
import { notice } from "./drawing.js";
import { choiceField } from "./fields.js";
import { drawForm } from "./form.js";
import { drawRecommendation } from "./recommendation.js";
import { assess } from "./scorers.js";
import { drawSettings } from "./settings.js";
import { languageNow, t } from "./words.js";

/** The last answers, so that a change of language says the same again. In memory only. */
let answers = null;

const choice = (name, values) =>
  choiceField({
    name,
    legend: t(`ask.${name}`),
    options: values.map((value) => ({ value, label: t(`ask.${name}.${value}`) })),
    check: (value) => (value === null ? t(`ask.${name}.empty`) : ""),
  });

function asRequest({ can_read_small_text: reads, uses_screen_reader: hears, ...rest }) {
  return {
    can_read_small_text: reads === "yes",
    uses_screen_reader: hears === "yes",
    ...rest,
    ...behaviour.visitFacts(),
  };
}

function drawQuestions(answered) {
  const fields = [
    choice("can_read_small_text", ["yes", "no"]),
    choice("uses_screen_reader", ["yes", "no"]),
    choice("feels_confident_with_apps", ["low", "medium", "high"]),
    choice("age_range", ["18_30", "31_50", "51_60", "60_plus"]),
  ];
  return drawForm({
    name: "questions",
    fields,
    submit: t("ask.submit"),
    busy: t("ask.busy"),
    drafted: true,
    send: async (values) => {
      answers = asRequest(values);
      await answered({ isNew: true });
    },
  });
}

export const helpScreen = {
  path: "/help",
  name: "help",
  title: () => t("help.title"),
  draw(place, { signal }) {
    const result = h("div", { class: "result" });
    const settings = h("div");
    const drawAllSettings = () => show(settings, drawSettings());
    const answered = async ({ isNew = false } = {}) => {
      const answer = await assess("accessibility", answers, { isFresh: true, language: languageNow() });
      if (signal.aborted) return;
      show(
        result,
        answer
          ? drawRecommendation(answer, { changed: drawAllSettings, declined: () => show(result) })
          : h(
              "div",
              { role: "alert" },
              notice(
                "warn",
                h("p", { class: "title" }, t("recommended.none.title")),
                h("p", null, t("recommended.none")),
              ),
            ),
      );
      if (isNew) result.querySelector("h3")?.focus();
    };
    show(
      place,
      h("p", { class: "lead" }, t("help.lead")),
      h(
        "section",
        { class: "sheet", "aria-labelledby": "ask-title" },
        h("h2", { id: "ask-title" }, t("ask.title")),
        h("p", { class: "hint" }, t("ask.about")),
        drawQuestions(answered).element,
        result,
      ),
      h(
        "section",
        { class: "sheet", "aria-labelledby": "settings-title" },
        h("h2", { id: "settings-title", tabindex: -1 }, t("settings.title")),
        h("p", { class: "hint" }, t("settings.about")),
        settings,
      ),
      h(
        "section",
        { class: "sheet", "aria-labelledby": "contact-title" },
        h("h2", { id: "contact-title" }, t("help.scam.title")),
        h(
          "ul",
          null,
          [1, 2, 3].map((it) => h("li", null, t(`help.scam.${it}`))),
        ),
      ),
    );
    drawAllSettings();
    if (answers) return answered();
    return undefined;
  },
};
