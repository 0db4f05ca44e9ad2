// Serves the page's shell where there is no connection. It keeps what is the same for everyone, of one version, and
// nothing else: requests to the API pass it by. With a connection the page always comes from the host, so that no version
// can get stuck.

/** The version and its assets, which the build fills in. */
const SHELL = { version: "development", files: [] };

const CACHE = `caudal-page-${SHELL.version}`;
const PAGE = "/";
/** Of the page's frame; they change rarely, and any version of them will do. */
const BESIDE = ["/bank/logo.svg", "/bank/manifest.webmanifest", "/bank/icon-192.png"];
/** Longer than a slow host takes; people do not wait longer for a page that may never come. */
const PATIENCE_MS = 5_000;

/** What the types of a page do not know. */
const worker = /** @type {any} */ (globalThis);
/** @type {string[]} */
const FILES = SHELL.files;

/** @param {string} path @param {RequestCache} freshness */
async function fetched(path, freshness) {
  const response = await fetch(path, { cache: freshness, credentials: "omit", redirect: "error" });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response;
}

/** Keeps all of one version, or nothing: during an upgrade hosts of two releases answer, and the browser tries again later. */
async function install() {
  const page = await fetched(PAGE, "no-cache");
  const text = await page.clone().text();
  const assets = await Promise.all(FILES.map((path) => fetched(path, "default")));
  const isWhole =
    FILES.every((path) => text.includes(path)) &&
    assets.every((it) => it.headers.get("Cache-Control")?.includes("immutable"));
  if (!isWhole) throw new Error("the hosts are being upgraded");
  const others = await Promise.all(BESIDE.map((path) => fetched(path, "no-cache")));
  const cache = await caches.open(CACHE);
  const paths = [PAGE, ...FILES, ...BESIDE];
  await Promise.all([page, ...assets, ...others].map((it, place) => cache.put(paths[place], it)));
  // Nothing that an open page still needs is only in the earlier version's cache.
  await worker.skipWaiting();
}

async function activate() {
  const names = await caches.keys();
  const old = names.filter((it) => it.startsWith("caudal-page-") && it !== CACHE);
  await Promise.all(old.map((it) => caches.delete(it)));
  await worker.clients.claim();
}

/** @param {string} path */
const kept = async (path) => (await caches.open(CACHE)).match(path);

/** The page from the host; from here where the host cannot be reached. @param {Request} request */
async function page(request) {
  try {
    const response = await fetch(request, { signal: AbortSignal.timeout(PATIENCE_MS) });
    // A proxy whose host is gone.
    return response.status < 500 ? response : ((await kept(PAGE)) ?? response);
  } catch {
    return (await kept(PAGE)) ?? Response.error();
  }
}

/** Names contain digests, so what is kept is what the host has. @param {Request} request @param {string} path */
const asset = async (request, path) => (await kept(path)) ?? fetch(request);

/** @param {Request} request @param {string} path */
async function beside(request, path) {
  try {
    return await fetch(request);
  } catch {
    return (await kept(path)) ?? Response.error();
  }
}

worker.addEventListener("install", (/** @type {any} */ event) => event.waitUntil(install()));
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(activate()));
worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (request.mode === "navigate") {
    if (pathname === PAGE) event.respondWith(page(request));
  } else if (FILES.includes(pathname)) event.respondWith(asset(request, pathname));
  else if (BESIDE.includes(pathname)) event.respondWith(beside(request, pathname));
});
