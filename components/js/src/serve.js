// A component in a worker: its core comes first, then calls. It imports the glue of all contracts, because bundlers do not split
// workers.

/** @import { Core, Glue } from "./internal.js" */
import * as accessibility from "../dist/glue/accessibility.js";
import * as nudge from "../dist/glue/nudge.js";
import * as risk from "../dist/glue/risk.js";
import * as risk2 from "../dist/glue/risk-2.js";
import { Component } from "./scorer.js";

/** @type {Record<string, Glue>} */
const GLUE = { accessibility, nudge, risk, "risk-2": risk2 };

/** Answers messages. @param {(answer: { value?: unknown, error?: string }) => void} post */
export function serving(post) {
  /** @type {Component | undefined} */
  let component;
  /** @param {{ kind: string, contract: string, core?: Core, call: "describe" | "assess" | "explain", request: unknown }} message */
  return ({ kind, contract, core, call, request }) => {
    try {
      if (core) {
        component = new Component(kind, core, GLUE[contract].instantiate);
        post({});
      } else {
        post({ value: component?.[call](request) });
      }
    } catch (error) {
      const { cause, message } = /** @type {Error} */ (error);
      post({ error: cause instanceof Error ? cause.message : message });
    }
  };
}
