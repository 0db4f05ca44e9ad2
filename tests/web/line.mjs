// The line between the page and the real host: a small proxy that can be cut, lose an answer after the host has acted on
// the request, or answer as a broken proxy would. With CAUDAL_WEB_TREE set it serves the page's files from the repository
// instead of the binary, so that the page can be changed without a build.

import { readFile } from "node:fs/promises";
import { request as ask, createServer } from "node:http";
import { extname } from "node:path";

import { POLICY } from "../parity/chromium.mjs";

const TREE = new URL("../../host/web/", import.meta.url);
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json",
};
/** Files that are served at other paths than their own. */
const ELSEWHERE = { "/": "bank/index.html", "/offline-worker.js": "bank/offline-worker.js" };

export class Line {
  /** Every request: {method, path, headers, body}. */
  requests = [];
  #rules = [];
  #isCut = false;

  static async to(host) {
    const line = new Line();
    line.host = new URL(host);
    line.server = createServer((request, response) => line.#pass(request, response));
    await new Promise((resolve) => line.server.listen(0, "127.0.0.1", resolve));
    line.url = `http://127.0.0.1:${line.server.address().port}`;
    return line;
  }

  /** From now on no request gets through, and none in flight is answered. */
  cut() {
    this.#isCut = true;
    this.server.closeAllConnections();
  }

  /** Restores the connection. */
  restore() {
    this.#isCut = false;
    this.#rules = [];
  }

  /** Such requests reach the host, which acts on them, but the answer is lost. */
  loseAnswers(method, path) {
    this.#rules.push({ method, path });
  }

  /** Such requests are answered here and do not reach the host. */
  answer(method, path, { status, headers = {}, body = "" }) {
    this.#rules.push({ method, path, with: { status, headers, body } });
  }

  /** Such requests since `from`, an earlier length of `requests`. */
  seen(method, path, from = 0) {
    return this.requests.slice(from).filter((it) => it.method === method && it.path.startsWith(path));
  }

  async #pass(request, response) {
    if (this.#isCut) {
      request.socket.destroy();
      return;
    }
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { method, url: path, headers } = request;
    this.requests.push({ method, path, headers, body: body.toString() });
    if (process.env.CAUDAL_WEB_TREE && (await fromTree(path, response))) return;
    const isMeant = (it) => (it.path === "/" ? path === "/" : path.startsWith(it.path));
    const rule = this.#rules.find((it) => it.method === method && isMeant(it));
    if (rule?.with) {
      response.writeHead(rule.with.status, rule.with.headers);
      response.end(rule.with.body);
      return;
    }
    const { hostname, port } = this.host;
    const onward = ask({ hostname, port, method, path, headers }, (answer) => {
      if (rule) {
        answer.resume();
        answer.on("end", () => request.socket.destroy());
        return;
      }
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    onward.end(body);
  }

  close() {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(resolve));
  }
}

async function fromTree(path, response) {
  const { pathname } = new URL(path, "http://localhost");
  if (!ELSEWHERE[pathname] && !/^\/(bank|shared)\//.test(pathname)) return false;
  const name = ELSEWHERE[pathname] ?? pathname.slice(1);
  const text = await readFile(new URL(name, TREE)).catch(() => null);
  const headers = { "Content-Security-Policy": POLICY, "Cache-Control": "no-cache" };
  response.writeHead(text ? 200 : 404, { ...headers, "Content-Type": TYPES[extname(name)] });
  response.end(text);
  return true;
}
