// A payment that looks like one of the last minutes: perhaps it was sent in another tab, or twice by mistake.

/** @import { FullDraft, Transfer } from "./types.js" */
import { h } from "../shared/dom.js";
import * as api from "./api.js";
import { notice } from "./drawing.js";
import { addTransfer, known } from "./known.js";
import { writeMoney } from "./money.js";
import { counted, t } from "./words.js";

const MINUTE_MS = 60_000;
const RECENT_MINUTES = 10;
/** More are not sent in that time. */
const RECENT = 20;

/**
 * The last transfer of the same amount to the same payee that did not fail, if it is recent.
 * @param {Pick<FullDraft, "toBeneficiaryId" | "centavos">} draft @param {Transfer[]} history newest first
 */
export const twinOf = ({ toBeneficiaryId, centavos }, history, now = Date.now()) =>
  history.find(
    (it) =>
      it.toBeneficiaryId === toBeneficiaryId &&
      it.centavos === centavos &&
      it.status !== "failed" &&
      now - Date.parse(it.createdAt) < RECENT_MINUTES * MINUTE_MS,
  ) ?? null;

/** A notice of such a transfer, whichever tab or device it was sent from, or null. @param {FullDraft} draft */
export async function findTwin(draft) {
  await api
    .transfers({ limit: RECENT, timeoutMs: api.CONTEXT_TIMEOUT_MS })
    .then(({ transfers }) => transfers.toReversed().forEach(addTransfer))
    .catch(() => {});
  const twin = twinOf(draft, known.history);
  if (!twin) return null;
  const minutes = Math.max(1, Math.round((Date.now() - Date.parse(twin.createdAt)) / MINUTE_MS));
  const about = { amount: writeMoney(draft.centavos), name: draft.payee.name };
  return notice(
    "warn",
    h("h2", { id: "twin-title" }, t("twin.title")),
    h("p", counted("twin", minutes, about)),
    h("p.acts", h("a", { href: `#/history/receipt?id=${twin.id}` }, t("twin.receipt"))),
  );
}
