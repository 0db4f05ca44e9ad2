// A transfer's receipt: its outcome in words, its facts, and the same as a text to share.

/** @import { Account, Payee, Transfer, TransferState } from "./types.js" */
import { button, h, show } from "../shared/dom.js";
import { announce } from "./announce.js";
import { isOwnNumber } from "./banks.js";
import { lastFour } from "./clabe.js";
import { moment, money, notice, number, numberTerm, pair, payeeName, typeName } from "./drawing.js";
import { reasonOf } from "./journal.js";
import { writeMoney } from "./money.js";
import { remittancePairs } from "./remittance.js";
import { nameNow } from "./session.js";
import { clock, day } from "./times.js";
import { t } from "./words.js";

/** @type {Record<TransferState, "good" | "info" | "bad" | "warn">} */
const MOODS = { completed: "good", pending: "info", failed: "bad", returned: "warn" };

/** What has become of the transfer, and why. @param {Transfer} transfer @param {TransferState} state @param {string} name */
export function drawOutcome({ id, beneficiaryAccountNumber }, state, name) {
  const isWithin = state === "completed" && isOwnNumber(beneficiaryAccountNumber ?? "");
  const reason = state === "failed" || state === "returned" ? reasonOf(id) : null;
  return notice(
    MOODS[state],
    h("p", t(isWithin ? "receipt.within" : `receipt.${state}`, { name })),
    reason && h("p", t("receipt.reason", { reason })),
  );
}

/**
 * Where the money went, as the transfer itself has it: the payee may be deleted since, or have another name.
 * @param {Transfer} transfer @param {Payee | null} payee
 */
export function payeeAsSent({ beneficiaryName, beneficiaryBank, beneficiaryAccountNumber }, payee) {
  return {
    name: beneficiaryName ?? payee?.name ?? t("history.unnamed"),
    bank: beneficiaryBank ?? payee?.bankName ?? null,
    number: beneficiaryAccountNumber ?? payee?.accountNumber ?? null,
  };
}

/**
 * The facts. `payee` is null if it was deleted, `status` is filled in as it changes, and `key` has the tracking key.
 * @param {Transfer} transfer
 * @param {{ payee: Payee | null, account: Account | null, status: HTMLElement, key: HTMLElement }} about
 */
export function drawReceipt(transfer, { payee, account, status, key }) {
  const { centavos, createdAt } = transfer;
  const { name, bank, number: digits } = payeeAsSent(transfer, payee);
  return h(
    "div.sheet.receipt",
    h(
      "dl.facts.review",
      h("div.amount", h("dt", t("receipt.amount")), h("dd", money(centavos, "money large"))),
      h("div", h("dt", t("receipt.status")), status),
      pair(t("review.to"), h("strong", payee?.name === name ? payeeName(payee) : name)),
      bank && pair(t("review.bank"), bank),
      digits && pair(numberTerm(digits), number(digits)),
      nameNow() !== "" && h("div.on-paper", h("dt", t("receipt.from")), h("dd", nameNow())),
      account && pair(t("review.from"), typeName(account.accountType), h("br"), number(account.accountNumber)),
      remittancePairs(transfer),
      pair(t("receipt.time"), moment(createdAt, { withSeconds: true }), " ", t("time.zone")),
      key,
    ),
  );
}

/** The receipt as a text, without what only the sender should know. @param {Transfer} transfer @param {TransferState} state @param {Payee | null} payee */
export function writeReceipt(transfer, state, payee) {
  const { centavos, createdAt, concept, speiReference } = transfer;
  const { name, bank, number: digits } = payeeAsSent(transfer, payee);
  const at = new Date(createdAt);
  /** @type {[string, string | null | undefined][]} */
  const lines = [
    [t("receipt.amount"), writeMoney(centavos)],
    [t("receipt.status"), t(`status.${state}`)],
    [t("receipt.from"), nameNow()],
    [t("review.to"), name],
    [t("review.bank"), bank],
    [numberTerm(digits ?? ""), digits && t("number.ending", { four: lastFour(digits) })],
    [t("concept.label"), concept],
    [t("receipt.time"), `${t("time.full", { day: day(at), clock: clock(at) })} ${t("time.zone")}`],
    [t("receipt.reference"), speiReference],
  ];
  const told = lines.filter(([, value]) => value).map(([term, value]) => `${term}: ${value}`);
  return ["Caudal", t(`receipt.${state}.title`), ...told].join("\n");
}

/** A button that hands a text on to another app, or else copies it. @param {() => string} write */
export function shareButton(write) {
  const status = h("span", t("receipt.share"));
  const share = async () => {
    const text = write();
    try {
      if (typeof navigator.share === "function") await navigator.share({ text });
      else {
        await navigator.clipboard.writeText(text);
        show(status, t("receipt.shared"));
        announce(t("receipt.shared"));
      }
    } catch (error) {
      // Closing the list of apps is no failure.
      const isLeft = error instanceof DOMException && error.name === "AbortError";
      if (!isLeft) show(status, t("home.not-copied"));
    }
  };
  return button(status, share);
}
