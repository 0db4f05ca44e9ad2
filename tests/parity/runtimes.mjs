// The runtimes of a component, through their public entries with JSON text: the host's HTTP API (wasmtime), and the package
// in Node, in Chromium and as an edge worker (workerd). The package is the shipped one, and in Chromium also the host's.

import * as node from "../../components/js/lib/src/node.js";
import { Edge } from "../edge/workerd.mjs";
import { ask, median, refusal, spell } from "./ask.js";
import { launch, open, servePage } from "./chromium.mjs";

/** Requests in flight. */
const AT_ONCE = 4;

/** Requests that are timed, one at a time. */
const TIMED = 60;

/** Bindings of the worker, by kind. */
const BINDINGS = { risk: "RISK_MODEL", nudge: "NUDGE_MODEL", accessibility: "ACCESSIBILITY_MODEL" };

async function outcomeOf(response) {
  const answer = await response.json();
  return response.ok ? { status: response.status, answer: spell(answer) } : refusal(answer);
}

/** Posts texts; times are those of single requests. */
export async function askByHttp(target, kind, texts, { language, isTimed = false } = {}) {
  const headers = language ? { "accept-language": language } : {};
  const post = async (text) => outcomeOf(await target.post(`/ai/${kind}`, text, headers));
  const outcomes = [];
  let next = 0;
  const work = async () => {
    while (next < texts.length) {
      const index = next++;
      outcomes[index] = await post(texts[index]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const times = [];
  for (const text of texts.slice(0, isTimed ? TIMED : 0)) {
    const begin = performance.now();
    await post(text);
    times.push((performance.now() - begin) * 1000);
  }
  return { outcomes, median: median(times) };
}

/** The host; tests deploy what they need. */
export function wasmtime(service) {
  return { name: "wasmtime", ask: (kind, _, texts, how) => askByHttp(service, kind, texts, how), end: async () => {} };
}

export function inNode() {
  return { name: "Node", ask: (...what) => ask(node, ...what), end: async () => {} };
}

/** JSON text in ASCII. */
function inAscii(value) {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(/[\u0080-\uffff]/g, escaped);
}

/** A page under the host's policy, with the package from a folder of it. */
export async function inChromium({ policy, folder = "" } = {}) {
  const server = await servePage({ policy, folder });
  const browser = await launch();
  const { page, faults } = await open(browser, server.url);
  return {
    name: folder === "" ? "Chromium" : "Chromium, shipped",
    faults,
    page,
    async ask(...what) {
      return JSON.parse(await page.evaluate((it) => globalThis.askInText(it), inAscii(what)));
    },
    async end() {
      await browser.close();
      await server.close();
    },
  };
}

/** Workers by their configured model. */
export async function inWorkerd() {
  const edges = new Map();
  const edgeFor = (kind, { model } = {}) => {
    const bindings = model ? { [BINDINGS[kind]]: model } : {};
    const key = JSON.stringify(bindings);
    if (!edges.has(key)) edges.set(key, Edge.start(bindings));
    return edges.get(key);
  };
  return {
    name: "workerd",
    ask: async (kind, options, texts, how) => askByHttp(await edgeFor(kind, options), kind, texts, how),
    edge: () => edgeFor("risk"),
    end: async () => {
      for (const edge of edges.values()) await (await edge).end();
    },
  };
}
