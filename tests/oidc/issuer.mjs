// A real OpenID provider with two public clients, and a login that believes any user name.

import "./older.mjs";

import Provider, { interactionPolicy } from "oidc-provider";

/** The scopes of the service. */
const SCOPES = "api:read api:write models:admin rules:admin ledger:operate ledger:read audit:read";
/** The console's client id. */
const CONSOLE = "caudal-console";
/** A session at the provider, longer than any test. */
const SESSION_SECONDS = 3_600;
/** Any loopback port (RFC 8252): the host's is not known before it starts. */
const LOOPBACK = /^http:\/\/127\.0\.0\.1:\d+$/;

const html = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.codePointAt(0)};`);

const page = (title, body) => `<!doctype html><html lang="es-MX"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>${title}</title><h1>${title}</h1>${body}</html>`;

const loginPage = (uid, hint) =>
  page(
    "Acceso de prueba",
    `<form method="post" action="/login/${uid}"><label>Usuario <input name="user" value="${html(hint)}" autofocus required></label>
<button>Entrar</button></form><p><a href="/login/${uid}/cancel">Cancelar</a></p>`,
  );

/** Ends the session without a question, which would only cost tests a click. */
const logoutPage = (form) =>
  page(
    "Salida",
    `${form}<button form="op.logoutForm" name="logout" value="yes" autofocus>Salir</button>
<script>document.querySelector("button").click()</script>`,
  );

/** The usual prompts, without the question that native clients get each time. */
function prompts() {
  const policy = interactionPolicy.base();
  policy.get("consent").checks.remove("native_client_prompt");
  return policy;
}

/** @param {{ issuer: string, ring: import("./keys.mjs").KeyRing, memory: import("./memory.mjs").Memory,
 *   client: string, audience: string, seconds: { access: number, refresh: number } }} about */
export function issue({ issuer, ring, memory, client, audience, seconds }) {
  const { alg, signing } = ring;
  const publicClient = (id, redirect, end) => ({
    client_id: id,
    application_type: "native",
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    redirect_uris: [redirect],
    post_logout_redirect_uris: [end],
    id_token_signed_response_alg: alg,
  });
  const provider = new Provider(issuer, {
    clients: [
      publicClient(client, "http://127.0.0.1/", "http://127.0.0.1/"),
      publicClient(CONSOLE, "http://127.0.0.1/console/signed-in.html", "http://127.0.0.1/console"),
    ],
    adapter: (kind) => memory.adapter(kind),
    jwks: { keys: ring.keys.map((it) => it.whole) },
    cookies: { keys: ["for tests only"] },
    routes: { jwks: "/jwks", token: "/token" },
    pkce: { required: () => true },
    clientBasedCORS: (_context, origin) => LOOPBACK.test(origin),
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: true },
      rpInitiatedLogout: {
        logoutSource: (context, form) => {
          context.body = logoutPage(form);
        },
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        getResourceServerInfo: () => ({
          audience,
          scope: SCOPES,
          accessTokenFormat: "jwt",
          accessTokenTTL: seconds.access,
          jwt: { sign: { alg, kid: signing.kid } },
        }),
      },
    },
    // The bank's page asks for no consent: the bank owns both.
    loadExistingGrant: async ({ oidc: { session, client: asking } }) => {
      // One grant for all tabs of a session: a new one would void the others' refresh tokens.
      const known = session.grantIdFor(asking.clientId);
      if (known) return provider.Grant.find(known);
      const grant = new provider.Grant({ clientId: asking.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid offline_access");
      grant.addResourceScope(audience, SCOPES);
      await grant.save();
      return grant;
    },
    issueRefreshToken: () => true,
    rotateRefreshToken: () => true,
    ttl: {
      AccessToken: seconds.access,
      AuthorizationCode: 60,
      Grant: SESSION_SECONDS,
      IdToken: SESSION_SECONDS,
      Interaction: SESSION_SECONDS,
      RefreshToken: seconds.refresh,
      Session: SESSION_SECONDS,
    },
    interactions: { url: (_context, { uid }) => `/login/${uid}`, policy: prompts() },
    renderError: (context, out) => {
      context.type = "html";
      context.body = page("Error", `<p>${html(out.error)}: ${html(out.error_description ?? "")}</p>`);
    },
  });
  provider.on("server_error", (_context, error) => console.error(error));
  return provider;
}

export async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Answers the login's requests; false for those of the provider itself. */
export async function answerLogin(provider, request, response) {
  const [, uid, cancel] = /^\/login\/([\w-]+)(\/cancel)?$/.exec(request.url) ?? [];
  if (!uid) return false;
  const { params } = await provider.interactionDetails(request, response);
  if (request.method === "GET" && !cancel) {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" });
    response.end(loginPage(uid, String(params.login_hint ?? "")));
    return true;
  }
  const user = cancel ? "" : (new URLSearchParams(await bodyOf(request)).get("user") ?? "");
  const result = user ? { login: { accountId: user } } : { error: "access_denied" };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  return true;
}
