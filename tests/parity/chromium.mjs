// Chromium with a page that scores: a server here serves the package as the host does, with its content security policy.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

import puppeteer from "puppeteer-core";

const EXECUTABLE = process.env.CAUDAL_CHROMIUM ?? "/usr/bin/chromium";

const PACKAGE = new URL("../../components/js/", import.meta.url);

const TYPES = { ".js": "text/javascript; charset=utf-8", ".wasm": "application/wasm" };

const PAGE = `<!doctype html><html lang="en"><title>Parity</title><link rel="icon" href="data:,">
<script type="module" src="/page.js"></script></html>`;

/** The policy of the host's pages, for tests that have no host. */
export const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'; trusted-types offline-worker";

/**
 * Serves the page. `folder` is `lib/` for the package as it is shipped, and empty for its sources, as the host serves them.
 * `more` returns whether it has answered a request.
 */
export async function servePage({ policy = POLICY, folder = "", more = () => false } = {}) {
  const server = createServer(async (request, response) => {
    if (await more(request, response)) return;
    const { pathname } = new URL(request.url, "http://localhost");
    response.setHeader("Content-Security-Policy", policy);
    response.setHeader("Cache-Control", "no-cache");
    if (pathname === "/") {
      response.setHeader("Content-Type", "text/html; charset=utf-8");
      response.end(PAGE);
      return;
    }
    const path = /^\/scorers\/((?:src|dist)\/[\w./-]+)$/.exec(pathname)?.[1];
    const own = /^\/(page|ask)\.js$/.test(pathname) ? new URL(`.${pathname}`, import.meta.url) : null;
    const file = own ?? (path && new URL(folder + path, PACKAGE));
    const bytes = file && (await readFile(fileURLToPath(file)).catch(() => null));
    if (!bytes) {
      response.writeHead(404).end();
      return;
    }
    response.setHeader("Content-Type", TYPES[extname(file.pathname)] ?? "application/octet-stream");
    response.end(bytes);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url, close };
}

/** Starts the browser. Pages see its `--lang` too, which alone changes only what the browser itself says. */
export function launch(args = []) {
  const wanted = args.filter((it) => it.startsWith("--lang=")).map((it) => it.replace("--lang=", "--accept-lang="));
  return puppeteer.launch({
    executablePath: EXECUTABLE,
    headless: true,
    // Its sandbox does not work as root; the pages are our own.
    args: ["--no-sandbox", "--disable-dev-shm-usage", ...args, ...wanted],
  });
}

/** Opens a page; `faults` collects its errors, including violations of the policy. */
export async function open(browser, url) {
  const page = await browser.newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  await page.goto(url, { waitUntil: "networkidle0" });
  await page.waitForFunction(() => globalThis.scorers !== undefined);
  return { page, faults };
}
