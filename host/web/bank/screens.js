// Every screen of the page, by path.

/** @import { Screen } from "./types.js" */
import { accountsScreen } from "./screen-accounts.js";
import { helpScreen } from "./screen-help.js";
import { historyScreen } from "./screen-history.js";
import { moveScreen } from "./screen-move.js";
import { openAccountScreen } from "./screen-open-account.js";
import { addPayeeScreen } from "./screen-payee.js";
import { editPayeeScreen } from "./screen-payee-edit.js";
import { payeesScreen } from "./screen-payees.js";
import { privacyScreen } from "./screen-privacy.js";
import { scheduleScreen } from "./screen-schedule.js";
import { scheduleAnswerScreen } from "./screen-schedule-answer.js";
import { schedulesScreen } from "./screen-schedules.js";
import { amountScreen } from "./screen-transfer-amount.js";
import { partiesScreen } from "./screen-transfer-parties.js";
import { pastReceiptScreen, receiptScreen } from "./screen-transfer-receipt.js";
import { reviewScreen } from "./screen-transfer-review.js";

/** @type {Screen[]} */
const SCREENS = [
  accountsScreen,
  openAccountScreen,
  moveScreen,
  partiesScreen,
  amountScreen,
  reviewScreen,
  receiptScreen,
  scheduleScreen,
  schedulesScreen,
  scheduleAnswerScreen,
  payeesScreen,
  addPayeeScreen,
  editPayeeScreen,
  historyScreen,
  pastReceiptScreen,
  helpScreen,
  privacyScreen,
];

/** @type {Screen[]} */
export const NAVIGATION = [
  accountsScreen,
  partiesScreen,
  schedulesScreen,
  payeesScreen,
  historyScreen,
  helpScreen,
  privacyScreen,
];

/** The screen of a path, or else the accounts. @param {string} path */
export function screenOf(path) {
  const plain = path.split("?")[0];
  return SCREENS.find((it) => it.path === plain) ?? accountsScreen;
}
