// Transfers that the rules want a person to decide on, whose money is held meanwhile. A person claims one before deciding.

/** @import { Child } from "../shared/dom.js" */
/** @import { Draft } from "./dialog.js" */
/** @import { Change, Loaded, Review } from "./types.js" */
import { h, heard } from "../shared/dom.js";
import * as api from "./api.js";
import { copyButton } from "./copy.js";
import { confirmChange } from "./dialog.js";
import { drawFailure } from "./problems.js";
import { fact, note } from "./table.js";
import { count, duration, money, when } from "./words.js";

/** How long a claim keeps others from claiming. */
const CLAIM_SECONDS = 3_600;
/** More than anybody decides on before the next refresh. */
const SHOWN_MAX = 50;

/** @type {Record<string, { verb: string, decision: "release" | "refuse", isScam: boolean, recorded: string }>} */
const DECISIONS = {
  release: {
    verb: "Release",
    decision: "release",
    isScam: false,
    recorded: "a false alarm: there was nothing wrong with it",
  },
  fraud: {
    verb: "Refuse as fraud",
    decision: "refuse",
    isScam: false,
    recorded: "confirmed fraud: somebody else ordered it",
  },
  scam: {
    verb: "Refuse as scam",
    decision: "refuse",
    isScam: true,
    recorded: "an authorised scam: the customer ordered it, deceived",
  },
};

/** @param {Review} it */
const isOwn = (it) => it.claimedBy !== undefined && it.claimedBy === api.claims().user;

/** By the host's clock. @param {Review} it */
const claimedFor = (it) => it.ageSeconds - (Date.parse(it.claimedAt ?? "") - Date.parse(it.createdAt)) / 1_000;

/** @param {Review} it */
const isClaimable = (it) => !isOwn(it) && (!it.claimedBy || claimedFor(it) >= CLAIM_SECONDS);

/** @param {Review} it */
const whatIs = (it) => `${money(it.amount)} from ${it.payer} to ${it.payee}`;

/** @param {Review} it @returns {Child[]} */
function claimant(it) {
  if (!it.claimedBy) return ["nobody"];
  const ended = isClaimable(it) && ", over an hour ago: anybody may claim it";
  return [h("strong", isOwn(it) ? "you" : it.claimedBy), " since ", when(it.claimedAt), ended];
}

/** @param {Review} it */
function factsOf(it) {
  const { transactionId: id } = it;
  return h(
    "dl.facts",
    fact("Payee’s account", it.payeeBank, " ", h("code", it.payeeNumber)),
    fact("Made", when(it.createdAt), note(`${duration(it.ageSeconds)} ago`)),
    fact("Claimed by", claimant(it)),
    fact("Transfer", h("code.long", id), copyButton(id, `the id of the transfer to ${it.payee}`)),
  );
}

/** What the operator can do with it now. @param {Review} it */
function buttonsFor(it) {
  /** @param {string} act @param {string} text */
  const reviewButton = (act, text) =>
    h(
      "button",
      {
        type: "button",
        class: act === "fraud" || act === "scam" ? "danger" : "main",
        "data-review": act,
        "data-id": it.transactionId,
      },
      text,
      heard(`: ${whatIs(it)}`),
    );
  if (!isOwn(it)) return isClaimable(it) && reviewButton("claim", "Claim");
  const possible = Object.entries(DECISIONS).filter(([, { decision }]) => !it.decision || it.decision === decision);
  return possible.map(([act, { verb }]) => reviewButton(act, verb));
}

/** @param {Review} it */
function drawReview(it) {
  const buttons = buttonsFor(it);
  return h(
    "li.approval",
    { "data-key": it.transactionId },
    h(
      "div",
      h("h3", whatIs(it)),
      it.decision &&
        h(
          "p.notice.bad",
          `The decision to ${it.decision} it was interrupted before its outcome was recorded. The person who claimed it has to repeat it.`,
        ),
      factsOf(it),
    ),
    buttons && h("p.acts", buttons),
  );
}

/** Null if the token allows to see none. @param {Loaded<Review[]> | undefined} part @returns {Child} */
export function drawReviews(part) {
  if (!part) return null;
  if (part.failure) return h("div.notice.bad", drawFailure(part.failure));
  const all = (part.data ?? []).toSorted((a, b) => Number(isOwn(b)) - Number(isOwn(a)));
  if (all.length === 0) return h("p", "None waiting.");
  return [
    all.length > SHOWN_MAX && h("p.hint", `${SHOWN_MAX} of ${count(all.length)}: yours, then the oldest.`),
    h("ul.approvals", all.slice(0, SHOWN_MAX).map(drawReview)),
  ];
}

/** @param {string} act @param {Review} it @returns {Change} */
function changeOf(act, it) {
  const { verb, decision, isScam, recorded } = DECISIONS[act];
  const isRelease = decision === "release";
  return {
    title: `${verb}: ${whatIs(it)}`,
    verb,
    fields: [],
    about: [],
    effects: () => [
      isRelease
        ? `The transfer goes on to ${it.payee}. This is final.`
        : `The money returns to ${it.payer}, and ${it.payee} gets none. This is final.`,
      `It is recorded as ${recorded}.`,
    ],
    send: (_, reason) => api.decideReview(it.transactionId, { decision, reason, isScam }),
    done: () => `${isRelease ? "Released" : "Refused"}, and recorded as ${recorded}.`,
  };
}

/**
 * Resolves with what was done, in a sentence, or null if nothing was, and with what was typed.
 * @param {string} act @param {Review} it @param {Draft | undefined} typed before
 * @returns {Promise<{ done?: string, draft?: Draft }>}
 */
export async function actOn(act, it, typed) {
  if (act === "claim") {
    await api.claimReview(it.transactionId);
    return { done: `Yours to decide for an hour: ${whatIs(it)}.` };
  }
  const { outcome, message, draft } = await confirmChange(changeOf(act, it), "Review", typed, factsOf(it));
  return outcome === "done" ? { done: message } : { draft };
}
