// What a provider can do wrong on the wire: silence, errors, slowness, and key sets that nobody should accept.

import { setTimeout as sleep } from "node:timers/promises";

import { Key, SharedKey } from "./keys.mjs";

/** More than any client should read. */
const OVERSIZED_BYTES = 10 * 1024 * 1024;
const MANY_KEYS = 10_000;
/** Unless a test names another delay. */
const SLOW_MS = 2_000;

/** Bodies of the key set, from the honest set and the keys that hostile sets bring. */
const KEY_SETS = {
  oversized: ({ keys }) => JSON.stringify({ padding: "x".repeat(OVERSIZED_BYTES), keys }),
  // One key under many names, before the honest ones.
  many: ({ keys }) => {
    const [first] = keys;
    const others = Array.from({ length: MANY_KEYS }, (_, place) => ({ ...first, kid: `key-${place}` }));
    return JSON.stringify({ keys: [...others, ...keys] });
  },
  oct: ({ keys, shared }) => JSON.stringify({ keys: [shared.published, ...keys] }),
  weak: ({ keys, weak }) => JSON.stringify({ keys: [weak.published, ...keys] }),
  // A stranger's key under the name of the honest one, in front of it.
  duplicate: ({ keys, stranger }) => JSON.stringify({ keys: [{ ...stranger.published, kid: keys[0].kid }, ...keys] }),
  empty: () => JSON.stringify({ keys: [] }),
  "not-json": () => '{"keys":[{"kty":',
  "not-a-set": () => JSON.stringify(["keys"]),
};

/** `refused` closes the listener, which is not done here. */
const OUTAGES = ["none", "silent", "error", "slow", "refused"];

export const FAULTS = [...OUTAGES, ...Object.keys(KEY_SETS)];

export class Faults {
  kind = "none";
  delayMs = SLOW_MS;

  constructor(ring) {
    this.ring = ring;
    this.weak = Key.weak();
    this.stranger = new Key(ring.alg);
    this.shared = new SharedKey();
  }

  /** Answers a request wrongly; false if it should be answered as usual. */
  async answer(request, response) {
    if (this.kind === "silent") return true;
    if (this.kind === "error") {
      // With the header, since a browser would write to its console otherwise, which tests take for a bug of the page.
      const headers = { "content-type": "text/plain", "access-control-allow-origin": "*" };
      response.writeHead(500, headers).end("the provider is out of order");
      return true;
    }
    if (this.kind === "slow") await sleep(this.delayMs);
    const keySet = KEY_SETS[this.kind];
    if (!keySet || new URL(request.url, "http://localhost").pathname !== "/jwks") return false;
    const { weak, stranger, shared } = this;
    const body = keySet({ keys: this.ring.keys.map((it) => it.published), weak, stranger, shared });
    response.writeHead(200, { "content-type": "application/jwk-set+json" }).end(body);
    return true;
  }
}
