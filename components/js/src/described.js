// Makes a scorer of a core that may be any.

/** @import { Isolate, Kind } from "./index.js" */
/** @import { Core, Identity, Manifest, Platform } from "./internal.js" */
import { scorerOf } from "./packaged.js";

/**
 * The contract that a core of a kind was built for, by its exports: as on a host, the later one if there are both.
 * @param {Manifest} manifest @param {Kind} kind @param {WebAssembly.Module} module
 */
function contractOf({ contracts }, kind, module) {
  const names = WebAssembly.Module.exports(module).map((it) => it.name);
  /** @param {string} name */
  const isBuiltFor = (name) => {
    const contract = contracts[name];
    return contract.kind === kind && names.some((it) => it.startsWith(`${contract.interface}#`));
  };
  // Glue for another one says what is missing.
  return Object.keys(contracts).filter(isBuiltFor).pop() ?? kind;
}

/**
 * A scorer from a core of a kind, which must describe itself as that kind, and as that version if one is named.
 * @param {Platform} platform @param {Kind} kind @param {Core} core
 * @param {Omit<Identity, "modelVersion"> & Partial<Identity>} identity @param {Isolate} [isolate]
 */
export async function described(platform, kind, core, { sha256, modelVersion, abi, cut_offs }, isolate) {
  if (WebAssembly.Module.imports(core.module).length > 0) throw new Error("it has imports");
  const manifest = await platform.manifest();
  const name = contractOf(manifest, kind, core.module);
  const contract = manifest.contracts[name];
  if (abi && abi !== contract.abi) throw new Error("it needs another release of this package: its abi is another");
  const scorer = await scorerOf(platform, kind, core, { modelVersion: "", sha256, cut_offs }, isolate, name);
  try {
    const description = await scorer.describe();
    // In contract 2 the interface says of which kind it is.
    const own = description.kind ?? kind;
    scorer.modelVersion = `${own}-${description.version}+${sha256.slice(0, 8)}`;
    if (own !== kind || scorer.modelVersion !== (modelVersion ?? scorer.modelVersion)) {
      throw new Error(`it describes itself as ${scorer.modelVersion}`);
    }
    if (description.facts) {
      scorer.half = (await platform.positional()).half(description, await platform.schema(kind));
    }
    return scorer;
  } catch (error) {
    scorer.close();
    throw error;
  }
}
