// Checks the decisions about a transfer: that its batch was sealed with them, and that their components answer the same
// when they are asked again. `caudal receipt verify` does the same offline.

/** @import { ReceiptDecision, TransactionReceipt } from "./types.js" */

/** @typedef {"same" | "different" | "proven"} Outcome That of a decision that is proven but cannot be made again here is "proven". */

const SCORERS = "/scorers/dist/entry/page.js";
const FACTS = "/scorers/dist/schema/facts.js";

const LEVELS = ["low", "medium", "high"];

/** Sections of a component. */
const CORE_MODULE = 1;
const NESTED = 4;
/** After magic and version. */
const SECTIONS_FROM = 8;

/** First byte of a node's input. */
const NODE = Uint8Array.of(1);

const utf8 = new TextEncoder();

/** @param {string} hex */
const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (it) => Number.parseInt(it, 16));

/** @param {Iterable<number>} bytes */
const hexOf = (bytes) => Array.from(bytes, (it) => it.toString(16).padStart(2, "0")).join("");

/** @param {...Iterable<number>} parts */
const joined = (...parts) => Uint8Array.from(parts.flatMap((it) => [...it]));

/** @param {...Iterable<number>} parts */
const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", joined(...parts)));

/** @param {(view: DataView) => void} write */
function eight(write) {
  const bytes = new Uint8Array(8);
  write(new DataView(bytes.buffer));
  return bytes;
}

/** @param {number} value */
const whole = (value) => eight((it) => it.setBigInt64(0, BigInt(value)));
/** @param {number} value */
const float = (value) => eight((it) => it.setFloat64(0, value));

/** @param {Iterable<number>} part */
function lengthed(part) {
  const bytes = joined(part);
  return joined(whole(bytes.length), bytes);
}

/** The digest of a decision, with the digests of its facts in place of the facts. @param {string} id @param {ReceiptDecision} decision */
async function leafOf(id, { kind, component, epoch, role, medium, high, facts, withheld, answer }) {
  const told = facts.map(({ name, value, claimed, salt }) =>
    sha256(bytesOf(salt), [Number(claimed)], float(value), utf8.encode(name)),
  );
  const leaves = [...(await Promise.all(told)), ...withheld.map(bytesOf)];
  return sha256(
    lengthed(utf8.encode("caudal decision 1")),
    bytesOf(id.replaceAll("-", "")),
    lengthed(utf8.encode(kind)),
    lengthed(bytesOf(component)),
    whole(epoch),
    lengthed(utf8.encode(role)),
    ...[float(medium), float(high), ...leaves, bytesOf(answer)].map(lengthed),
  );
}

/** The root above a leaf. @param {Uint8Array} leaf @param {ReceiptDecision} decision @param {number} leaves */
async function rootAbove(leaf, { place, path }, leaves) {
  let hash = leaf;
  const rest = path.map(bytesOf);
  for (let length = leaves, at = place; length > 1; length = Math.ceil(length / 2), at = Math.floor(at / 2)) {
    const sibling = (at ^ 1) < length ? (rest.shift() ?? []) : null;
    if (sibling) hash = await (at % 2 === 0 ? sha256(NODE, hash, sibling) : sha256(NODE, sibling, hash));
  }
  const isThere = Number.isInteger(place) && place >= 0 && place < leaves;
  return isThere && rest.length === 0 ? hexOf(hash) : "";
}

/** Null if this browser does not know such signatures. @param {TransactionReceipt["receipt"]} receipt */
async function isSigned({ chain, seq, hash, root, leaves, signer, signature }) {
  const text = utf8.encode(`caudal receipt 1 ${chain} ${seq} ${hash} ${root} ${leaves}`);
  try {
    const key = await crypto.subtle.importKey("raw", bytesOf(signer), "Ed25519", false, ["verify"]);
    return await crypto.subtle.verify("Ed25519", key, bytesOf(signature), text);
  } catch {
    return null;
  }
}

/** The core modules of a component. @param {Uint8Array<ArrayBuffer>} bytes @returns {Generator<Uint8Array<ArrayBuffer>>} */
function* modulesOf(bytes) {
  for (let at = SECTIONS_FROM; at < bytes.length; ) {
    const id = bytes[at];
    let length = 0;
    for (let shift = 1; ; shift *= 128) {
      at += 1;
      length += (bytes[at] % 128) * shift;
      if (bytes[at] < 128) break;
    }
    at += 1;
    const content = bytes.subarray(at, at + length);
    if (id === CORE_MODULE) yield content;
    if (id === NESTED) yield* modulesOf(content);
    at += length;
  }
}

/** An integer as answers spell it. @param {bigint} value @returns {number[]} */
const spelled = (value) => (value < 128n ? [Number(value)] : [Number(value % 128n) + 128, ...spelled(value / 128n)]);

/** @template T @param {T[]} all @param {(it: T) => Iterable<number>} each */
const listed = (all, each) => joined(spelled(BigInt(all.length)), ...all.map(each));

/** @param {string} text */
function texted(text) {
  const bytes = utf8.encode(text);
  return joined(spelled(BigInt(bytes.length)), bytes);
}

/** Rules of contract 1, asked once more. @param {any} rules @param {Map<string, number>} facts */
function violations(rules, facts) {
  const known = (/** @type {string} */ name) => facts.get(name) ?? 0;
  const limit = (/** @type {string} */ name) => (facts.has(name) ? BigInt(known(name)) : undefined);
  const verdict = rules.decide({
    amount: BigInt(known("amount")),
    available: BigInt(known("available")),
    dayTotal: BigInt(known("day_total")),
    perTransferLimit: limit("per_transfer_limit"),
    perDayLimit: limit("per_day_limit"),
    beneficiaryAgeSeconds: BigInt(known("beneficiary_saved_seconds")),
    coolingSeconds: BigInt(known("cooling_seconds")),
    sameAccount: known("same_account") > 0,
    localHour: known("hour_of_day"),
    riskLevel: facts.has("risk_level") ? LEVELS[known("risk_level")] : undefined,
    acknowledged: facts.has("acknowledged"),
  });
  const broken = /** @type {{ code: string, detail: string }[]} */ (verdict.val ?? []);
  return joined(
    [0],
    listed(broken, ({ code, detail }) => joined(texted(code), texted(detail))),
  );
}

/** Rules of contract 2. @param {any} rules @param {Map<string, number>} facts */
function requirements(rules, facts) {
  const values = rules.describe().facts.map((/** @type {{ name: string }} */ { name }) => facts.get(name));
  const required = /** @type {{ code: number, parameter: bigint }[]} */ (Array.from(rules.decide(values)));
  const signed = (/** @type {bigint} */ it) => spelled(it < 0n ? -2n * it - 1n : 2n * it);
  return joined(
    [1],
    listed(required, ({ code, parameter }) => joined(spelled(BigInt(code)), signed(parameter))),
  );
}

/** What rules answer, in bytes. @param {Uint8Array<ArrayBuffer>} component @param {string} glue @param {Map<string, number>} facts */
async function ruled(component, glue, facts) {
  const { instantiate } = await import(glue);
  const [core] = modulesOf(component);
  const module = await WebAssembly.compile(core);
  const { transferRules, rules } = instantiate(() => module, {});
  return rules ? requirements(rules, facts) : violations(transferRules, facts);
}

/** What a risk model answers, in bytes. @param {Uint8Array} component @param {Map<string, number>} facts */
async function scored(component, facts) {
  const [{ load }, { default: known }] = await Promise.all([import(SCORERS), import(FACTS)]);
  const value = (/** @type {string} */ name, /** @type {number} */ it) =>
    known.facts[name]?.kind === "flag" ? it > 0 : it;
  const scorer = await load("risk", { core: component });
  const request = Object.fromEntries([...facts].map(([name, it]) => [name, value(name, it)]));
  const { result } = await scorer.assess(request);
  return joined([0], float(result.risk_score).reverse());
}

/** @param {ReceiptDecision} decision @param {string | undefined} glue @returns {Promise<Outcome>} */
async function decidedAgain({ kind, component, facts, withheld, answer }, glue) {
  if (!glue || withheld.length > 0) return "proven";
  const response = await fetch(`/models/component/${component}.wasm`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (hexOf(await sha256(bytes)) !== component) return "proven";
  const values = new Map(facts.map(({ name, value }) => [name, value]));
  const isRisk = kind === "risk";
  const again = hexOf(await (isRisk ? scored(bytes, values) : ruled(bytes, glue, values)));
  // Of a risk, the score comes first. Of rules, what the bank made of the answer, with its length in the first byte.
  const own = answer.slice(2 * (1 + Number.parseInt(answer.slice(0, 2), 16)));
  return (isRisk ? answer.startsWith(again) : own === again) ? "same" : "different";
}

/** @param {TransactionReceipt} answer */
export async function check({ receipt, glue }) {
  const { id, leaves, root, decisions } = receipt;
  const sealed = decisions.map(async (it) => (await rootAbove(await leafOf(id, it), it, leaves)) === root);
  const again = decisions.map((it) => decidedAgain(it, glue[it.component]).catch(() => "proven"));
  return {
    isSealed: decisions.length > 0 && (await Promise.all(sealed)).every((it) => it),
    isSigned: await isSigned(receipt),
    outcomes: /** @type {Outcome[]} */ (await Promise.all(again)),
  };
}
