// A recommended way for the page to look and behave: why, how sure, how it would look, and a yes that is needed before
// anything changes. Voice is never part of the yes: it is asked for by itself.

import { record } from "./analytics.js";
import { announce } from "./announce.js";
import { button, h, show } from "./dom.js";
import { problemNotice } from "./drawing.js";
import { tickField } from "./fields.js";
import { endPreview, preview, profileNow, saveProfile } from "./profile.js";
import { t } from "./words.js";

/** Below this confidence a recommendation is worded as a suggestion; the model's card says the same. */
const SUGGESTION_BELOW = 0.7;

function asProfile({ theme, screen_reader_mode, font_scale, nudging_level }, voiceFeedback) {
  return {
    theme,
    screenReaderMode: screen_reader_mode,
    fontScale: font_scale,
    nudgingLevel: nudging_level,
    voiceFeedback,
  };
}

const percent = (share) => `${Math.round(share * 100)}\u00a0%`;

/** `changed()` is called when it was taken and stored, `declined()` when it was left. */
export function drawRecommendation(
  { recommendation, confidence, explanation, model_version: modelVersion },
  { changed, declined },
) {
  const theme = t(`theme.${recommendation.theme}`);
  const isSure = confidence >= SUGGESTION_BELOW;
  const voice =
    recommendation.voice_feedback && !profileNow().voiceFeedback
      ? tickField({ name: "voice", label: t("recommended.voice"), hint: t("recommended.voice.hint") })
      : null;
  const said = h("div", { role: "status" });
  let isShown = false;
  const see = h("button", { type: "button", "aria-pressed": "false" }, t("recommended.preview"));
  see.addEventListener("click", () => {
    isShown = !isShown;
    see.setAttribute("aria-pressed", String(isShown));
    if (isShown) preview(asProfile(recommendation, false));
    else endPreview();
    show(said, h("p", { class: "status" }, t(isShown ? "recommended.previewing" : "recommended.preview.over")));
  });
  const take = async () => {
    const before = profileNow();
    try {
      await saveProfile(asProfile(recommendation, voice ? voice.read() : before.voiceFeedback));
    } catch (problem) {
      if (problem.status !== 401) show(said, problemNotice(problem, take));
      return;
    }
    if (before.theme !== recommendation.theme) record("theme_changed", "help");
    changed();
    declined();
    announce(t("settings.saved"));
    document.getElementById("settings-title").focus();
  };
  const leave = () => {
    endPreview();
    declined();
    announce(t("recommended.left"));
    document.getElementById("ask-title").setAttribute("tabindex", "-1");
    document.getElementById("ask-title").focus();
  };
  return h(
    "div",
    { class: isSure ? "recommended" : "recommended suggested" },
    h("h3", { tabindex: -1 }, t(isSure ? "recommended.sure" : "recommended.unsure", { theme })),
    h(
      "ul",
      null,
      explanation.map((sentence) => h("li", null, sentence)),
    ),
    h(
      "p",
      null,
      t(isSure ? "recommended.confidence" : "recommended.confidence.unsure", { percent: percent(confidence) }),
    ),
    h(
      "p",
      { class: "hint" },
      t("recommended.means", {
        scale: percent(recommendation.font_scale),
        level: t(`level.${recommendation.nudging_level}`).toLowerCase(),
      }),
    ),
    voice?.element,
    h(
      "div",
      { class: "acts" },
      button(t("recommended.yes"), take, { class: "main" }),
      see,
      button(t("recommended.no"), leave, { class: "quiet" }),
    ),
    said,
    h("p", { class: "model" }, t("recommended.model", { modelVersion })),
  );
}
