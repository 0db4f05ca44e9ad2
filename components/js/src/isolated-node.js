// The worker of a program in Node, for `isolate`.

import { parentPort } from "node:worker_threads";

import * as accessibility from "../dist/glue/accessibility.js";
import * as nudge from "../dist/glue/nudge.js";
import * as risk from "../dist/glue/risk.js";
import { serving } from "./serve.js";

/** @type {Record<string, typeof risk>} */
const GLUE = { accessibility, nudge, risk };

const answer = serving(
  (kind) => GLUE[kind],
  (value) => parentPort.postMessage(value),
);
parentPort.on("message", answer);
