// A recommended profile: reasons, confidence and preview. Nothing changes until the person accepts; voice is a separate
// choice.

/** @import { AccessibilityAnswer } from "../../../components/js/src/index.js" */
import { button, h, show } from "../shared/dom.js";
import { asProblem } from "../shared/problem.js";
import { record } from "./analytics.js";
import { speak } from "./announce.js";
import { details, notice, problemNotice } from "./drawing.js";
import { tickField } from "./fields.js";
import { endPreview, preview, profileNow, saveProfile } from "./profile.js";
import { percent, t } from "./words.js";

/** Below this confidence a recommendation is worded as a suggestion, as the model's card demands. */
const SUGGESTION_BELOW = 0.7;

/** @param {AccessibilityAnswer["recommendation"]} recommendation @param {boolean} voiceFeedback */
function asProfile({ theme, screen_reader_mode, font_scale, nudging_level }, voiceFeedback) {
  return {
    theme,
    screenReaderMode: screen_reader_mode,
    fontScale: font_scale,
    nudgingLevel: nudging_level,
    voiceFeedback,
  };
}

/**
 * `onSaved` is called once the profile is stored, `onClosed` when it is accepted or declined, with what became of it.
 * @param {AccessibilityAnswer} answer @param {{ onSaved: () => void, onClosed: (result: HTMLElement) => void }} hooks
 */
export function drawRecommendation(answer, { onSaved, onClosed }) {
  const { recommendation, confidence, explanation, model_version: modelVersion } = answer;
  const theme = t(`theme.${recommendation.theme}`);
  const isSure = confidence >= SUGGESTION_BELOW;
  const voice =
    recommendation.voice_feedback && !profileNow().voiceFeedback
      ? tickField({ name: "voice", label: t("recommended.voice"), hint: t("recommended.voice.hint") })
      : null;
  const status = h("div", { role: "status" });
  let isShown = false;
  const togglePreview = () => {
    isShown = !isShown;
    const before = toggle.getBoundingClientRect().top;
    toggle.setAttribute("aria-pressed", String(isShown));
    if (isShown) preview(asProfile(recommendation, false));
    else endPreview();
    show(status, h("p.status", t(isShown ? "recommended.previewing" : "recommended.preview.over")));
    // Another size of text moves everything: the button stays under the finger, and the others in sight.
    window.scrollBy({ top: toggle.getBoundingClientRect().top - before, behavior: "instant" });
    acts.scrollIntoView({ block: "nearest", behavior: "instant" });
  };
  const toggle = button(t("recommended.preview"), togglePreview, { "aria-pressed": "false" });
  const accept = async () => {
    const before = profileNow();
    try {
      await saveProfile(asProfile(recommendation, voice ? voice.read() : before.voiceFeedback));
    } catch (error) {
      const problem = asProblem(error);
      if (problem.status !== 401) show(status, problemNotice(problem, accept));
      return;
    }
    if (before.theme !== recommendation.theme) record("theme_changed", "help");
    onSaved();
    onClosed(notice("good", h("p", t("settings.saved"))));
    speak(t("settings.saved"));
  };
  const decline = () => {
    endPreview();
    onClosed(notice("info", h("p", t("recommended.left"))));
    speak(t("recommended.left"));
  };
  const acts = h(
    "div.acts",
    button(t("recommended.yes"), accept, { class: "main" }),
    toggle,
    button(t("recommended.no"), decline, { class: "quiet" }),
  );
  return h(
    "div",
    { class: isSure ? "recommended" : "recommended suggested" },
    h("h3", { tabindex: -1 }, t(isSure ? "recommended.sure" : "recommended.unsure", { theme })),
    h(
      "ul",
      explanation.map((sentence) => h("li", sentence)),
    ),
    !isSure && h("p", t("recommended.suggestion")),
    h(
      "p.hint",
      t("recommended.means", {
        scale: percent(recommendation.font_scale),
        level: t(`level.${recommendation.nudging_level}`).toLowerCase(),
      }),
    ),
    voice?.element,
    status,
    acts,
    details(t("recommended.model", { modelVersion }), t("recommended.confidence", { percent: percent(confidence) })),
  );
}
