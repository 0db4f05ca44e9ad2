// Help and accessibility: a few questions, a recommendation, and every setting. Answers are scored in this page and not
// sent anywhere; only chosen settings are stored.

/** @import { AccessibilityRequest } from "../../../components/js/src/index.js" */
/** @import { Screen } from "./types.js" */
import { focusOn, h, show } from "../shared/dom.js";
import { behaviour } from "./behaviour.js";
import { notice } from "./drawing.js";
import { choiceField } from "./fields.js";
import { drawForm } from "./form.js";
import { drawRecommendation } from "./recommendation.js";
import { assess } from "./scorers.js";
import { drawSettings } from "./settings.js";
import { languageNow, t } from "./words.js";

/** The last answers, so that a change of language can redraw the recommendation. In memory only. @type {AccessibilityRequest | null} */
let answers = null;

/** @param {string} name @param {string[]} values */
const choice = (name, values) =>
  choiceField({
    name,
    legend: t(`ask.${name}`),
    options: values.map((value) => ({ value, label: t(`ask.${name}.${value}`) })),
    check: (value) => (value === null ? t(`ask.${name}.empty`) : ""),
  });

/** @param {any} answers @returns {AccessibilityRequest} */
function asRequest({ can_read_small_text: reads, uses_screen_reader: hears, ...rest }) {
  const visit = behaviour.visitFacts();
  return {
    can_read_small_text: reads === "yes",
    uses_screen_reader: hears === "yes",
    ...rest,
    ...visit,
    // Questions that were left out here say nothing of the person.
    total_validation_errors: visit.total_validation_errors - (behaviour.screenFacts()?.num_validation_errors ?? 0),
  };
}

/** @param {() => unknown} onAnswer */
function drawQuestions(onAnswer) {
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
    send: async (values) => {
      answers = asRequest(values);
      await onAnswer();
    },
  });
}

/** @type {Screen} */
export const helpScreen = {
  path: "/help",
  name: "help",
  title: () => t("help.title"),
  draw(place, { signal }) {
    const result = h("div.result");
    const settings = h("div");
    /** @param {HTMLElement} closed */
    const closeWith = (closed) => {
      answers = null;
      show(result, closed);
      // Reading goes on there, and it is in sight.
      focusOn(closed);
    };
    const drawAllSettings = () => show(settings, drawSettings());
    const recommend = async ({ isNew = false } = {}) => {
      if (!answers) return;
      const answer = await assess("accessibility", answers, { isFresh: true, language: languageNow() });
      if (signal.aborted) return;
      show(
        result,
        answer
          ? drawRecommendation(answer, { onSaved: drawAllSettings, onClosed: closeWith })
          : h(
              "div",
              { role: "alert" },
              notice("warn", h("p.title", t("recommended.none.title")), h("p", t("recommended.none"))),
            ),
      );
      if (isNew) result.querySelector("h3")?.focus();
    };
    show(
      place,
      h("p.lead", t("help.lead")),
      h(
        "section.sheet",
        { "aria-labelledby": "ask-title" },
        h("h2", { id: "ask-title" }, t("ask.title")),
        h("p.hint", t("ask.about")),
        drawQuestions(() => recommend({ isNew: true })).element,
        result,
      ),
      h(
        "section.sheet",
        { "aria-labelledby": "settings-title" },
        h("h2", { id: "settings-title", tabindex: -1 }, t("settings.title")),
        h("p.hint", t("settings.about")),
        settings,
      ),
      h(
        "section.sheet",
        { "aria-labelledby": "contact-title" },
        h("h2", { id: "contact-title" }, t("help.scam.title")),
        h(
          "ul",
          [1, 2, 3].map((it) => h("li", t(`help.scam.${it}`))),
        ),
      ),
    );
    drawAllSettings();
    return recommend();
  },
};
