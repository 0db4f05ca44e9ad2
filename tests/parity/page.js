// What the test's page does: the package as a web page has it, with a function for tests to call.

import * as scorers from "/scorers/src/browser.js";
import { ask } from "./ask.js";

globalThis.scorers = scorers;

/** Takes and gives JSON text in ASCII: what stands between tests and pages does not carry every string as it is. */
globalThis.askInText = async (text) => JSON.stringify(await ask(scorers, ...JSON.parse(text)));
