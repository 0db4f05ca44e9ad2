// live() with keys: only what one of them signed is accepted, whatever a hostile host offers in its place.

import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, sign, webcrypto } from "node:crypto";
import { afterEach, beforeEach, test } from "node:test";

import manifest from "../../components/js/lib/dist/manifest.js";
import { follow as followWith } from "../../components/js/lib/src/live.js";
import { live, load } from "../../components/js/lib/src/node.js";
import { binary } from "./cores.mjs";
import { SOUND, textOf } from "./hostile.mjs";
import { another, coreOf, offerOf, Stub } from "./stub.mjs";

const NUDGE = textOf(SOUND.nudge);
const PACKAGED = manifest.models["nudge-1"].model_version;

const pair = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const [OURS, FORMER, THEIRS] = [pair(), pair(), pair()];
const KEYS = [FORMER, OURS].map((it) => it.publicKey.export({ format: "jwk" }));

/** As `cosign sign-blob` and `openssl dgst -sha256 -sign` do. */
const signatureBy = ({ privateKey }, bytes) => sign("sha256", bytes, privateKey).toString("base64");

/** The component of another nudge model, as far as a page reads one. */
const componentOf = (mark) => Buffer.from(binary([0x0d, 0, 1, 0], [1, another(coreOf("nudge-1"), mark)], [7, []]));

let stub;
let scorer;
/** What the host answers at the paths of a component, by digest. */
let served;

beforeEach(async () => {
  stub = await new Stub().start();
  served = new Map();
  stub.instead = (_, response, path) => {
    const [, digest, form] = /^\/models\/(?:component|signature)\/([0-9a-f]+)\.(wasm|sig)$/.exec(path) ?? [];
    const content = served.get(digest)?.[form];
    if (content !== undefined) response.writeHead(200).end(content);
    return content !== undefined;
  };
});

afterEach(async () => {
  scorer?.close();
  await stub.end();
});

/** Puts a component into service with a signature; returns its name. */
function offer(component, signature, core = another(coreOf("nudge-1"), "bare")) {
  const sha256 = createHash("sha256").update(component).digest("hex");
  served.set(sha256, { wasm: component, sig: signature });
  return stub.offer("nudge", core, offerOf("nudge", core, { sha256 })).model_version;
}

const follow = async (keys = KEYS) => (scorer = await live("nudge", { base: stub.url, everySeconds: 600, keys }));
const seen = () => [scorer.problem?.code ?? null, scorer.assessText(NUDGE).model_version];

test("a component that one of the keys signed is accepted, with the core that is in it", async () => {
  const first = componentOf("first");
  const name = offer(first, `${signatureBy(OURS, first)}\n`);
  await follow();
  assert.deepEqual(seen(), [null, name]);
  const second = componentOf("second");
  const next = offer(second, signatureBy(FORMER, second));
  assert.equal(await scorer.check(), true);
  assert.deepEqual(seen(), [null, next]);
  assert.equal(stub.requests("/models/core").length, 0, "a core alone proves nothing");
});

const signed = componentOf("signed");
const evil = componentOf("evil");
const evilCore = another(coreOf("nudge-1"), "evil");
const REFUSED = {
  "an unsigned component": ["unsigned", () => offer(evil, undefined)],
  "a component that another key signed": ["unsigned", () => offer(evil, signatureBy(THEIRS, evil))],
  "a component with the signature of another": ["unsigned", () => offer(evil, signatureBy(OURS, signed))],
  "a signature that is none": ["unsigned", () => offer(evil, "MAYCAQECAQE=")],
  "a signature that is not base64": ["unsigned", () => offer(evil, "<!doctype html>")],
  "a signature of zeros": ["unsigned", () => offer(evil, Buffer.from("300602010002010000", "hex").toString("base64"))],
  "an endless signature": ["too-large", () => offer(evil, "A".repeat(1000))],
  "a core under the name and signature of a signed component": [
    "wrong-sha256",
    () => {
      const name = offer(signed, signatureBy(OURS, signed), evilCore);
      [...served.values()].at(-1).wasm = evilCore;
      return name;
    },
  ],
  "a signed file with two cores": [
    "unusable",
    () => {
      const two = Buffer.from(binary([0x0d, 0, 1, 0], [1, evilCore], [1, coreOf("nudge-1")]));
      return offer(two, signatureBy(OURS, two));
    },
  ],
  "a signed component under another version": [
    "unusable",
    () => {
      offer(signed, signatureBy(OURS, signed));
      stub.offers.nudge.model_version = stub.offers.nudge.model_version.replace("1.0.0", "9.0.0");
    },
  ],
};

for (const [what, [code, arrange]] of Object.entries(REFUSED)) {
  test(`refused: ${what}`, async () => {
    arrange();
    await follow();
    assert.deepEqual(seen(), [code, PACKAGED], scorer.problem?.detail);
  });
}

test("keys that are none are an error", async () => {
  await assert.rejects(follow([]), RangeError);
  await assert.rejects(follow([{ kty: "EC", crv: "P-256", x: "AA", y: "AA" }]));
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-384" });
  await assert.rejects(follow([publicKey.export({ format: "jwk" })]));
});

test("what an earlier visit stored is verified by its signature again", async () => {
  const stored = new Map();
  const cache = {
    put: async (key, response) => stored.set(key, response),
    match: async (key) => stored.get(key)?.clone(),
  };
  const platform = {
    manifest: async () => manifest,
    schema: async (name) => (await import(`../../components/js/lib/dist/schema/${name}.js`)).default,
    glue: (name) => import(`../../components/js/lib/dist/glue/${name}.js`),
    load,
    subtle: webcrypto.subtle,
    caches: { open: async () => cache },
  };
  const visit = async () => (scorer = await followWith(platform, "nudge", { base: stub.url, keys: KEYS }));
  const name = offer(signed, signatureBy(OURS, signed));
  await visit();
  scorer.close();
  stub.offers = {};
  await visit();
  assert.deepEqual(seen(), ["not-published", name]);
  scorer.close();

  const [[key, kept]] = stored;
  const other = { ...JSON.parse(kept.headers.get("x-caudal-offer")), signature: signatureBy(THEIRS, signed) };
  stored.set(key, new Response(signed, { headers: { "x-caudal-offer": JSON.stringify(other) } }));
  await visit();
  assert.deepEqual(seen(), ["not-published", PACKAGED]);
});
