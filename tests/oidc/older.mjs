// What oidc-provider takes for granted and the Node of Debian 12, 18, lacks. Imported before it.

import { webcrypto } from "node:crypto";

globalThis.crypto ??= webcrypto;
globalThis.CryptoKey ??= webcrypto.CryptoKey;
URL.parse ??= (text, base) => (URL.canParse(text, base) ? new URL(text, base) : null);

// Its advice, on that and on the memory of sessions, is for those who run it in production.
console.info = () => {};
console.warn = () => {};
