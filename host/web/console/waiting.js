// What waits for a person: actions for a second operator, and payments that their rail has not decided. Actions are decided
// on here or by a command that can be copied, payments by commands.

/** @import { Child } from "../shared/dom.js" */
/** @import { Approval, Loaded, Payment } from "./types.js" */
import { h, heard } from "../shared/dom.js";
import { copyButton } from "./copy.js";
import { drawFailure } from "./problems.js";
import { table } from "./table.js";
import { duration, list, pesos, sentence, when } from "./words.js";

/** An action in words; what is not known here is shown as it was proposed. @param {Approval["action"]} action @returns {Child} */
function describe({ type, ...rest }) {
  if (type !== "deploy") return [type.replaceAll("-", " "), " ", h("code.long", JSON.stringify(rest))];
  const { champion, canary, shadows = [], despiteSetback, endsCanary } = rest.versions;
  const parts = [
    `Deploy ${champion} for ${rest.kind}`,
    canary && `with the canary ${canary.version} for ${canary.percent}% of users`,
    shadows.length > 0 && `with the shadows ${list(shadows)}`,
    despiteSetback && "although it was withdrawn or rolled back",
    endsCanary && `ending the canary ${endsCanary}`,
  ];
  return sentence(parts.filter(Boolean).join(", "));
}

/** @param {Approval[]} approvals */
function drawApprovals(approvals) {
  const rows = approvals.map((it) => {
    const command = `caudal approvals approve ${it.id} --digest ${it.digest}`;
    return [
      h("span", h("code", it.id), copyButton(command, `the command that approves ${it.id}`)),
      [describe(it.action), "words"],
      [it.reason, "words"],
      it.state === "approved" ? "approved, outcome unknown" : "awaiting approval",
      it.proposedBy,
      [when(it.expiresAt), "time"],
      h(
        "button",
        { type: "button", "data-key": `decide ${it.id}`, "data-decide": it.id },
        "Decide",
        heard(` on ${it.id}`),
      ),
    ];
  });
  return table({
    label: "Pending approvals",
    heads: ["Approval", "Action", "Reason", "State", "Proposed by", "Expires", "Decision"],
    rows,
    keys: approvals.map((it) => it.id),
    className: "waiting",
  });
}

/** @param {Payment[]} payments */
function drawPayments(payments) {
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

/**
 * @template Item
 * @param {string} title @param {string} none @param {Loaded<Item[]> | undefined} part @param {(items: Item[]) => Child} drawn
 */
function drawPart(title, none, part, drawn) {
  if (!part) return null;
  const items = part.data ?? [];
  if (part.failure) return h("div", h("h3", title), h("div.notice.bad", drawFailure(part.failure)));
  return items.length > 0 ? h("div", h("h3", `${title} (${items.length})`), drawn(items)) : h("p", none);
}

/** Null if the token allows to see neither. @param {Loaded<Approval[]> | undefined} approvals @param {Loaded<Payment[]> | undefined} payments */
export function drawWaiting(approvals, payments) {
  if (!approvals && !payments) return null;
  return [
    drawPart("Approvals", "Nothing is waiting for a second operator.", approvals, drawApprovals),
    drawPart("Payments", "No payment is pending.", payments, drawPayments),
  ];
}
