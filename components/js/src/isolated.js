// The worker of a page, for `isolate`.

import { serving } from "./serve.js";

const answer = serving((value) => globalThis.postMessage(value));
globalThis.onmessage = ({ data }) => answer(data);
