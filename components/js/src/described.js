// Makes a scorer of a core that may be any.

/** @import { Kind } from "./index.js" */
/** @import { Core, Platform } from "./internal.js" */
import { Scorer } from "./scorer.js";

/**
 * A scorer from a core of a kind, which must describe itself as that kind, and as that version if one is named.
 * @param {Platform} platform @param {Kind} kind @param {Core} core @param {string} sha256 @param {string} [modelVersion]
 */
export async function described(platform, kind, core, sha256, modelVersion) {
  if (WebAssembly.Module.imports(core.module).length > 0) throw new Error("it has imports");
  const [schema, glue] = await Promise.all([platform.schema(kind), platform.glue(kind)]);
  const scorer = new Scorer(schema, core, glue.instantiate, { modelVersion: "", sha256 });
  const { kind: own, version } = scorer.describe();
  scorer.modelVersion = `${own}-${version}+${sha256.slice(0, 8)}`;
  if (own === kind && scorer.modelVersion === (modelVersion ?? scorer.modelVersion)) return scorer;
  throw new Error(`it describes itself as ${scorer.modelVersion}`);
}
