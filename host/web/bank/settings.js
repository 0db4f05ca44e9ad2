// Every setting of the profile: theme, text size, help, screen reader mode, voice. Changes are previewed at once and stored
// by the button.

import { h, show } from "../shared/dom.js";
import { record } from "./analytics.js";
import { announce, hasVoice } from "./announce.js";
import { notice } from "./drawing.js";
import { choiceField, listField, tickField } from "./fields.js";
import { drawForm } from "./form.js";
import {
  FONT_SCALE_MAX,
  FONT_SCALE_MIN,
  FONT_SCALE_STEP,
  NUDGING_LEVELS,
  preview,
  profileNow,
  saveProfile,
  THEMES,
} from "./profile.js";
import { percent, t } from "./words.js";

function scales() {
  const count = Math.round((FONT_SCALE_MAX - FONT_SCALE_MIN) / FONT_SCALE_STEP) + 1;
  return Array.from({ length: count }, (_, place) => (FONT_SCALE_MIN + place * FONT_SCALE_STEP).toFixed(1));
}

function drawFields() {
  const now = profileNow();
  return [
    choiceField({
      name: "theme",
      legend: t("settings.theme"),
      value: now.theme,
      options: THEMES.map((value) => ({ value, label: t(`theme.${value}`), about: t(`theme.${value}.about`) })),
    }),
    listField({
      name: "fontScale",
      label: t("settings.scale"),
      value: Number(now.fontScale).toFixed(1),
      options: scales().map((value) => ({ value, label: percent(Number(value)) })),
    }),
    choiceField({
      name: "nudgingLevel",
      legend: t("settings.level"),
      value: now.nudgingLevel,
      options: NUDGING_LEVELS.map((value) => ({ value, label: t(`level.${value}`), about: t(`level.${value}.about`) })),
    }),
    tickField({
      name: "screenReaderMode",
      label: t("settings.reader"),
      hint: t("settings.reader.hint"),
      value: now.screenReaderMode,
    }),
    tickField({
      name: "voiceFeedback",
      label: t("settings.voice"),
      hint: t(hasVoice() ? "settings.voice.hint" : "settings.voice.missing"),
      value: now.voiceFeedback,
    }),
  ];
}

export function drawSettings() {
  const status = h("div", { role: "status" });
  const form = drawForm({
    name: "settings",
    fields: drawFields(),
    submit: t("settings.submit"),
    busy: t("saving"),
    isDrafted: false,
    extra: status,
    send: async ({ fontScale, ...values }) => {
      const before = profileNow().theme;
      await saveProfile({ ...values, fontScale: Number(fontScale) });
      if (before !== values.theme) record("theme_changed", "help");
      show(status, notice("good", h("p", t("settings.saved"))));
      announce(t("settings.saved"));
    },
  });
  form.element.addEventListener("change", () => {
    const values = Object.fromEntries(form.fields.map((it) => [it.name, it.read()]));
    preview({ ...profileNow(), ...values, fontScale: Number(values.fontScale) });
    show(status, h("p.status", t("settings.unsaved")));
  });
  return form.element;
}
