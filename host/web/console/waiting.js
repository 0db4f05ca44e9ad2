// Payments that their rail has not decided. Operators decide on them by commands.

/** @import { Child } from "../shared/dom.js" */
/** @import { Loaded, Payment } from "./types.js" */
import { h } from "../shared/dom.js";
import { copyButton } from "./copy.js";
import { drawFailure } from "./problems.js";
import { known } from "./state.js";
import { table } from "./table.js";
import { duration, pesos, when } from "./words.js";

/** @param {Payment[]} payments */
function drawTable(payments) {
  const rows = payments.map((it) => [
    h("span", h("code", it.transactionId), copyButton(it.transactionId, `the id of the payment ${it.trackingKey}`)),
    h("span", h("code", it.trackingKey), copyButton(it.trackingKey, `the tracking key ${it.trackingKey}`)),
    [pesos(it.amount), "number"],
    it.rail,
    [duration(it.ageSeconds), "number"],
    [
      it.parkedAt
        ? [h("strong", "awaiting a decision"), " since ", when(it.parkedAt)]
        : ["next check at ", when(it.nextAttemptAt)],
      "words",
    ],
    [it.lastError ?? "–", "words"],
  ]);
  return table({
    label: "Pending payments",
    heads: ["Payment", "Tracking key", ["MXN", "number"], "Rail", ["Age", "number"], "State", "Last error"],
    rows,
    keys: payments.map((it) => it.transactionId),
    className: "waiting",
  });
}

/** Null if the token allows to see none. @param {Loaded<Payment[]> | undefined} part @returns {Child} */
export function drawPayments(part) {
  if (!part) return null;
  if (part.failure) return h("div.notice.bad", drawFailure(part.failure));
  // No rail has what is under review, which is shown as such.
  const reviewed = new Set(known.reviews.get("all")?.data?.map((it) => it.transactionId));
  const payments = (part.data ?? []).filter((it) => !reviewed.has(it.transactionId));
  return payments.length > 0 ? drawTable(payments) : h("p", "None.");
}
