// The protocol as the page speaks it: what it asks for, which answers it believes, what it makes of failures.

import "./older.mjs";
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import {
  authorizationUrl,
  endSessionUrl,
  faultOf,
  isReachable,
  newAttempt,
  redeem,
  refresh,
  returnIn,
} from "../../host/web/shared/provider.js";
import { tokenOf } from "./keys.mjs";

const PROVIDER = {
  issuer: "https://login.bank.test",
  authorizationEndpoint: "https://login.bank.test/auth?tenant=mx",
  tokenEndpoint: "https://login.bank.test/token",
  endSessionEndpoint: "https://login.bank.test/end",
  clientId: "page",
  scope: "openid api:read api:write",
  resource: "https://api.bank.test",
};
const PAGE = { redirect: "https://bank.test/", language: "es-MX" };
const ATTEMPT = { state: "s", nonce: "n", verifier: "v", hash: "#/history" };

test("an attempt has 256 random bits for each purpose", () => {
  const attempts = Array.from({ length: 50 }, () => newAttempt("#/history"));
  const texts = attempts.flatMap(({ state, nonce, verifier }) => [state, nonce, verifier]);
  assert.ok(texts.every((text) => /^[\w-]{43}$/.test(text)));
  assert.equal(new Set(texts).size, texts.length);
  assert.equal(attempts[0].hash, "#/history");
});

test("the person is sent with a challenge (the example of RFC 7636), and the provider's own parameters stay", async () => {
  const attempt = { ...ATTEMPT, verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" };
  const url = new URL(await authorizationUrl(PROVIDER, attempt, PAGE));
  assert.equal(url.origin + url.pathname, "https://login.bank.test/auth");
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    tenant: "mx",
    response_type: "code",
    client_id: "page",
    redirect_uri: "https://bank.test/",
    scope: "openid api:read api:write",
    state: "s",
    nonce: "n",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
    resource: "https://api.bank.test",
    ui_locales: "es-MX",
  });
  const plain = await authorizationUrl({ ...PROVIDER, scope: "api:read", resource: null }, attempt, PAGE);
  assert.doesNotMatch(plain, /nonce|resource/);
});

test("only an answer to this page's own attempt, from this issuer, is believed", () => {
  const iss = encodeURIComponent(PROVIDER.issuer);
  for (const [search, fault] of [
    ["?code=c&state=s", ""],
    [`?code=c&state=s&iss=${iss}`, ""],
    ["?code=c&state=other", "stale"],
    ["?code=c", "stale"],
    ["?code=c&state=", "stale"],
    ["?code=c&state=s&state=s", "stale"],
    ["?code=c&code=d&state=s", "failed"],
    ["?code=&state=s", "failed"],
    ["?code=c&state=s&iss=https%3A%2F%2Fother.test", "stale"],
    [`?code=c&state=s&iss=${iss}&iss=https%3A%2F%2Fother.test`, "stale"],
    ["?error=access_denied&state=s", "denied"],
    ["?error=access_denied&state=other", "stale"],
    ["?error=login_required&state=s", "again"],
    ["?error=temporarily_unavailable&state=s", "unavailable"],
    ["?error=invalid_scope&state=s", "failed"],
    ["?error=constructor&state=s", "failed"],
  ])
    assert.equal(faultOf(returnIn(search), ATTEMPT, PROVIDER), fault, search);
  assert.equal(faultOf(returnIn("?code=c&state=s"), null, PROVIDER), "stale");
  for (const search of ["", "?", "?state=s", "?utm_source=mail"]) assert.equal(returnIn(search), null, search);
});

/** A token endpoint that answers everything in the same way. */
async function answering(t, { status = 200, headers = {}, body = "" }) {
  const seen = [];
  const server = createServer((request, response) => {
    request.setEncoding("utf8").on("data", (text) => seen.push(text));
    request.on("end", () =>
      response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body)),
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return { provider: { ...PROVIDER, tokenEndpoint: `http://127.0.0.1:${server.address().port}/token` }, seen };
}

const idToken = (claims) =>
  tokenOf({ header: {}, claims: { iss: PROVIDER.issuer, aud: "page", nonce: "n", ...claims }, key: null });
const good = {
  access_token: "a.b.c",
  token_type: "Bearer",
  expires_in: 300,
  refresh_token: "r",
  id_token: idToken({}),
};
const code = { code: "c", attempt: ATTEMPT, redirect: PAGE.redirect };

test("a code is exchanged without a secret", async (t) => {
  const { provider, seen } = await answering(t, { body: good });
  const tokens = await redeem(provider, code);
  assert.deepEqual(tokens, { accessToken: "a.b.c", refreshToken: "r", idToken: good.id_token, seconds: 300 });
  assert.deepEqual(Object.fromEntries(new URLSearchParams(seen.join(""))), {
    client_id: "page",
    grant_type: "authorization_code",
    code: "c",
    redirect_uri: "https://bank.test/",
    code_verifier: "v",
    resource: "https://api.bank.test",
  });
});

test("an ID token of another attempt, page or issuer is refused", async (t) => {
  for (const claims of [{ nonce: "other" }, { nonce: undefined }, { aud: "other" }, { iss: "https://other.test" }]) {
    const { provider } = await answering(t, { body: { ...good, id_token: idToken(claims) } });
    await assert.rejects(redeem(provider, code), { code: "provider-refused" }, JSON.stringify(claims));
  }
  for (const missing of [undefined, "", "a", 7]) {
    const { provider } = await answering(t, { body: { ...good, id_token: missing } });
    await assert.rejects(redeem(provider, code), { code: "provider-refused" });
  }
  const { provider } = await answering(t, { body: { ...good, id_token: idToken({ aud: ["page", "other"] }) } });
  assert.equal((await redeem(provider, code)).refreshToken, "r");
});

test("a refusal is not taken for an outage: only after an outage the same refresh token is tried again", async (t) => {
  for (const [answer, expected] of [
    [{ status: 400, body: { error: "invalid_grant" } }, "provider-refused"],
    [{ status: 401, body: { error: "invalid_client" } }, "provider-refused"],
    [{ status: 400, body: "<h1>no</h1>" }, "provider-refused"],
    [{ body: { ...good, token_type: "DPoP" } }, "provider-refused"],
    [{ body: {} }, "provider-refused"],
    [{ body: "null" }, "provider-refused"],
    [{ status: 500, body: "oops" }, "provider-unavailable"],
    [{ status: 503 }, "provider-unavailable"],
    [{ status: 429 }, "provider-unavailable"],
    [{ body: "<h1>a proxy's page</h1>" }, "provider-unavailable"],
    [{ status: 302, headers: { location: "http://127.0.0.1:1/" } }, "provider-unavailable"],
  ]) {
    const { provider } = await answering(t, answer);
    await assert.rejects(refresh(provider, "r"), { code: expected }, JSON.stringify(answer));
  }
  const dead = { ...PROVIDER, tokenEndpoint: "http://127.0.0.1:1/token" };
  await assert.rejects(refresh(dead, "r"), { code: "provider-unavailable" });
  assert.equal(await isReachable(dead), false);
  assert.equal(await isReachable((await answering(t, { status: 405 })).provider), true);
});

test("the provider's page for signing out gets what it needs to come back", () => {
  const url = new URL(endSessionUrl(PROVIDER, { idToken: "i", redirect: PAGE.redirect }));
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    client_id: "page",
    post_logout_redirect_uri: "https://bank.test/",
    id_token_hint: "i",
  });
  assert.equal(endSessionUrl({ ...PROVIDER, endSessionEndpoint: null }, { idToken: "i", redirect: "" }), null);
});
