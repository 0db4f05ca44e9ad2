// The decision of a second operator: they read the action as it was proposed, with the digest that the approval repeats, and
// approve or reject it.

/** @import { Approval } from "./types.js" */
import { button, h, markInvalid } from "../shared/dom.js";
import * as api from "./api.js";
import { copyButton } from "./copy.js";
import { openDialog } from "./dialog.js";
import { update } from "./patch.js";
import { asFailure, drawFailure } from "./problems.js";
import { when } from "./words.js";

/** @param {string} term @param {import("../shared/dom.js").Child[]} about */
const fact = (term, ...about) => h("div", h("dt", term), h("dd", about));

/** @param {Approval} it */
function drawAction(it) {
  return [
    h(
      "dl.facts",
      fact("Proposed by", it.proposedBy),
      fact("Expires", when(it.expiresAt)),
      fact("Reason", h("q", it.reason)),
      fact("Digest", h("code.long", it.digest), copyButton(it.digest, "the digest")),
    ),
    h("h3", { id: "action-title" }, "The action"),
    h(
      "pre.command",
      { tabindex: 0, role: "region", "aria-labelledby": "action-title" },
      h("code", JSON.stringify(it.action, null, 2)),
    ),
  ];
}

/**
 * Resolves with what was done, in a sentence, or null if nothing was.
 * @param {Approval} approval @returns {Promise<string | null>}
 */
export function decide(approval) {
  return new Promise((resolve) => {
    /** @type {string | null} */
    let done = null;
    let isSending = false;
    const agreed = h("input", { type: "checkbox", id: "decide-read", "aria-describedby": "decide-fault" });
    const fault = h("p.fault", { id: "decide-fault", role: "alert" });
    const answer = h("div", { role: "alert" });

    /** @param {() => Promise<unknown>} act @param {string} sentence */
    const send = async (act, sentence) => {
      if (isSending) return;
      isSending = true;
      update(answer);
      try {
        await act();
        done = sentence;
        dialog.close();
      } catch (error) {
        update(answer, h("div.notice.bad", drawFailure(asFailure(error))));
        answer.scrollIntoView({ block: "nearest" });
      } finally {
        isSending = false;
      }
    };
    const approve = () => {
      const isRead = agreed.checked;
      update(fault, isRead ? "" : "Tick the box to confirm that you have read the action, or cancel.");
      markInvalid(agreed, !isRead);
      if (isRead) send(() => api.approve(approval.id, approval.digest), "Approved and carried out.");
      else agreed.focus();
    };
    const dialog = openDialog({
      eyebrow: "Waiting for a second operator",
      title: "Approve or withdraw",
      isWide: true,
      startsAtTitle: true,
      isBusy: () => isSending,
      onClose: () => resolve(done),
      parts: [
        drawAction(approval),
        h(
          "p",
          "Approving carries out the action immediately and records both names. Withdrawing closes the action without changing anything.",
        ),
        h(
          "div.field",
          h("label.agree", { for: "decide-read" }, agreed, h("span", "I have read the action and its digest")),
          fault,
        ),
        answer,
        h(
          "div.choice",
          button("Cancel", () => isSending || dialog.close()),
          button("Withdraw", () => send(() => api.withdraw(approval.id), "Withdrawn: nothing was changed."), {
            class: "danger",
          }),
          button("Approve", approve, { class: "main" }),
        ),
      ],
    });
  });
}
