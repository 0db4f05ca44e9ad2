// A stream of NATS JetStream gets every event once, although its server starts late and is killed under load.
//
//   tests/tools.sh nats && CAUDAL=target/debug/caudal node --test tests/ha/nats.mjs

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { test } from "node:test";

import { arrive, ask, feed, load } from "./bank.mjs";
import { Host, token } from "./host.mjs";
import { freePort, Server } from "./postgres.mjs";
import { Processes, signal, sleep, until } from "./processes.mjs";

const TRANSFERS = 2_000;
const PATIENCE_MS = 60_000;

/** As much of a client as it takes to ask one thing at a time. */
class Client {
  #text = "";

  static async to(port) {
    const client = new Client();
    client.socket = connect(port, "127.0.0.1");
    client.socket.setEncoding("utf8").on("data", (text) => {
      client.#text += text;
    });
    client.socket.on("error", () => {});
    const options = JSON.stringify({ verbose: false, user: "test", pass: "test", protocol: 1 });
    client.socket.write(`CONNECT ${options}\r\nSUB answers 1\r\n`);
    return client;
  }

  /** @returns {Promise<any>} */
  async ask(subject, question) {
    const body = JSON.stringify(question);
    this.#text = "";
    this.socket.write(`PUB ${subject} answers ${Buffer.byteLength(body)}\r\n${body}\r\n`);
    let answer;
    await until(`${subject} is answered`, PATIENCE_MS, () => {
      answer = this.#text.match(/MSG answers 1 (\d+)\r\n(.*)\r\n/);
      return answer !== null && Buffer.byteLength(answer[2]) >= Number(answer[1]);
    });
    return JSON.parse(answer[2]);
  }
}

test("a stream has every event once", async () => {
  const folder = await mkdtemp("/tmp/caudal-nats.");
  const processes = new Processes();
  try {
    const server = await Server.in(processes, folder, "postgres");
    await server.create();
    await server.start();
    const hosts = [new Host(processes, folder, "one", server.port)];
    await hosts[0].start();
    const ops = token("eva", "events:read events:admin");
    const port = await freePort();
    const url = `nats://127.0.0.1:${port}`;
    const { id, secret } = await ask(hosts, ops, "/admin/sinks", { kind: "nats", url, from: "" });
    const customers = await arrive(hosts);

    const users = `[{user: "${id}", password: "${secret}"}, {user: test, password: test}]`;
    const settings = `listen: "127.0.0.1:${port}"\njetstream: {store_dir: "${folder}/nats"}\nauthorization: {users: ${users}}\n`;
    await writeFile(`${folder}/nats.conf`, settings);
    const start = () => processes.start("nats-server", ["-c", `${folder}/nats.conf`], { log: `${folder}/nats.log` });
    let pid = start();
    await sleep(1_000);
    let client = await Client.to(port);
    const stream = { name: "CAUDAL", subjects: ["caudal.>"], storage: "file" };
    assert.equal((await client.ask("$JS.API.STREAM.CREATE.CAUDAL", stream)).error, undefined);
    const loaded = load(hosts, customers, TRANSFERS);
    await sleep(500);
    signal("SIGKILL", [pid]);
    await sleep(1_000);
    pid = start();
    await loaded;
    await sleep(1_000);
    await ask(hosts, ops, `/admin/sinks/${id}/resend`, {});

    const wanted = await feed(hosts, ops);
    client = await Client.to(port);
    const count = async () => (await client.ask("$JS.API.STREAM.INFO.CAUDAL", {})).state.messages;
    await until("all events are in the stream", PATIENCE_MS, async () => (await count()) >= wanted.length);
    const got = [];
    for (let seq = 1; seq <= wanted.length; seq += 1) {
      const { message } = await client.ask("$JS.API.STREAM.MSG.GET.CAUDAL", { seq });
      const event = JSON.parse(Buffer.from(message.data, "base64").toString());
      assert.equal(message.subject, `caudal.${event.type}`);
      got.push(event);
    }
    const byId = (one, other) => (one.id < other.id ? -1 : 1);
    assert.deepEqual(got.sort(byId), wanted.sort(byId));
    assert.equal(await count(), wanted.length, "the stream recognises what it is sent twice");
    client.socket.end();
  } finally {
    await processes.end();
    await rm(folder, { recursive: true, force: true });
  }
});
