// Loads what the draft names, after a reload of the tab: the draft itself stores ids only.

import { choose, draftNow, setFault } from "./draft.js";
import { accountOf, known, loadAccounts, loadPayees, payeeOf } from "./known.js";
import { checkPayee } from "./payee-check.js";
import { t } from "./words.js";

/** False when account or payee is gone; why is kept for the step where another one is chosen. Throws a Problem. */
export async function loadDraft() {
  const { fromAccountId, toBeneficiaryId, payee } = draftNow();
  await Promise.all([known.accounts ?? loadAccounts(), known.payees ?? loadPayees()]);
  if (!accountOf(fromAccountId)) {
    setFault("fromAccountId", t("fault.account-not-found"));
    return false;
  }
  const found = payee ?? payeeOf(toBeneficiaryId);
  if (!found) {
    setFault("toBeneficiaryId", t("fault.beneficiary-not-found"));
    return false;
  }
  await checkPayee(found);
  choose({ payee: found });
  return true;
}
