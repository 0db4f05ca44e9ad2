// The worker of a program in Node, for `isolate`.

import { parentPort } from "node:worker_threads";

import { serving } from "./serve.js";

parentPort.on(
  "message",
  serving((value) => parentPort.postMessage(value)),
);
