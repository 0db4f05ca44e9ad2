// The worker of a page, for `isolate`. It imports the glue of all kinds: bundlers do not split workers.

import * as accessibility from "../dist/glue/accessibility.js";
import * as nudge from "../dist/glue/nudge.js";
import * as risk from "../dist/glue/risk.js";
import { serving } from "./serve.js";

/** @type {Record<string, typeof risk>} */
const GLUE = { accessibility, nudge, risk };

const answer = serving(
  (kind) => GLUE[kind],
  (value) => globalThis.postMessage(value),
);
globalThis.onmessage = ({ data }) => answer(data);
