// Loads a model that came with the package. Where its parts are is the entry point's matter.

import { Scorer } from "./scorer.js";

/** Hex digits of the SHA-256 of some bytes. */
export async function digest(subtle, bytes) {
  const octets = new Uint8Array(await subtle.digest("SHA-256", bytes));
  return Array.from(octets, (octet) => octet.toString(16).padStart(2, "0")).join("");
}

/** Which of the package's models is meant. */
export function choose({ models }, kind, model) {
  const names = Object.keys(models).filter((name) => models[name].kind === kind);
  const name = model ?? names.find((it) => models[it].default);
  if (names.includes(name)) return { name, ...models[name] };
  if (names.length === 0) throw new RangeError(`there is no kind "${kind}": there are risk, nudge and accessibility`);
  throw new RangeError(`there is no model "${name}" for ${kind}: there is ${names.join(", ")}`);
}

/**
 * Makes `load` for a platform:
 * `manifest()` resolves to the package's manifest, `part(kind)` to the module of a kind, `glue(kind)` to its glue,
 * `core(name, sha256)` to its compiled core.
 */
export function loader(platform) {
  /** Compiled cores by name. */
  const cores = new Map();

  return async function load(kind, { model } = {}) {
    const { name, model_version: modelVersion, sha256, core } = choose(await platform.manifest(), kind, model);
    if (!cores.has(name)) cores.set(name, platform.core(name, core.sha256));
    try {
      const [part, glue, module] = await Promise.all([platform.part(kind), platform.glue(kind), cores.get(name)]);
      return new Scorer(part, module, glue.instantiate, { modelVersion, sha256 });
    } catch (error) {
      // What could not be fetched now may be there the next time.
      cores.delete(name);
      throw error;
    }
  };
}
