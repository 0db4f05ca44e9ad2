// A scorer: one compiled core module behind the glue of its kind. No fetching here: the entry points do that.

import { ModelFailed } from "./errors.js";
import { Fields } from "./fields.js";

/**
 * Runs a component. Each call gets a core instance of its own, with new memory and globals, so nothing that one
 * request left behind can reach the next. The glue around it is set up once: it holds no state of the model, and
 * setting it up takes ten times as long as a call.
 */
class Component {
  #module;
  #instantiate;
  #glue = null;
  /** Exports of the instance of the present call. */
  #exports = null;

  constructor(module, instantiate) {
    this.#module = module;
    this.#instantiate = instantiate;
  }

  run(call) {
    try {
      this.#exports = new WebAssembly.Instance(this.#module, {}).exports;
      this.#glue ??= this.#bind();
      return call(this.#glue);
    } catch (error) {
      // The glue goes on refusing after a trap; the next call sets up another.
      this.#glue = null;
      throw new ModelFailed(error);
    } finally {
      this.#exports = null;
    }
  }

  /** Glue whose core stands in for whichever instance is the present one. */
  #bind() {
    const standIn = Object.create(null);
    for (const { name, kind } of WebAssembly.Module.exports(this.#module)) {
      const present = () => this.#exports[name];
      standIn[name] =
        kind === "memory"
          ? Object.defineProperty({}, "buffer", { get: () => present().buffer })
          : (...values) => present()(...values);
    }
    return this.#instantiate(
      () => this.#module,
      {},
      () => ({ exports: standIn }),
    );
  }
}

/** What may be told of a request: not more than was sent. */
function present(echo) {
  return Object.fromEntries(Object.entries(echo).filter(([, value]) => value !== undefined));
}

export class Scorer {
  #kind;
  #component;

  /** `kind` is the module of that name; `instantiate` comes from its glue. */
  constructor(kind, module, instantiate, { modelVersion, sha256 }) {
    this.#kind = kind;
    this.#component = new Component(module, instantiate);
    Object.assign(this, { kind: kind.kind, modelVersion, sha256 });
  }

  /** What the component says of itself. */
  describe() {
    return this.#component.run((glue) => glue.model.describe());
  }

  assess(request, options) {
    return this.assessText(JSON.stringify(request) ?? "", options);
  }

  assessText(text, options) {
    const { kind, read, fault, answer } = this.#kind;
    const fields = new Fields(text);
    const { request, echo } = read(fields, options);
    fields.finish();
    const assessment = this.#component.run((glue) => glue[kind].assess(request));
    const complaint = fault(assessment);
    if (complaint) throw new ModelFailed(new Error(complaint));
    return answer(assessment, present(echo), this.modelVersion);
  }
}
