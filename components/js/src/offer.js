// What a host offers in place of the package's model, and every proof before it is taken. Fetching and switching are
// the matter of live.js.

import { digest } from "./packaged.js";
import { Scorer } from "./scorer.js";

/** Largest core in bytes, as the host publishes them. Ours have about ten thousand. */
const CORE_BYTES_MAX = 1 << 20;

/** Largest answer about what is in service, in bytes; a real one has five hundred. */
const ACTIVE_BYTES_MAX = 16 << 10;

const isDigest = (text) => /^[0-9a-f]{64}$/.test(text);

/** `risk-1.0.0+9f2c41aa`: kind, version, start of the component's digest. */
const MODEL_VERSION = /^[a-z]+-\d+\.\d+\.\d+\+[0-9a-f]{8}$/;

/** Why what the host offers is not taken. */
export class NotTaken extends Error {
  constructor(code, detail) {
    super(detail);
    this.code = code;
  }
}

/** What a host says is in service of a kind. Nothing of it is believed yet. */
export async function readOffer(response) {
  const bytes = await readUpTo(response, ACTIVE_BYTES_MAX);
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) ?? {};
  } catch {
    return {};
  }
}

/** Whether an offer can be meant for this package; nothing more is fetched before. */
export async function examine(offer, kind, platform) {
  const { core, glue, model_version, sha256, wit } = offer;
  const isWhole = isDigest(sha256) && isDigest(core?.sha256) && typeof core.url === "string" && core.bytes > 0;
  if (!isWhole || !MODEL_VERSION.test(model_version) || offer.kind !== kind) {
    throw new NotTaken("bad-answer", "the host's answer is not understood");
  }
  const manifest = await platform.manifest();
  const own = Object.values(manifest.models).find((it) => it.kind === kind);
  if (wit !== manifest.wit || glue?.sha256 !== own.glue.sha256) {
    throw new NotTaken("other-glue", "the model in service needs another release of this package");
  }
  if (core.bytes > CORE_BYTES_MAX) throw new NotTaken("too-large", `the core has more than ${CORE_BYTES_MAX} bytes`);
  if (!platform.subtle) throw new NotTaken("insecure", "digests cannot be computed without https");
}

/** A scorer from the core of an offer that was examined: the bytes are proven before an engine sees them. */
export async function prove({ kind, core, sha256, model_version: modelVersion }, bytes, platform) {
  if ((await digest(platform.subtle, bytes)) !== core.sha256) {
    throw new NotTaken("wrong-sha256", "the core is not the one that the host names");
  }
  try {
    const module = await WebAssembly.compile(bytes);
    if (WebAssembly.Module.imports(module).length > 0) throw new Error("it asks for imports");
    const [part, glue] = await Promise.all([platform.part(kind), platform.glue(kind)]);
    const scorer = new Scorer(part, module, glue.instantiate, { modelVersion, sha256 });
    const described = scorer.describe();
    const says = `${described.kind}-${described.version}+${sha256.slice(0, 8)}`;
    if (described.kind !== kind || says !== modelVersion) throw new Error(`it says that it is ${says}`);
    return scorer;
  } catch (error) {
    throw new NotTaken("unusable", `the core does not work: ${(error.cause ?? error).message}`);
  }
}

/** The bytes of a core, no more than were announced. */
export function readCore(response, { core }) {
  return readUpTo(response, core.bytes);
}

/** A body, unless it is longer than allowed: then the rest is not even read. */
async function readUpTo(response, bytesMax) {
  const parts = [];
  let length = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > bytesMax) {
      await reader.cancel();
      throw new NotTaken("too-large", `the answer has more than ${bytesMax} bytes`);
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
