// The bank page in Chromium in front of the real host: one bank and one browser for all of it.
//
//   CAUDAL                 the program under test
//   CAUDAL_WEB_SNAPSHOTS   "renew" writes the accessibility trees anew
//   CAUDAL_WEB_SHOTS       a folder outside of the repository for screenshots; none are made without it
//   CAUDAL_WEB_TREE        hands out the page's files from the repository instead of the program
//   CAUDAL_WEB_LONG        every screen in every theme at every size at 320 pixels too, not only the widest ones

import { after, before } from "node:test";

import { launch } from "../parity/chromium.mjs";
import { startBank } from "./bank.mjs";
import { failures } from "./failures.mjs";
import { flow } from "./flow.mjs";
import { help } from "./help.mjs";
import { Line } from "./line.mjs";
import { looks } from "./looks.mjs";
import { nudges } from "./nudges.mjs";
import { swap } from "./swap.mjs";

/** What every part works with; filled before the first test. */
const stage = {};

before(async () => {
  [stage.bank, stage.browser] = await Promise.all([startBank(), launch(["--lang=es-MX"])]);
  stage.line = await Line.to(stage.bank.service.ledger);
});

after(async () => {
  await stage.browser?.close();
  await stage.line?.close();
  await stage.bank?.end();
});

flow(stage);
failures(stage);
nudges(stage);
help(stage);
looks(stage);
// Last: it swaps the champion and stops the bank.
swap(stage);
