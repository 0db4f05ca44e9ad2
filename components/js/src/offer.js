// What a host offers in place of the package's model, and every check before it is accepted.

/** @import { CutOffs, Isolate } from "./index.js" */
/** @import { LivePlatform, Offer, RefusalCode } from "./internal.js" */
import { described } from "./described.js";
import { compile } from "./instance.js";
import { digest } from "./packaged.js";

/** The host's limit; the package's own cores have about 10 KB. */
const CORE_BYTES_MAX = 1 << 20;

/** Limit of the answer about what is in service; a real one has 500 bytes. */
const ACTIVE_BYTES_MAX = 16 << 10;

/** An offer that fails every check. */
const NOTHING = /** @type {Offer} */ ({});

/** @param {unknown} text */
const isDigest = (text) => typeof text === "string" && /^[0-9a-f]{64}$/.test(text);

/** `risk-1.0.0+9f2c41aa`: kind, version, start of the component's digest. */
const MODEL_VERSION = /^[a-z]+-\d+\.\d+\.\d+\+[0-9a-f]{8}$/;

/** Whether they say from where a score is medium and high. @param {CutOffs} cutOffs */
const areSound = ({ medium_from: medium, high_from: high }) => 0 <= medium && medium <= high && high <= 1;

/** Why an offer is rejected. */
export class Rejection extends Error {
  /** @param {RefusalCode} code @param {string} detail */
  constructor(code, detail) {
    super(detail);
    this.code = code;
  }
}

/** The offer in a response, not yet checked. @param {Response} response @returns {Promise<Offer>} */
export async function readOffer(response) {
  const bytes = await readUpTo(response, ACTIVE_BYTES_MAX);
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) ?? NOTHING;
  } catch {
    return NOTHING;
  }
}

/** Rejects an offer that is not for this package. @param {Offer} offer @param {string} kind @param {LivePlatform} platform */
export async function examine(offer, kind, platform) {
  const { abi, core, cut_offs, model_version, sha256 } = offer;
  const isWhole = isDigest(sha256) && isDigest(core?.sha256) && typeof core.url === "string" && core.bytes > 0;
  if (
    !isWhole ||
    !MODEL_VERSION.test(model_version) ||
    offer.kind !== kind ||
    (cut_offs && !(kind === "risk" && areSound(cut_offs)))
  ) {
    throw new Rejection("bad-answer", "the host's answer is not an offer");
  }
  const manifest = await platform.manifest();
  if (!Object.values(manifest.contracts).some((it) => it.kind === kind && it.abi === abi)) {
    throw new Rejection("other-glue", "the model in service needs another release of this package");
  }
  if (core.bytes > CORE_BYTES_MAX) throw new Rejection("too-large", `the core has more than ${CORE_BYTES_MAX} bytes`);
  if (!platform.subtle) throw new Rejection("insecure", "digests cannot be computed without https");
}

/**
 * A scorer from the core of an examined offer. The bytes are verified before an engine sees them: those of the core by the
 * digest that is offered, or those of the component by theirs and by its signature.
 * @param {Offer} offer @param {Uint8Array<ArrayBuffer>} bytes @param {LivePlatform} platform @param {Isolate} [isolate]
 * @param {(offer: Offer, component: Uint8Array<ArrayBuffer>) => Promise<Uint8Array<ArrayBuffer>>} [verified]
 */
export async function prove(offer, bytes, platform, isolate, verified) {
  const { kind, core, sha256 } = offer;
  if (!platform.subtle || (await digest(platform.subtle, bytes)) !== (verified ? sha256 : core.sha256)) {
    throw new Rejection("wrong-sha256", "the file is not the one that the host names");
  }
  try {
    const module = verified ? await verified(offer, bytes) : bytes;
    return await described(
      platform,
      kind,
      await compile(module),
      { ...offer, modelVersion: offer.model_version },
      isolate,
    );
  } catch (error) {
    if (error instanceof Rejection) throw error;
    if (error instanceof Error && error.name === "OtherFacts") throw new Rejection("other-facts", error.message);
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    throw new Rejection("unusable", `the core does not work: ${cause instanceof Error ? cause.message : cause}`);
  }
}

/** The bytes of a core, no more than the offer says; of a component, no more than of any. @param {Response} response @param {Offer} [offer] */
export function readCore(response, offer) {
  return readUpTo(response, offer?.core.bytes ?? CORE_BYTES_MAX);
}

/** A body; one that is too long is not read to its end. @param {Response} response @param {number} bytesMax */
export async function readUpTo(response, bytesMax) {
  const parts = [];
  let length = 0;
  const reader = (response.body ?? new Blob().stream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > bytesMax) {
      await reader.cancel();
      throw new Rejection("too-large", `the answer has more than ${bytesMax} bytes`);
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
