// A component in a worker: its core comes first, then calls.

/** @import { Core, Glue } from "./internal.js" */
import { Component } from "./scorer.js";

/** Answers messages. @param {(kind: string) => Glue} glueOf @param {(answer: { value?: unknown, error?: string }) => void} post */
export function serving(glueOf, post) {
  /** @type {Component | undefined} */
  let component;
  /** @param {{ kind: string, core?: Core, describe?: boolean, request: unknown }} message */
  return ({ kind, core, describe, request }) => {
    try {
      if (core) {
        component = new Component(kind, core, glueOf(kind).instantiate);
        post({});
      } else {
        post({ value: describe ? component?.describe() : component?.assess(request) });
      }
    } catch (error) {
      const { cause, message } = /** @type {Error} */ (error);
      post({ error: cause instanceof Error ? cause.message : message });
    }
  };
}
