// What the test's page does: the package as a web page has it, with a function for tests to call.

import * as scorers from "/scorers/src/browser.js";
import { ask } from "./ask.js";

globalThis.scorers = scorers;
globalThis.ask = (kind, options, texts, how) => ask(scorers, kind, options, texts, how);
