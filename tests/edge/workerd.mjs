// Runs the edge worker under workerd on a free port.

import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { configuration } from "../../components/js/lib/worker/config.mjs";

/** The package's way to locate its binary. */
const BINARY = createRequire(import.meta.url)("workerd").default;

/** Longest wait for the start, in milliseconds. */
const START_MS_MAX = 20_000;

export class Edge {
  /** With models of one's own in a folder. */
  static async start(bindings = {}, models = undefined) {
    const edge = new Edge();
    edge.folder = await mkdtemp(join(tmpdir(), "caudal-edge."));
    const file = join(edge.folder, "worker.capnp");
    await writeFile(file, configuration({ address: "127.0.0.1:0", bindings, models }));
    // Its log of failures that tests provoke would clutter their output.
    const log = process.env.CAUDAL_EDGE_LOG ? "inherit" : "ignore";
    edge.process = spawn(BINARY, ["serve", file, "--control-fd=3"], { stdio: ["ignore", log, log, "pipe"] });
    const patience = setTimeout(() => edge.process.kill(), START_MS_MAX);
    for await (const line of createInterface(edge.process.stdio[3])) {
      const { event, port } = JSON.parse(line);
      if (event === "listen") edge.url = `http://127.0.0.1:${port}`;
      if (edge.url) break;
    }
    clearTimeout(patience);
    if (edge.url) return edge;
    await edge.end();
    throw new Error("workerd did not start; set CAUDAL_EDGE_LOG to see why");
  }

  post(path, body, headers = {}) {
    const all = { "content-type": "application/json", ...headers };
    return fetch(`${this.url}${path}`, { method: "POST", body, headers: all });
  }

  async end() {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const ended = new Promise((resolve) => this.process.once("exit", resolve));
      this.process.kill();
      await ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}
