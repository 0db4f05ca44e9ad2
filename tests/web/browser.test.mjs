// The bank's page in Chromium, in front of the real host: one bank for all tests.
//
//   CAUDAL                 the program under test
//   CAUDAL_WEB_SNAPSHOTS   "renew" rewrites the accessibility trees
//   CAUDAL_WEB_SHOTS       a folder outside the repository for screenshots; without it none are taken
//   CAUDAL_WEB_TREE        serves the page's files from the repository instead of the program
//   CAUDAL_WEB_LONG        at 320 pixels too, every screen in every theme at every size, not only the widest

import { after, before, describe } from "node:test";

import { launch } from "../parity/chromium.mjs";
import { startBank } from "./bank.mjs";
import { between } from "./between.mjs";
import { deciding } from "./deciding.mjs";
import { disowning } from "./disowning.mjs";
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

/** What the parts that run beside each other work with: one bank, and each a browser, which has one focus, and a line. */
const stages = [{}, {}, {}];
const [first, second, third] = stages;

before(async () => {
  const bank = await startBank();
  const open = async (stage) => {
    const [browser, line] = await Promise.all([launch(["--lang=es-MX"]), Line.to(bank.service.ledger)]);
    Object.assign(stage, { bank, browser, line });
  };
  await Promise.all(stages.map(open));
});

after(async () => {
  await Promise.all(stages.flatMap(({ browser, line }) => [browser?.close(), line?.close()]));
  await first.bank?.end();
});

// Keys mostly wait for the page; axe keeps one processor busy.
describe("the page", { concurrency: stages.length }, () => {
  describe("by keyboard", { concurrency: 1 }, () => {
    flow(first);
    failures(first);
    nudges(first);
    help(first);
    keeping(first);
  });
  describe("by keyboard, payments", { concurrency: 1 }, () => {
    doubts(second);
    between(second);
    payments(second);
    deciding(second);
    disowning(second);
    home(second);
    fraud(second);
    schedules(second);
    describe("a slow rail", { concurrency: 1 }, () => receipts(second));
  });
  describe("to the eye and the ear", { concurrency: 1 }, () => looks(third));
});

// Alone, because it swaps the champion and stops the bank.
describe("another model", { concurrency: 1 }, () => swap(first));
