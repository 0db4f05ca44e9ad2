// Loads a model of the package; the entry point says where its parts are.

/** @import { Isolate, Kind } from "./index.js" */
/** @import { Core, Identity, Load, Manifest, Platform } from "./internal.js" */
import { Component, Scorer } from "./scorer.js";

/** The SHA-256 of some bytes in hex. @param {Pick<SubtleCrypto, "digest">} subtle @param {BufferSource} bytes */
export async function digest(subtle, bytes) {
  const octets = new Uint8Array(await subtle.digest("SHA-256", bytes));
  return Array.from(octets, (octet) => octet.toString(16).padStart(2, "0")).join("");
}

/** The WebAssembly in a response. Bundlers that do not copy a core have servers that answer with a page. @param {Response} response */
export async function wasmOf(response) {
  const { ok, status, url } = response;
  if (!ok) throw new Error(`${url} answered ${status}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (bytes[0] === 0 && bytes[1] === 0x61) return bytes;
  throw new Error(
    `${url} answered with ${response.headers.get("content-type") ?? "no content type"}, not with WebAssembly`,
  );
}

/** The named model of a kind, or its default. @param {Manifest} manifest @param {string} kind @param {string} [model] */
export function choose({ models }, kind, model) {
  const names = Object.keys(models).filter((name) => models[name].kind === kind);
  const name = model ?? names.find((it) => models[it].default) ?? "";
  if (names.includes(name)) return { name, ...models[name] };
  if (names.length === 0) {
    const kinds = new Set(Object.values(models).map((it) => it.kind));
    throw new RangeError(`there is no kind "${kind}": there are ${[...kinds].join(", ")}`);
  }
  throw new RangeError(`there is no model "${name}" for ${kind}: there is ${names.join(", ")}`);
}

/**
 * A scorer behind the glue of a contract, which is named like the kind if it is the first.
 * @param {Platform} platform @param {Kind} kind @param {Core | Promise<Core>} core @param {Identity} identity
 * @param {Isolate} [isolate] @param {string} [contract]
 */
export async function scorerOf(platform, kind, core, identity, isolate, contract = kind) {
  if (!isolate) {
    const [schema, glue, compiled] = await Promise.all([platform.schema(kind), platform.glue(contract), core]);
    return new Scorer(schema, new Component(kind, compiled, glue.instantiate), identity);
  }
  const spawn = isolate === true ? platform.spawn : isolate;
  if (!platform.isolate || !spawn) throw new Error("there is no worker here that could isolate a core");
  const { isolated } = await platform.isolate();
  return isolated(await platform.schema(kind), contract, await core, identity, spawn);
}

/** Makes `load` for a platform. @param {Platform} platform @returns {Load} */
export function loader(platform) {
  /** @type {Map<string, Promise<Core>>} */
  const cores = new Map();

  return async function load(kind, { model, core: ownCore, isolate, ...identity } = {}) {
    if (ownCore) return (await platform.own()).loadOwn(platform, kind, { core: ownCore, isolate, ...identity });
    const { name, model_version, sha256, cut_offs, core } = choose(await platform.manifest(), kind, model);
    const found = cores.get(name) ?? platform.core(name, core.sha256);
    cores.set(name, found);
    try {
      return await scorerOf(platform, kind, found, { modelVersion: model_version, sha256, cut_offs }, isolate);
    } catch (error) {
      // A failed fetch may succeed next time.
      cores.delete(name);
      throw error;
    }
  };
}
