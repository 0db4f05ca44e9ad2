// The edge worker under workerd: the host's protocol, request by request, and models by configuration.

import assert from "node:assert/strict";
import { request as send } from "node:http";
import { after, before, test } from "node:test";

import manifest from "../../components/js/lib/dist/manifest.js";
import { SOUND, textOf } from "../parity/hostile.mjs";
import { Service } from "../parity/service.mjs";
import { offerOfPackaged, Stub } from "../parity/stub.mjs";
import { Edge } from "./workerd.mjs";

const RISK = textOf(SOUND.risk);
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Headers that matter to clients. */
const COMPARED = ["content-type", "allow", "retry-after"];

let service;
let edge;

before(async () => {
  service = await Service.start();
  edge = await Edge.start();
});

after(async () => {
  await edge?.end();
  await service?.end();
});

/** A request as raw as it is meant: nothing is added to its headers, and its path is not tidied. */
function ask(base, { method = "POST", path = "/ai/risk", headers = { "content-type": "application/json" }, body }) {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(base);
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const asked = send({ hostname, port, method, path, headers: { ...length, ...headers } }, (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("end", () => resolve({ response, text: Buffer.concat(parts).toString() }));
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

/** What there is to compare of an answer; the words about malformed JSON are each parser's own. */
function comparable({ response, text }) {
  const headers = Object.fromEntries(COMPARED.map((name) => [name, response.headers[name]]));
  const body = text === "" ? null : JSON.parse(text);
  assert.match(response.headers["x-request-id"], UUID);
  if (response.statusCode >= 400 && body) {
    assert.equal(body.requestId, response.headers["x-request-id"]);
    delete body.requestId;
    if (body.code === "malformed-json") delete body.detail;
  }
  return { status: response.statusCode, headers, body };
}

const kinds = (value) => ({ headers: value === null ? {} : { "content-type": value } });

const REQUESTS = {
  "a sound request": { body: RISK },
  "a sound request with identifiers": {
    path: "/ai/nudge",
    body: textOf({ ...SOUND.nudge, user_id: '"u"', session_id: '"s"' }),
  },
  "a parameter": { path: "/ai/risk?a=1", body: "{}" },
  "an unknown path": { path: "/ai/other", body: "{}" },
  "the root": { method: "GET", path: "/" },
  "an unknown path without JSON": { path: "/x", headers: {}, body: "x" },
  "a slash more": { path: "/ai/risk/", body: RISK },
  "a letter in escapes": { path: "/ai/%72isk", body: RISK },
  "another case": { path: "/AI/RISK", body: RISK },
  "the name of a prototype's property": { path: "/__proto__", body: RISK },
  "GET for a score": { method: "GET" },
  "HEAD for a score": { method: "HEAD" },
  "PUT for a score": { method: "PUT", body: RISK },
  "OPTIONS for a score": { method: "OPTIONS" },
  "POST for health": { path: "/ai/health", body: "{}" },
  "DELETE for health": { method: "DELETE", path: "/ai/health" },
  "no content type": { ...kinds(null), body: RISK },
  text: { ...kinds("text/plain"), body: RISK },
  "a form": { ...kinds("application/x-www-form-urlencoded"), body: "a=1" },
  "JSON with a charset": { ...kinds("application/json; charset=utf-8"), body: RISK },
  "JSON in capitals": { ...kinds("APPLICATION/JSON"), body: RISK },
  "JSON with blanks": { ...kinds("  application/json  ;x"), body: RISK },
  "a kind of JSON": { ...kinds("application/vnd.bank+json"), body: RISK },
  "a kind of JSON elsewhere": { ...kinds("text/x+json"), body: RISK },
  "JSON and more": { ...kinds("application/jsonp"), body: RISK },
  "two types in one": { ...kinds("application/json, text/plain"), body: RISK },
  "an empty type": { ...kinds(""), body: RISK },
  "no body": {},
  "no body and no type": { headers: {} },
  "no JSON": { body: "{" },
  "no object": { body: "[]" },
  "one fault": { body: textOf({ ...SOUND.risk, hour_of_day: "24" }) },
  "many faults": { body: "{}" },
  "64 KiB": { body: RISK.padEnd(64 << 10) },
  "a byte more": { body: RISK.padEnd((64 << 10) + 1) },
  "a byte more, without JSON": { ...kinds("text/plain"), body: " ".repeat((64 << 10) + 1) },
  "a byte more, in chunks": {
    headers: { "content-type": "application/json", "transfer-encoding": "chunked" },
    body: RISK.padEnd((64 << 10) + 1),
  },
  "in chunks": { headers: { "content-type": "application/json", "transfer-encoding": "chunked" }, body: RISK },
};

for (const [name, asked] of Object.entries(REQUESTS)) {
  test(`as the host: ${name}`, async () => {
    const wanted = comparable(await ask(service.assist, asked));
    assert.deepEqual(comparable(await ask(edge.url, asked)), wanted);
  });
}

test("the language that a client prefers, as the host chooses it", async () => {
  const body = textOf(SOUND.accessibility);
  const languages = [
    "",
    "en",
    "en-US,en;q=0.9",
    "es-MX, en;q=0.8",
    "en;q=0.9, es;q=0.5",
    "en, es",
    "fr, de;q=0.5",
    "en;q=0",
    "en;q=abc",
    "EN",
    "en_US",
    "*",
    "en;q=inf, es",
    "en;q=-inf",
    "en;q=nan",
    "en;q=+1, es;q=.5",
    "en;q=, es;q=0",
    "en;q=1e-1, es;q=1.e-2",
    "en;level=1;q=0.2, es;q=0.1",
    " en ; q=1",
    "en;Q=0.1, es;q=0.2",
    "english",
    "ñ, en",
    "es;q=0.1, es;q=0.9, en;q=0.5",
    "en;q=0x1",
    "en;q=1_0",
    "en;q=--1",
    "en;q=1.2.3",
    "en;q=infinity, es;q=9",
    "q=1;en",
    ";q=1",
    ",,en,,",
    "en;q=1.8e308, es;q=9e307",
  ];
  let english = 0;
  for (const language of languages) {
    const headers = { "content-type": "application/json", "accept-language": Buffer.from(language).toString("latin1") };
    const asked = { path: "/ai/accessibility", headers, body };
    const wanted = comparable(await ask(service.assist, asked));
    assert.deepEqual(comparable(await ask(edge.url, asked)), wanted, language);
    english += /^(You|We|Your)/.test(wanted.body.explanation[0]) ? 1 : 0;
  }
  assert.ok(english > 5 && english < languages.length - 5, `${english} of ${languages.length} in English`);
});

test("health is the host's report for the kinds that are here", async () => {
  const { status, headers, body } = comparable(await ask(edge.url, { method: "GET", path: "/ai/health" }));
  const host = comparable(await ask(service.assist, { method: "GET", path: "/ai/health" }));
  assert.deepEqual({ status, headers }, { status: host.status, headers: host.headers });
  assert.deepEqual(Object.keys(body), Object.keys(host.body));
  const { "transfer-rules": _, ...models } = host.body.models;
  assert.deepEqual(body.models, models);
  assert.equal(body.model_version, host.body.model_version);
  assert.ok(Number.isInteger(body.uptime_seconds) && body.uptime_seconds >= 0);
  const head = await ask(edge.url, { method: "HEAD", path: "/ai/health" });
  assert.deepEqual([head.response.statusCode, head.text], [200, ""]);
});

test("configuration chooses the model, one beside the other", async () => {
  const texts = { risk: RISK, nudge: textOf(SOUND.nudge), accessibility: textOf(SOUND.accessibility) };
  const scores = new Map();
  for (const model of ["risk-1", "risk-2"]) {
    const own = await Edge.start({ RISK_MODEL: model });
    const answer = await (await own.post("/ai/risk", RISK)).json();
    assert.equal(answer.model_version, manifest.models[model].model_version);
    scores.set(model, answer.result.risk_score);
    const health = await (await fetch(`${own.url}/ai/health`)).json();
    assert.deepEqual(health.models.risk, {
      loaded: true,
      version: manifest.models[model].model_version,
      sha256: manifest.models[model].sha256,
    });
    for (const kind of ["nudge", "accessibility"]) {
      assert.equal((await own.post(`/ai/${kind}`, texts[kind])).status, 200);
    }
    await own.end();
  }
  assert.notEqual(scores.get("risk-1"), scores.get("risk-2"));
});

test("an unknown model is refused clearly, and the others answer", async () => {
  const wrong = [
    ["RISK_MODEL", "risk", "risk-9"],
    ["NUDGE_MODEL", "nudge", "risk-1"],
    ["RISK_MODEL", "risk", ""],
  ];
  for (const [binding, kind, name] of wrong) {
    const own = await Edge.start({ [binding]: name });
    const asked = { path: `/ai/${kind}`, body: textOf(SOUND[kind]) };
    const { status, headers, body } = comparable(await ask(own.url, asked));
    assert.equal(status, 503);
    assert.deepEqual(headers, { "content-type": "application/problem+json", allow: undefined, "retry-after": "1" });
    assert.deepEqual(body, {
      type: "urn:caudal:problem:model-unavailable",
      title: "A model is not available",
      status: 503,
      detail: "Nothing was decided and nothing was changed. Try again later.",
      instance: `/ai/${kind}`,
      code: "model-unavailable",
    });
    const health = await fetch(`${own.url}/ai/health`);
    assert.equal(health.status, 503);
    const report = await health.json();
    assert.equal(report.status, "fail");
    assert.equal(report.model_loaded, kind !== "nudge");
    assert.equal(report.models[kind].loaded, false);
    const has = Object.keys(manifest.models)
      .filter((it) => manifest.models[it].kind === kind)
      .join(", ");
    assert.equal(report.models[kind].deployment_error, `${binding} names "${name}"; this worker has ${has}`);
    assert.equal((await own.post("/ai/accessibility", textOf(SOUND.accessibility))).status, 200);
    await own.end();
  }
});

test("health fails while the host has another model in service, and the worker still scores", async () => {
  const stub = await new Stub().start();
  stub.offers = { risk: offerOfPackaged("risk-2"), nudge: offerOfPackaged("nudge-1") };
  const own = await Edge.start({ CAUDAL_HOST: stub.url });
  const report = async () => {
    const response = await fetch(`${own.url}/ai/health`);
    const { status, models } = await response.json();
    return [response.status, status, models.risk.deployment_error];
  };
  assert.deepEqual(await report(), [200, "ok", undefined], "accessibility is not published, which is no difference");
  stub.offers.risk = offerOfPackaged("risk-1");
  const [here, there] = [manifest.models["risk-2"], manifest.models["risk-1"]].map((it) => it.model_version);
  assert.deepEqual(await report(), [503, "fail", `the host's model is ${there}, not ${here}`]);
  assert.equal((await own.post("/ai/risk", RISK)).status, 200);
  await stub.end();
  assert.deepEqual(await report(), [200, "ok", undefined], "nobody knows");
  await own.end();
});
