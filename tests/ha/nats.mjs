// A stream of NATS JetStream gets every event once, although its server starts late and is killed under load.
//
//   tests/tools.sh nats && CAUDAL=target/debug/caudal node --test tests/ha/nats.mjs

import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { test } from "node:test";

import { arrive, ask, feed, load } from "./bank.mjs";
import { Host, token } from "./host.mjs";
import { freePort, Server } from "./postgres.mjs";
import { Processes, signal, sleep, until } from "./processes.mjs";

const TRANSFERS = 2_000;
const PATIENCE_MS = 60_000;

/** Creates the stream, in the protocol of NATS, and hangs up. */
async function createStream(port) {
  const body = JSON.stringify({ name: "CAUDAL", subjects: ["caudal.>"], storage: "file" });
  const socket = connect(port, "127.0.0.1");
  socket.write(`CONNECT {"user": "test", "pass": "test", "verbose": false}\r\n`);
  socket.write(`PUB $JS.API.STREAM.CREATE.CAUDAL answers ${body.length}\r\n${body}\r\n`);
  await sleep(500);
  socket.destroy();
}

test("a stream has every event once", async () => {
  const folder = await mkdtemp("/tmp/caudal-nats.");
  const processes = new Processes();
  try {
    // The server's user reads it too.
    await chmod(folder, 0o755);
    const server = await Server.in(processes, folder, "postgres");
    await server.create();
    await server.start();
    const hosts = [new Host(processes, folder, "one", server.port)];
    await hosts[0].start();
    const ops = token("eva", "events:read events:admin");
    const [port, monitor] = [await freePort(), await freePort()];
    const sink = { kind: "nats", url: `nats://127.0.0.1:${port}`, from: "" };
    const { id, secret } = await ask(hosts, ops, "/admin/sinks", sink);
    const customers = await arrive(hosts);

    const users = `[{user: "${id}", password: "${secret}"}, {user: test, password: test}]`;
    const addresses = `listen: "127.0.0.1:${port}"\nhttp: "127.0.0.1:${monitor}"`;
    const settings = `${addresses}\njetstream: {store_dir: "${folder}/nats"}\nauthorization: {users: ${users}}\n`;
    await writeFile(`${folder}/nats.conf`, settings);
    const start = () => processes.start("nats-server", ["-c", `${folder}/nats.conf`], { log: `${folder}/nats.log` });
    let pid = start();
    await sleep(1_000);
    await createStream(port);
    const loaded = load(hosts, customers, TRANSFERS);
    await sleep(500);
    signal("SIGKILL", [pid]);
    await sleep(1_000);
    pid = start();
    await loaded;

    const wanted = await feed(hosts, ops);
    const count = async () => {
      const stored = await (await fetch(`http://127.0.0.1:${monitor}/jsz?streams=true`)).json();
      return stored.account_details[0].stream_detail[0].state.messages;
    };
    await until("all events are in the stream", PATIENCE_MS, async () => (await count()) >= wanted.length);
    await sleep(1_000);
    assert.equal(await count(), wanted.length, "the stream recognises what it is sent twice");
  } finally {
    await processes.end();
    await rm(folder, { recursive: true, force: true });
  }
});
