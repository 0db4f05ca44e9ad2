// What an unusual payment is for: asked before any warning, because a warning that fits is read and a general one is not.
// The answer stays in this tab, for this payment.

/** @import { Form, FullDraft, Purpose } from "./types.js" */
import { h } from "../shared/dom.js";
import { choiceField } from "./fields.js";
import { setFlash } from "./flash.js";
import { drawForm } from "./form.js";
import { summaryOf } from "./risk-notice.js";
import { PURPOSES } from "./warning-rules.js";
import { t } from "./words.js";

/** @type {{ payment: string, purpose: Purpose, at: number } | null} */
let answered = null;

/** @param {FullDraft} draft */
const paymentOf = ({ fromAccountId, toBeneficiaryId, centavos }) =>
  JSON.stringify([fromAccountId, toBeneficiaryId, centavos]);

/** What the person answered about this payment, and when (ms), or null. @param {FullDraft} draft */
export const answerTo = (draft) => (answered?.payment === paymentOf(draft) ? answered : null);

/** @param {FullDraft} draft @param {Purpose} purpose */
export function answer(draft, purpose, at = Date.now()) {
  answered = { payment: paymentOf(draft), purpose, at };
}

export function forgetAnswer() {
  answered = null;
}

/** The way out, which comes first and looks like the way on, or better. */
export function drawNotNow({ isMain = false } = {}) {
  const leave = () => {
    forgetAnswer();
    setFlash(t("warning.stopped"));
  };
  return h("a", { class: isMain ? "button main" : "button", href: "#/accounts", onClick: leave }, t("warning.not-now"));
}

/** @param {FullDraft} draft @param {() => void} done */
export function drawQuestion(draft, done) {
  const field = choiceField({
    name: "purpose",
    legend: t("warning.question.title"),
    options: PURPOSES.map((it) => ({ value: it, label: t(`purpose.${it}`) })),
    check: (purpose) => (purpose === null ? t("warning.question.empty") : ""),
  });
  /** @type {Form} */
  const form = drawForm({
    name: "purpose",
    fields: [field],
    isDrafted: false,
    submit: t("continue"),
    submitClass: null,
    beside: drawNotNow(),
    send: ({ purpose }) => {
      answer(draft, purpose);
      done();
    },
  });
  return h("section.asked", h("p", t("warning.question", summaryOf(draft))), form.element);
}
