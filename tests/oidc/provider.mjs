// An OpenID provider for tests, with a second port that makes it misbehave.
//
//   node provider.mjs [--alg RS256|PS256|ES256|EdDSA] [--port 0] [--control-port 0]
//                     [--client caudal-page] [--audience https://caudal.test/api]
//                     [--access-seconds 300] [--refresh-seconds 3600]
//
// Prints one line of JSON when it is ready, and ends when its standard input does. The control port takes POST with JSON:
//
//   /keys      {"step": "publish" | "sign" | "retire"}: a new key is published, then signs, then the others are gone
//   /fault     {"kind", "delayMs"?}: see faults.mjs; "none" ends it
//   /mint      {"user"?, "scope"?, "audience"?, "issuer"?, "seconds"?, "claims"?, "header"?, "key"?}: any token; a claim or
//              header that is null is left out; "key" is "signing" (default), "next", "weak", "stranger", "shared",
//              "confused" or "none"
//   /lifetimes {"access"?, "refresh"?}: seconds, of tokens issued from now on
//   /forget    {}: all sessions and grants end
//   /seen      {}: how often each path of the issuer was asked for

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { parseArgs } from "node:util";

import { FAULTS, Faults } from "./faults.mjs";
import { answerLogin, bodyOf, issue } from "./issuer.mjs";
import { KeyRing, NAMES, SharedKey, tokenOf } from "./keys.mjs";
import { Memory } from "./memory.mjs";

const { values: options } = parseArgs({
  options: {
    alg: { type: "string", default: "RS256" },
    port: { type: "string", default: "0" },
    "control-port": { type: "string", default: "0" },
    client: { type: "string", default: "caudal-page" },
    audience: { type: "string", default: "https://caudal.test/api" },
    "access-seconds": { type: "string", default: "300" },
    "refresh-seconds": { type: "string", default: "3600" },
  },
});
if (!NAMES.includes(options.alg)) throw new Error(`--alg is one of ${NAMES.join(", ")}`);

const { client, audience } = options;
const seconds = { access: Number(options["access-seconds"]), refresh: Number(options["refresh-seconds"]) };
const ring = new KeyRing(options.alg);
const faults = new Faults(ring);
const memory = new Memory();
const seen = {};
let provider;

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, "http://localhost");
  seen[pathname] = (seen[pathname] ?? 0) + 1;
  if (await faults.answer(request, response)) return;
  try {
    if (!(await answerLogin(provider, request, response))) await provider.callback()(request, response);
  } catch (error) {
    response.writeHead(400, { "content-type": "text/plain" }).end(error.message);
  }
});

const listen = (it, port) =>
  new Promise((resolve, reject) => {
    it.once("error", reject);
    it.listen(port, "127.0.0.1", () => resolve(it.address().port));
  });

const port = await listen(server, Number(options.port));
const issuer = `http://127.0.0.1:${port}`;
/** The provider's keys and lifetimes are fixed when it is made. */
const renew = () => {
  provider = issue({ issuer, ring, memory, client, audience, seconds });
};
renew();

const without = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));

/** As the provider issues it (RFC 9068), unless told otherwise. */
function mint({ user = "ana", scope = "api:read api:write", key: name = "signing", ...more }) {
  const named = {
    signing: () => ring.signing,
    next: () => ring.next,
    weak: () => faults.weak,
    stranger: () => faults.stranger,
    shared: () => faults.shared,
    confused: () => SharedKey.confusedWith(ring.signing),
    none: () => null,
  };
  if (!Object.hasOwn(named, name)) throw new Error(`no key ${name}`);
  const key = named[name]();
  const now = Math.floor(Date.now() / 1_000);
  const claims = {
    iss: more.issuer ?? issuer,
    sub: user,
    aud: more.audience ?? audience,
    client_id: client,
    jti: randomUUID(),
    iat: now,
    exp: now + (more.seconds ?? seconds.access),
    scope,
    ...more.claims,
  };
  const header = { typ: "at+jwt", alg: key?.alg ?? "none", kid: key?.kid ?? null, ...more.header };
  return { token: tokenOf({ header: without(header), claims: without(claims), key }) };
}

const steps = { publish: () => ring.publish(), sign: () => ring.advance(), retire: () => ring.retire() };

const controls = {
  "/keys": ({ step }) => {
    if (!Object.hasOwn(steps, step)) throw new Error(`no step ${step}`);
    steps[step]();
    renew();
    return { signing: ring.signing.kid, published: ring.keys.map((it) => it.kid) };
  },
  "/fault": async ({ kind, delayMs }) => {
    if (!FAULTS.includes(kind)) throw new Error(`a fault is one of ${FAULTS.join(", ")}`);
    Object.assign(faults, { kind, ...(delayMs === undefined ? {} : { delayMs }) });
    if (kind === "refused" && server.listening) server.close();
    // What waits for an answer must not get one later, nor keep a connection.
    server.closeAllConnections();
    if (kind !== "refused" && !server.listening) await listen(server, port);
    return { kind };
  },
  "/mint": mint,
  "/lifetimes": (wanted) => {
    Object.assign(seconds, wanted);
    renew();
    return seconds;
  },
  "/forget": () => {
    memory.clear();
    return {};
  },
  "/seen": () => seen,
};

const control = createServer(async (request, response) => {
  const act = request.method === "POST" ? controls[request.url] : undefined;
  try {
    if (!act) throw new Error(`POST one of ${Object.keys(controls).join(", ")}`);
    const answer = await act(JSON.parse((await bodyOf(request)) || "{}"));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  } catch (error) {
    response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error: error.message }));
  }
});
const controlPort = await listen(control, Number(options["control-port"]));

console.log(
  JSON.stringify({ issuer, control: `http://127.0.0.1:${controlPort}`, port, controlPort, client, audience }),
);
process.stdin.on("end", () => process.exit(0)).resume();
