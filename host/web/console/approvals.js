// Actions that take two operators, in words: who asks for what, for whom, how much, and what it replaces. What was proposed
// is covered by the digest that an approval repeats.

/** @import { Child } from "../shared/dom.js" */
/** @import { Approval, Loaded } from "./types.js" */
import { h, heard } from "../shared/dom.js";
import { copyButton } from "./copy.js";
import { drawFailure } from "./problems.js";
import { known } from "./state.js";
import { fact, table } from "./table.js";
import { duration, list, money, percent, sentence, version, when } from "./words.js";

/** @type {Record<string, { act: string, effect: string }>} */
const PAYMENTS = {
  "settle-payment": {
    act: "Settle the payment",
    effect: "The payment counts as made. This is final: it gives no money back, even if the other bank never got it.",
  },
  "refuse-payment": {
    act: "Refuse the payment",
    effect:
      "The payment counts as failed, and the payer gets the money back. This is final: if the rail still pays it, the bank loses the money.",
  },
  reverse: {
    act: "Reverse the payment",
    effect: "The payer gets the money back, although the payment was completed. It comes from where it went.",
  },
  "book-payment": {
    act: "Book the payment",
    effect: "The payer’s account is debited for a payment that the rail made and the ledger does not have.",
  },
};

/** @type {Record<string, string>} */
const OUTCOMES = {
  executed: "✓ carried out",
  withdrawn: "✕ withdrawn",
  expired: "✕ expired",
};

/** Whether somebody can still decide on it, or has to find out what became of it. @param {Approval} it */
export const isOpenApproval = (it) => it.state === "pending" || it.state === "approved";

/** @param {string} kind */
const nameOf = (kind) => kind.replaceAll("-", " ");

/** 10.00 MXN → 20.00 MXN @param {unknown} before @param {unknown} after */
const change = (before, after) =>
  before === after
    ? `${money(before, "default")}, as before`
    : [`${money(before, "default")} → `, h("strong", money(after, "default"))];

/** The versions that it deploys. @param {any} versions @param {string} kind */
function deployment({ champion, canary, shadows = [], cutOffs, despiteSetback, endsCanary, forkReport }, kind) {
  const parts = [
    `Deploy ${champion} for ${nameOf(kind)}`,
    canary && `with the canary ${canary.version} for ${percent(canary.percent)} of users`,
    shadows.length > 0 && `with the shadows ${list(shadows)}`,
    cutOffs && "with other cut-offs",
    despiteSetback && "although it was withdrawn or rolled back",
    endsCanary && `ending the canary ${endsCanary}`,
    forkReport && `with the consequences in the fork report ${forkReport}`,
  ];
  return parts.filter(Boolean).join(", ");
}

/**
 * A sentence, and the facts that it leaves out. What is not known here is shown as it was proposed.
 * @param {Approval} approval @returns {{ what: string, facts: Child[], effect?: string }}
 */
export function describe({ action }) {
  const { type, kind, versions, rollout, payment, user, limits = {} } = action;
  const now = known.deployments.get(kind)?.champion;
  const champion = now && fact("Champion now", version(now));
  if (versions) {
    const { before, after } = versions.cutOffs ?? {};
    const from = (/** @type {string} */ name) => [`${before[name]} → `, h("strong", String(after[name]))];
    const levels = after && [fact("Medium from", from("medium_from")), fact("High from", from("high_from"))];
    return { what: deployment(versions, kind), facts: [champion, levels] };
  }
  if (rollout) {
    const setback = rollout.despiteSetback ? ", although it was withdrawn or rolled back" : "";
    const bounds = `failed ${percent(rollout.maxFailurePercent)}, changed class ${percent(rollout.maxFlipPercent)}, cost ${percent(rollout.maxFuelPercent)} of the champion’s`;
    return {
      what: `Roll ${rollout.canary} out for ${nameOf(kind)} to ${list(rollout.steps.map(percent))} of users${setback}`,
      facts: [
        champion,
        fact("Each step", `${rollout.stepDecisions} decisions and ${duration(rollout.stepSeconds)} at least`),
        fact("At most", bounds),
        rollout.onViolation === "pause" && fact("Beyond that", "It pauses, and the canary keeps its share"),
        rollout.forkReport && fact("Fork report", h("code.long", rollout.forkReport)),
      ],
    };
  }
  if (payment && PAYMENTS[type]) return describePayment(type, payment);
  if (type === "fund") {
    const { owner, accountNumber, balance } = action.account;
    return {
      what: `Credit ${money(action.amount)} to an account of ${owner}`,
      facts: [
        fact("Account", h("code", accountNumber)),
        fact("Balance", change(balance, Math.round((Number(balance) + Number(action.amount)) * 100) / 100)),
      ],
      effect: "The money comes from the bank’s own funds.",
    };
  }
  if (type === "set-limits") {
    const old = action.before;
    const values = [
      ["Per transfer", old.perTransfer, limits.perTransfer],
      ["Per day", old.perDay, limits.perDay],
    ];
    return {
      what: `Set the limits of ${user}`,
      facts: values.map(([term, before, after]) => fact(term, change(numberOf(before), numberOf(after)))),
      effect: "The limits apply to the next transfer.",
    };
  }
  return { what: type.replaceAll("-", " "), facts: [] };
}

/** Amounts are numbers or texts. @param {unknown} amount */
const numberOf = (amount) => (amount === undefined || amount === null ? undefined : Number(amount));

/** @param {string} type @param {any} payment as it was proposed */
function describePayment(type, payment) {
  const { act, effect } = PAYMENTS[type];
  const { payer, payee: to, createdAt } = payment;
  const from = payer ? ` from ${payer}` : "";
  return {
    what: `${act} of ${money(payment.amount)}${from}${to ? ` to ${to}` : ""}`,
    facts: [
      fact("Payee’s number", h("code", payment.payeeNumber)),
      createdAt && fact("Made", when(createdAt)),
      fact("Status", payment.status),
      fact("Tracking key", h("code", payment.trackingKey), copyButton(payment.trackingKey, "the tracking key")),
      payment.lastAnswer && fact("Last answer of the rail", payment.lastAnswer),
    ],
    effect,
  };
}

/** Why, by whom and until when. @param {Approval} it */
export function drawAsked(it) {
  return [
    fact("Reason", h("q", it.reason)),
    fact("Proposed by", h("strong", it.proposedBy), ", ", when(it.proposedAt)),
    fact("Expires", when(it.expiresAt)),
  ];
}

/** The action byte for byte, for who compares digests or works on a command line. @param {Approval} it */
export function drawAsProposed(it) {
  const command = `caudal approvals approve ${it.id} --digest ${it.digest}`;
  return h(
    "details",
    { "data-keeps": "open" },
    h("summary", "As it was proposed"),
    h("p.hint", "Digest ", h("code.long", it.digest), copyButton(it.digest, "the digest")),
    h("pre.command", h("code", JSON.stringify(it.action, null, 2))),
    h("p.hint", "To approve it on a command line: ", h("code.long", command), copyButton(command, "the command")),
  );
}

/** @param {Approval} it */
function drawCard(it) {
  const { what, facts } = describe(it);
  return h(
    "li.approval",
    { "data-key": it.id },
    h(
      "div",
      h("h3", sentence(what)),
      it.state === "approved" &&
        h("p.notice.bad", "Approved, but the outcome is unknown. Approving again goes on with it."),
      h("dl.facts", facts, drawAsked(it)),
      drawAsProposed(it),
    ),
    h("button.main", { type: "button", "data-decide": it.id }, "Decide", heard(` on: ${what}`)),
  );
}

/** @param {Approval[]} approvals */
function drawDecided(approvals) {
  const rows = approvals.map((it) => [
    [sentence(describe(it).what), "words"],
    [h("q", it.reason), "words"],
    it.proposedBy,
    [OUTCOMES[it.state], "outcome"],
    it.decidedBy ?? "–",
    [when(it.executedAt ?? it.decidedAt ?? it.expiresAt), "time"],
  ]);
  return h(
    "details",
    { "data-keeps": "open", "data-key": "decided" },
    h("summary", `Decided (${approvals.length})`),
    table({
      label: "Decided approvals",
      heads: ["Action", "Reason", "Proposed by", "Outcome", "Decided by", "When"],
      rows,
      keys: approvals.map((it) => it.id),
      className: "decided",
    }),
  );
}

/** Null if the token allows to see none. @param {Loaded<Approval[]> | undefined} part @returns {Child} */
export function drawApprovals(part) {
  if (!part) return null;
  if (part.failure) return h("div.notice.bad", drawFailure(part.failure));
  const [open, decided] = [true, false].map((is) => (part.data ?? []).filter((it) => isOpenApproval(it) === is));
  return [
    open.length > 0 ? h("ul.approvals", open.map(drawCard)) : h("p", "None waiting."),
    decided.length > 0 && drawDecided(decided),
  ];
}
