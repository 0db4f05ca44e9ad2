// Loads a core that the package does not contain.

/** @import { Isolate, Kind, OwnCore } from "./index.js" */
/** @import { Platform } from "./internal.js" */
import { described } from "./described.js";
import { compile, Reader } from "./instance.js";
import { choose, digest, wasmOf } from "./packaged.js";

/** The version in the header of a component; that of a core module is 1. */
const COMPONENT = 0x0d;

/** Sections of a component. */
const CORE_MODULE = 1;
const NESTED = 4;

/** @param {Uint8Array} bytes */
export const isComponent = (bytes) => bytes[4] === COMPONENT;

/** The only core module of a component, as the host finds it. @param {Uint8Array<ArrayBuffer>} bytes */
export function coreOf(bytes) {
  const found = [...modules(bytes)];
  if (found.length !== 1) throw new Error(`the component consists of ${found.length} core modules instead of one`);
  return found[0];
}

/** @param {Uint8Array<ArrayBuffer>} bytes @returns {Generator<Uint8Array<ArrayBuffer>>} */
function* modules(bytes) {
  const reader = new Reader(bytes);
  while (reader.at < bytes.length) {
    const id = reader.byte();
    const length = reader.integer();
    const content = bytes.subarray(reader.at, reader.at + length);
    if (id === CORE_MODULE) yield content;
    if (id === NESTED) yield* modules(content);
    reader.at += length;
  }
}

/** @param {Platform} platform @param {Kind} kind @param {OwnCore & { isolate?: Isolate }} own */
export async function loadOwn(platform, kind, { core, isolate, ...identity }) {
  const { sha256 } = identity;
  choose(await platform.manifest(), kind);
  const source = await core;
  if (source instanceof WebAssembly.Module) {
    if (!sha256) throw new TypeError("a compiled core has no digest: give the sha256 of its component");
    return described(platform, kind, { module: source, states: null }, { ...identity, sha256 }, isolate);
  }
  const bytes = await bytesOf(platform, source);
  const isWhole = isComponent(bytes);
  if (!platform.subtle && !(sha256 && !isWhole)) throw new Error("digests need https: give a core and its sha256");
  const computed = platform.subtle && (await digest(platform.subtle, bytes));
  if (isWhole && sha256 && sha256 !== computed) throw new Error(`the SHA-256 of the component is ${computed}`);
  const compiled = await compile(isWhole ? coreOf(bytes) : bytes);
  return described(
    platform,
    kind,
    compiled,
    { ...identity, sha256: sha256 ?? /** @type {string} */ (computed) },
    isolate,
  );
}

/** @param {Platform} platform @param {BufferSource | Response | URL} source */
async function bytesOf(platform, source) {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (ArrayBuffer.isView(source)) {
    return new Uint8Array(/** @type {ArrayBuffer} */ (source.buffer), source.byteOffset, source.byteLength);
  }
  return wasmOf(source instanceof URL ? await (platform.fetch ?? fetch)(source) : source);
}
