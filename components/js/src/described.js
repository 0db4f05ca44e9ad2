// Makes a scorer of a core that may be any.

/** @import { Isolate, Kind } from "./index.js" */
/** @import { Core, Platform } from "./internal.js" */
import { scorerOf } from "./packaged.js";

/**
 * A scorer from a core of a kind, which must describe itself as that kind, and as that version if one is named.
 * @param {Platform} platform @param {Kind} kind @param {Core} core @param {string} sha256 @param {string} [modelVersion]
 * @param {Isolate} [isolate]
 */
export async function described(platform, kind, core, sha256, modelVersion, isolate) {
  if (WebAssembly.Module.imports(core.module).length > 0) throw new Error("it has imports");
  const scorer = await scorerOf(platform, kind, core, { modelVersion: "", sha256 }, isolate);
  const { kind: own, version } = await scorer.describe();
  scorer.modelVersion = `${own}-${version}+${sha256.slice(0, 8)}`;
  if (own === kind && scorer.modelVersion === (modelVersion ?? scorer.modelVersion)) return scorer;
  scorer.close();
  throw new Error(`it describes itself as ${scorer.modelVersion}`);
}
