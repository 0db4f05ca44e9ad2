// Every screen of the page by its address. A screen is {path, name, title(), draw(place, tools)}, and where it needs
// them: `nav`, the entry that stays marked; `step`, its place in a flow; `guard()`, which gives the address to go to
// instead when this screen makes no sense now.

import { accountsScreen } from "./screen-accounts.js";
import { helpScreen } from "./screen-help.js";
import { historyScreen } from "./screen-history.js";
import { openAccountScreen } from "./screen-open-account.js";
import { addPayeeScreen } from "./screen-payee.js";
import { payeesScreen } from "./screen-payees.js";
import { privacyScreen } from "./screen-privacy.js";
import { amountScreen } from "./screen-transfer-amount.js";
import { partiesScreen } from "./screen-transfer-parties.js";
import { receiptScreen } from "./screen-transfer-receipt.js";
import { reviewScreen } from "./screen-transfer-review.js";

const SCREENS = [
  accountsScreen,
  openAccountScreen,
  partiesScreen,
  amountScreen,
  reviewScreen,
  receiptScreen,
  payeesScreen,
  addPayeeScreen,
  historyScreen,
  helpScreen,
  privacyScreen,
];

/** What the navigation leads to, in its order. */
export const NAVIGATION = [accountsScreen, partiesScreen, payeesScreen, historyScreen, helpScreen, privacyScreen];

/** The screen of an address; the accounts for one that names none. */
export function screenOf(path) {
  const plain = path.split("?")[0];
  return SCREENS.find((it) => it.path === plain) ?? accountsScreen;
}
