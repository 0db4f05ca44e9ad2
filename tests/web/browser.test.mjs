// The bank's page in Chromium, in front of the real host: one bank and one browser for all tests.
//
//   CAUDAL                 the program under test
//   CAUDAL_WEB_SNAPSHOTS   "renew" rewrites the accessibility trees
//   CAUDAL_WEB_SHOTS       a folder outside the repository for screenshots; without it none are taken
//   CAUDAL_WEB_TREE        serves the page's files from the repository instead of the program
//   CAUDAL_WEB_LONG        at 320 pixels too, every screen in every theme at every size, not only the widest

import { after, before, describe } from "node:test";

import { launch } from "../parity/chromium.mjs";
import { startBank } from "./bank.mjs";
import { doubts } from "./doubts.mjs";
import { failures } from "./failures.mjs";
import { flow } from "./flow.mjs";
import { fraud } from "./fraud.mjs";
import { help } from "./help.mjs";
import { home } from "./home.mjs";
import { keeping } from "./keeping.mjs";
import { Line } from "./line.mjs";
import { looks } from "./looks.mjs";
import { nudges } from "./nudges.mjs";
import { payments } from "./payments.mjs";
import { receipts } from "./receipts.mjs";
import { schedules } from "./schedules.mjs";
import { swap } from "./swap.mjs";

/** What every part works with: one bank and browser, and a line for each part that runs beside another. */
const stage = {};
const beside = {};

before(async () => {
  const [bank, browser] = await Promise.all([startBank(), launch(["--lang=es-MX"])]);
  const lines = await Promise.all([Line.to(bank.service.ledger), Line.to(bank.service.ledger)]);
  Object.assign(stage, { bank, browser, line: lines[0] });
  Object.assign(beside, { bank, browser, line: lines[1] });
});

after(async () => {
  await stage.browser?.close();
  await Promise.all([stage.line?.close(), beside.line?.close()]);
  await stage.bank?.end();
});

// axe keeps one processor busy for about as long as the tests that press keys take.
describe("the page", { concurrency: 2 }, () => {
  describe("by keyboard", { concurrency: 1 }, () => {
    flow(stage);
    failures(stage);
    nudges(stage);
    help(stage);
    keeping(stage);
    doubts(stage);
    payments(stage);
    home(stage);
    fraud(stage);
    schedules(stage);
  });
  describe("to the eye and the ear", { concurrency: 1 }, () => looks(beside));
});

describe("a slow rail", { concurrency: 1 }, () => receipts(stage));

// Alone, because it swaps the champion and stops the bank.
describe("another model", { concurrency: 1 }, () => swap(stage));
