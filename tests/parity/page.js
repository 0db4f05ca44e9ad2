// The test's page: the package as a web page uses it, with a function for tests to call.

import * as scorers from "/scorers/src/browser.js";
import { ask } from "./ask.js";

globalThis.scorers = scorers;

/** In ASCII, because the way between tests and pages does not preserve every string. */
globalThis.askInText = async (text) => JSON.stringify(await ask(scorers, ...JSON.parse(text)));
