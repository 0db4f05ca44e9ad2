// What became of a warning, for the bank to learn which ones help: under the same consent as all usage data, given to the
// text that names it. An outcome carries the variant and the purpose, never a person, payee or amount.

/** @import { Purpose } from "./types.js" */
import { recordWarning } from "./analytics.js";
import { known } from "./known.js";
import { userNow } from "./session.js";
import { variantOf } from "./warning-variants.js";

const SCREEN = "transfer_confirm";

/** The warning that is in sight, until the person sends or leaves. */
let shown = "";

/** How the person's warnings look. */
export const variantNow = () => variantOf(userNow(), known.experiment);

/** @param {Purpose} purpose */
export function warningShown(purpose) {
  shown = `${variantNow().label} ${purpose}`;
  recordWarning("warning_shown", SCREEN, shown);
}

/** After it was shown, the person chose not to send, or sent. @param {"warning_stopped" | "warning_continued"} outcome */
export function warningEnded(outcome) {
  if (shown) recordWarning(outcome, SCREEN, shown);
  shown = "";
}

/** Another payment begins. */
export function forgetWarning() {
  shown = "";
}

/** On a receipt, the person looked up what to do about a fraud. */
export function fraudHelpOpened() {
  recordWarning("fraud_help_opened", "transfer_receipt", variantNow().label);
}
