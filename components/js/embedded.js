// The entry point whose cores are modules too, in base64. For bundlers that do not copy the files of
// `new URL("....wasm", import.meta.url)`, such as esbuild.

import * as parts from "./dist/entry/embedded.js";
import { compile } from "./src/instance.js";
import { entry } from "./src/page.js";

export { Abstained, InvalidRequest, ModelFailed } from "./src/errors.js";

export const { load, live } = entry(parts, async (name) => {
  const { default: base64 } = await parts.CORES[name]();
  return compile(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)));
});
