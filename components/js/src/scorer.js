// A scorer: a compiled core module behind the glue of its kind.

/** @import { Glue, Schema } from "./internal.js" */
import { answer, read } from "./boundary.js";
import { ModelFailed } from "./errors.js";
import { fault } from "./faults.js";
import { Fields } from "./fields.js";

/**
 * Runs a component. Each call gets its own core instance, with fresh memory and globals, so that nothing passes from one
 * request to the next. The glue is set up once, which takes ten times as long as a call; it has no state of the model.
 */
class Component {
  #module;
  #instantiate;
  /** @type {any} */
  #glue = null;
  /** Exports of the current call's instance. @type {any} */
  #exports = null;

  /** @param {WebAssembly.Module} module @param {Glue["instantiate"]} instantiate */
  constructor(module, instantiate) {
    this.#module = module;
    this.#instantiate = instantiate;
  }

  /** @template T @param {(glue: any) => T} call @returns {T} */
  run(call) {
    try {
      this.#exports = new WebAssembly.Instance(this.#module, {}).exports;
      this.#glue ??= this.#bind();
      return call(this.#glue);
    } catch (error) {
      // After a trap the glue refuses every call, so the next one sets it up again.
      this.#glue = null;
      throw new ModelFailed(error);
    } finally {
      this.#exports = null;
    }
  }

  /** Glue around a proxy that forwards to the current instance. */
  #bind() {
    const proxy = Object.create(null);
    for (const { name, kind } of WebAssembly.Module.exports(this.#module)) {
      const current = () => this.#exports[name];
      proxy[name] =
        kind === "memory"
          ? Object.defineProperty({}, "buffer", { get: () => current().buffer })
          : (/** @type {unknown[]} */ ...values) => current()(...values);
    }
    return this.#instantiate(
      () => this.#module,
      {},
      () => ({ exports: proxy }),
    );
  }
}

export class Scorer {
  #schema;
  #component;

  /**
   * @param {Schema} schema @param {WebAssembly.Module} module @param {Glue["instantiate"]} instantiate
   * @param {{ modelVersion: string, sha256: string }} identity
   */
  constructor(schema, module, instantiate, { modelVersion, sha256 }) {
    this.#schema = schema;
    this.#component = new Component(module, instantiate);
    this.kind = schema.kind;
    this.modelVersion = modelVersion;
    this.sha256 = sha256;
  }

  /** The component's description of itself. */
  describe() {
    return this.#component.run((glue) => glue.model.describe());
  }

  /** @param {unknown} request @param {{ language?: string }} [options] */
  assess(request, options) {
    return this.assessText(JSON.stringify(request) ?? "", options);
  }

  /** @param {string} text @param {{ language?: string }} [options] */
  assessText(text, options) {
    const fields = new Fields(text);
    const { request, sent } = read(this.#schema, fields, options);
    fields.finish();
    const assessment = this.#component.run((glue) => glue[this.kind].assess(request));
    const complaint = fault(assessment, this.#schema);
    if (complaint) throw new ModelFailed(new Error(complaint));
    return answer(this.#schema, assessment, sent, this.modelVersion);
  }
}
