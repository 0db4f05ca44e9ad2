// Signing keys of the provider for tests: made, rotated, and used to sign any token, also one that no provider would issue.

import { constants, createHmac, generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** How a key is made and how it signs, by JWS algorithm (RFC 7518, RFC 8037). */
const ALGORITHMS = {
  RS256: { type: "rsa", options: { modulusLength: 2048 }, hash: "sha256", with: {} },
  PS256: {
    type: "rsa",
    options: { modulusLength: 2048 },
    hash: "sha256",
    with: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
  },
  ES256: { type: "ec", options: { namedCurve: "P-256" }, hash: "sha256", with: { dsaEncoding: "ieee-p1363" } },
  EdDSA: { type: "ed25519", options: {}, hash: null, with: {} },
};

export const NAMES = Object.keys(ALGORITHMS);

const encoded = (value) => Buffer.from(value).toString("base64url");

/** The shortest modulus that OpenSSL makes, which anybody can factor. */
const WEAK_MODULUS_BITS = 512;

export class Key {
  constructor(alg, options = {}) {
    this.alg = alg;
    this.kid = options.kid ?? randomBytes(8).toString("hex");
    const { type, options: standard } = ALGORITHMS[alg];
    const { publicKey, privateKey } = generateKeyPairSync(type, { ...standard, ...options.pair });
    Object.assign(this, { publicKey, privateKey });
  }

  static weak() {
    return new Key("RS256", { pair: { modulusLength: WEAK_MODULUS_BITS } });
  }

  /** As oidc-provider takes it. */
  get whole() {
    return { ...this.privateKey.export({ format: "jwk" }), kid: this.kid, alg: this.alg, use: "sig" };
  }

  /** As it is published. */
  get published() {
    return { ...this.publicKey.export({ format: "jwk" }), kid: this.kid, alg: this.alg, use: "sig" };
  }

  sign(text) {
    const { hash, with: more } = ALGORITHMS[this.alg];
    return sign(hash, Buffer.from(text), { key: this.privateKey, ...more });
  }
}

/** A symmetric key, which must never be accepted from a published set. */
export class SharedKey {
  alg = "HS256";

  constructor(secret = randomBytes(32), kid = randomBytes(8).toString("hex")) {
    this.secret = secret;
    this.kid = kid;
  }

  /** A public key taken for a secret: the best-known confusion of algorithms. */
  static confusedWith({ publicKey, kid }) {
    return new SharedKey(Buffer.from(publicKey.export({ type: "spki", format: "pem" })), kid);
  }

  get published() {
    return { kty: "oct", k: this.secret.toString("base64url"), kid: this.kid, alg: this.alg, use: "sig" };
  }

  sign(text) {
    return createHmac("sha256", this.secret).update(text).digest();
  }
}

/** A token as given, in compact form. Without a key its signature is empty. */
export function tokenOf({ header, claims, key }) {
  const text = [header, claims].map((it) => encoded(JSON.stringify(it))).join(".");
  return `${text}.${key ? encoded(key.sign(text)) : ""}`;
}

/** The provider's keys: the first signs, all are published. */
export class KeyRing {
  constructor(alg) {
    this.alg = alg;
    this.keys = [new Key(alg)];
    // Made now, because making RSA keys takes a while and a rotation should not.
    this.next = new Key(alg);
  }

  get signing() {
    return this.keys[0];
  }

  /** Publishes a new key, which does not sign yet. */
  publish() {
    this.keys.push(this.next);
    this.next = new Key(this.alg);
  }

  /** From now on the newest key signs. */
  advance() {
    this.keys.unshift(this.keys.pop());
  }

  /** Only the signing key stays published. */
  retire() {
    this.keys.splice(1);
  }
}
