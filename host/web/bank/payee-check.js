// Confirmation of payee: whether an account is in the name that the person was given. Asked once for each name and number,
// and never in the way: without an answer everything goes on as before.

/** @import { Payee, PayeeCheck } from "./types.js" */
import { h } from "../shared/dom.js";
import * as api from "./api.js";
import { isOwnNumber } from "./banks.js";
import { normalise, readNumber } from "./clabe.js";
import { confirmed } from "./dialog.js";
import { notice } from "./drawing.js";
import { checkOf, isConfirmed, noteCheck } from "./payee-names.js";
import { nameWarning } from "./payee-warnings.js";
import { t } from "./words.js";

/** @type {PayeeCheck} */
const UNAVAILABLE = { result: "unavailable" };

/** @param {Pick<Payee, "name" | "accountNumber">} payee @returns {Promise<PayeeCheck>} */
export async function checkPayee({ name, accountNumber }) {
  const payee = { name, accountNumber };
  const { kind, checks } = readNumber(accountNumber);
  if (kind !== "clabe" || !checks) return UNAVAILABLE;
  const before = checkOf(payee);
  if (before) return before;
  try {
    const check = await api.checkPayee(payee);
    noteCheck(payee, check);
    return check;
  } catch {
    // Too many of them, or no connection: the next time it is asked again.
    return UNAVAILABLE;
  }
}

/** Whether to save a payee: where the name is not the holder's, the person decides. @param {Pick<Payee, "name" | "accountNumber">} payee */
export async function maySave(payee) {
  const { result } = await checkPayee(payee);
  const warning = nameWarning(payee);
  if (!warning) return true;
  const advice = t(result === "no-match" ? "check.differs.about" : "check.close.about");
  return confirmed({
    title: t(result === "no-match" ? "check.differs.title" : "check.close.title"),
    about: notice("warn", h("p.title", warning), h("p", advice)),
    no: t("check.correct"),
    yes: t("check.save"),
    warns: true,
  });
}

/** What is known of the name at the review: SPEI itself compares none. Beside a red warning nothing is green. @param {Payee} payee @param {boolean} isRed */
export function drawName(payee, isRed) {
  if (!isConfirmed(payee)) {
    const isWithin = isOwnNumber(normalise(payee.accountNumber));
    // Where this bank has compared it, the warning has said so.
    if (isWithin && nameWarning(payee)) return null;
    return notice("info", h("p", t(isWithin ? "review.within" : "review.spei")));
  }
  return notice(isRed ? "info" : "good", h("p", t("check.match", { name: payee.name })));
}
