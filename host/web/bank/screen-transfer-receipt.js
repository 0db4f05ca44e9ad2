// Transfer, step 4: its outcome, which changes in front of the person, and the key to track it by. The address names the
// transfer; the same receipt opens from the statement, where it is no step.

/** @import { Screen, Tools, Transfer, TransferState } from "./types.js" */
import { button, h, show } from "../shared/dom.js";
import { asProblem, Problem } from "../shared/problem.js";
import { announce } from "./announce.js";
import * as api from "./api.js";
import { drawCep } from "./cep.js";
import { copyPair } from "./copying.js";
import { drawDeciding } from "./deciding.js";
import { noteOutcomes } from "./device.js";
import { drawDisowning } from "./disowning.js";
import { startWith } from "./draft.js";
import { followJournal, stateOf } from "./journal.js";
import { accountOf, addTransfer, known, loadAccounts, loadPayees, payeeOf } from "./known.js";
import { drawLoaded } from "./loading.js";
import { drawOutcome, drawReceipt, shareButton, writeReceipt } from "./receipt.js";
import { pathNow } from "./router.js";
import { userNow } from "./session.js";
import { t } from "./words.js";

const idNow = () => new URLSearchParams(pathNow().split("?")[1]).get("id") ?? "";

/** @param {string} id */
const transferOf = (id) => known.history.find((it) => it.id === id) ?? null;

/** The transfer as the ledger has it now, or a Problem. @param {string} id */
async function loadTransfer(id) {
  try {
    const transfer = await api.transfer(id);
    addTransfer(transfer);
    noteOutcomes(userNow(), [transfer]);
    return transfer;
  } catch (error) {
    const problem = asProblem(error);
    throw problem.status === 404 ? new Problem({ status: 404, code: "transfer-not-found" }) : problem;
  }
}

/** What the receipt names besides; it is complete enough without. */
async function loadParties() {
  await Promise.all([loadAccounts(), known.payees ?? loadPayees()]).catch(() => {});
}

/** Whether the money is back with the sender. @param {TransferState} state */
const isBack = (state) => state === "failed" || state === "returned";

function title() {
  const transfer = transferOf(idNow());
  return t(transfer ? `receipt.${stateOf(transfer)}.title` : "receipt.title");
}

/** The receipt of a loaded transfer, kept up to date until the person leaves. @param {Transfer} loaded @param {Tools} tools */
function drawLive(loaded, { signal, go, retitle }) {
  let transfer = loaded;
  /** @type {TransferState | null} */
  let shown = null;
  const outcome = h("div");
  const cep = h("div.flow");
  const again = h("a.button.main", { href: "#/transfer/parties" });
  const about = { payee: payeeOf(loaded.toBeneficiaryId), account: accountOf(loaded.fromAccountId) };
  const connection = h("p.status", { role: "status" });
  const status = h("dd");
  const key = copyPair(t("receipt.reference"), loaded.speiReference ?? "");
  const name = loaded.beneficiaryName ?? t("history.unnamed");

  const redraw = () => {
    const state = stateOf(transfer);
    const isFirst = shown === null;
    const isNews = !isFirst && shown !== state;
    shown = state;
    show(outcome, drawOutcome(transfer, state, name));
    show(status, t(`status.${state}`));
    show(again, t(isBack(state) ? "receipt.correct" : "receipt.again"));
    // Otherwise it stays, with a button that may have the focus.
    if (isFirst || state === "failed") {
      const forBanxico = drawCep(transfer, state, about);
      show(cep, forBanxico);
      // Once is enough.
      key.hidden = forBanxico !== null || !loaded.speiReference;
    }
    retitle();
    if (state !== "pending") show(connection);
    if (isNews) announce(t(`receipt.${state}.title`));
  };
  const refresh = async () => {
    try {
      transfer = await loadTransfer(transfer.id);
    } catch (error) {
      // Whatever it is, the next attempt follows; a 401 is the session's.
      asProblem(error);
    }
    if (!signal.aborted) redraw();
  };
  followJournal({
    signal,
    onOpen: () => {
      show(connection);
      refresh();
    },
    onNews: (ids) => {
      if (ids.includes(transfer.id) && !signal.aborted) refresh();
    },
    onLost: () => {
      if (signal.aborted) return;
      if (stateOf(transfer) === "pending") show(connection, t("receipt.lost"));
      refresh();
    },
  });

  again.addEventListener("click", (event) => {
    event.preventDefault();
    const { fromAccountId, toBeneficiaryId, centavos, concept = null, numericReference = null } = transfer;
    const same = { fromAccountId, toBeneficiaryId, payee: about.payee, centavos, concept, numericReference };
    startWith(isBack(stateOf(transfer)) ? same : {});
    go("/transfer/parties");
  });
  redraw();
  return [
    outcome,
    connection,
    drawReceipt(loaded, { ...about, status, key }),
    cep,
    h(
      "p.acts",
      again,
      shareButton(() => writeReceipt(transfer, stateOf(transfer), about.payee)),
      h("a.button", { href: `#/history?account=${loaded.fromAccountId}` }, t("receipt.history")),
      button(t("receipt.print"), () => window.print()),
    ),
    drawDeciding(loaded),
    drawDisowning(loaded, signal),
  ];
}

/** @type {Omit<Screen, "path" | "nav">} */
const receipt = {
  name: "transfer_receipt",
  title,
  guard: () => (idNow() ? null : "/history"),
  draw(place, tools) {
    const id = idNow();
    return drawLoaded(place, {
      signal: tools.signal,
      lines: 5,
      load: async () => {
        const [transfer] = await Promise.all([loadTransfer(id), loadParties()]);
        return transfer;
      },
      fallback: () => transferOf(id),
      draw: (transfer) => drawLive(transfer, tools),
    });
  },
};

/** @type {Screen} */
export const receiptScreen = { ...receipt, path: "/transfer/receipt", nav: "/transfer/parties", step: 4 };

/** @type {Screen} */
export const pastReceiptScreen = { ...receipt, path: "/history/receipt", nav: "/history" };
