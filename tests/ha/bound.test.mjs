// A primary that is lost, and reads with tokens that are bound to a key: each waits for the standby's promotion and then
// succeeds, although a proof counts once.
//
//   CAUDAL=target/debug/caudal node --test tests/ha/bound.test.mjs

import assert from "node:assert/strict";
import { createHash, randomUUID, webcrypto } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { test } from "node:test";

import { Issuer } from "../oidc/stage.mjs";
import { Host } from "./host.mjs";
import { Server } from "./postgres.mjs";
import { Processes, sleep } from "./processes.mjs";

/** How long there is no primary, in milliseconds: longer than a request waits for a connection. */
const LOST_MS = 8_000;
/** Reads in that time. */
const READS = 12;

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256" };
const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A customer whose tokens count with a proof by their key only. */
class Bound {
  static async of(issuer, host) {
    const it = Object.assign(new Bound(), { host, ...(await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign"])) });
    const { crv, kty, x, y } = await webcrypto.subtle.exportKey("jwk", it.publicKey);
    it.jwk = { crv, kty, x, y };
    const jkt = createHash("sha256").update(JSON.stringify(it.jwk)).digest("base64url");
    it.token = await issuer.mint({ user: "ana", scope: "api:read", claims: { cnf: { jkt } } });
    it.nonce = (await it.read()).headers.get("dpop-nonce");
    return it;
  }

  async read() {
    const url = `${this.host.url}/api/ledger/accounts`;
    const ath = createHash("sha256").update(this.token).digest("base64url");
    const claims = {
      jti: randomUUID(),
      htm: "GET",
      htu: url,
      iat: Math.floor(Date.now() / 1000),
      ath,
      nonce: this.nonce,
    };
    const signed = `${encode({ typ: "dpop+jwt", alg: "ES256", jwk: this.jwk })}.${encode(claims)}`;
    const signature = await webcrypto.subtle.sign(
      { name: "ECDSA", hash: "SHA-256" },
      this.privateKey,
      Buffer.from(signed),
    );
    const dpop = `${signed}.${Buffer.from(signature).toString("base64url")}`;
    return fetch(url, { headers: { authorization: `DPoP ${this.token}`, dpop } });
  }
}

test("reads with bound tokens wait for a new primary", async () => {
  const [processes, folder, issuer] = [new Processes(), await mkdtemp("/tmp/caudal-ha."), await Issuer.start()];
  try {
    await chmod(folder, 0o755);
    const [a, b, c] = await Promise.all(["a", "b", "c"].map((name) => Server.in(processes, folder, name)));
    const follow = async (standby, primary) => {
      await standby.follow(primary);
      await standby.start();
      await primary.isFollowedBy(standby.name);
    };
    await a.create();
    await a.start();
    await a.require("ANY 1 (b, c)");
    await follow(b, a);
    await follow(c, a);
    const servers = [a, b, c].map(({ port }) => `127.0.0.1:${port}`);
    const host = new Host(processes, folder, "host", a.port, servers);
    host.options = ["--jwt-keys", "discover", "--jwt-issuer", issuer.issuer, "--jwt-audience", issuer.audience];
    host.options.push("--dpop-origin", "http://127.0.0.1");
    await a.sql((await host.command("roles")).text);
    host.database = host.database.replace("postgres@", "caudal_owner@");
    const policy = await host.command("policy", "set", "--create", "--rail", "instant", "--by", "a test");
    assert.ok(policy.isDone, policy.text);
    host.database = host.database.replace("caudal_owner@", "caudal_serve@");
    await host.start({ isSandbox: false });
    const ana = await Bound.of(issuer, host);
    assert.equal((await ana.read()).status, 200);

    await a.lose();
    const reads = [];
    for (const end = Date.now() + LOST_MS; Date.now() < end; await sleep(LOST_MS / READS)) {
      reads.push(ana.read().then(({ status }) => status));
    }
    await b.promote();
    await b.require("c");
    await c.lose();
    await follow(c, b);
    assert.deepEqual(
      await Promise.all(reads),
      reads.map(() => 200),
    );
  } finally {
    issuer.end();
    await processes.end();
    await rm(folder, { recursive: true, force: true });
  }
});
