// The decision of a second operator: they read what is proposed, with the evidence that its author saw, and approve or
// withdraw it. The approval repeats the digest of what was read.

/** @import { Child } from "../shared/dom.js" */
/** @import { Approval } from "./types.js" */
import { button, h, markInvalid } from "../shared/dom.js";
import * as api from "./api.js";
import { describe, drawAsked, drawAsProposed } from "./approvals.js";
import { effectsOf } from "./changes.js";
import { openDialog } from "./dialog.js";
import { drawEvidence } from "./evidence.js";
import { update } from "./patch.js";
import { asFailure, drawFailure } from "./problems.js";
import { sentence } from "./words.js";

/** What the author of a change to the models saw of it. @param {Approval["action"]} action @returns {Promise<Child>} */
async function loadEvidence({ kind, versions, rollout }) {
  const [now, past, report] = await Promise.all([
    api.deployment(kind),
    api.history(kind),
    api.report(kind).catch(() => undefined),
  ]);
  const { epoch } = versions ?? rollout;
  const version =
    rollout?.canary ?? (versions.champion === now.champion ? versions.canary?.version : versions.champion);
  const isLate = now.epoch !== epoch;
  const effects = isLate ? [] : effectsOf({ versions, rollout }, now, { past, report });
  return [
    isLate &&
      h(
        "div.notice.bad",
        h("p.title", "The deployment has changed since"),
        h(
          "p",
          `This replaces change ${epoch}, and change ${now.epoch} is in service: approving it will change nothing.`,
        ),
      ),
    version && drawEvidence(version, now, past, { data: report }),
    effects.length > 0 && [
      h("p.lead", "What will happen:"),
      h(
        "ul.effects",
        effects.map((line) => h("li", sentence(line))),
      ),
    ],
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
    const { what, facts, effect } = describe(approval);
    const agreed = h("input", { type: "checkbox", id: "decide-read", "aria-describedby": "decide-fault" });
    const fault = h("p.fault", { id: "decide-fault", role: "alert" });
    const answer = h("div", { role: "alert" });
    const isOfModels = approval.action.kind !== undefined;
    const evidence = h("div.details", isOfModels && h("p", "Loading what is known…"));
    if (isOfModels) {
      loadEvidence(approval.action)
        .then((parts) => update(evidence, parts))
        .catch((error) => update(evidence, h("div.notice.bad", drawFailure(asFailure(error)))));
    }

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
      title: sentence(what),
      isWide: true,
      startsAtTitle: true,
      isBusy: () => isSending,
      onClose: () => resolve(done),
      parts: [
        h(
          "div.details",
          h("dl.facts", facts, drawAsked(approval)),
          effect && h("p", effect),
          evidence,
          drawAsProposed(approval),
          h("p", "Approving carries it out at once, in both names. Withdrawing closes it, and changes nothing."),
          h(
            "div.field",
            h("label.agree", { for: "decide-read" }, agreed, h("span", "I have read what this does")),
            fault,
          ),
          answer,
        ),
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
