// A scorer: a compiled core module behind the glue of its contract.

/** @import { CutOffs } from "./index.js" */
/** @import { Core, Glue, Half, Identity, Runner, Schema } from "./internal.js" */
import { answer, read } from "./boundary.js";
import { ModelFailed } from "./errors.js";
import { fault, levelOf } from "./faults.js";
import { Fields } from "./fields.js";
import { instantiate } from "./instance.js";

/**
 * Runs a component. Each call gets a core instance that is new, or restored to what it was as a new one, so that nothing
 * passes from one request to the next. The glue is set up once, which takes longer than a call; it has no state of the
 * model.
 */
export class Component {
  #kind;
  #core;
  #wrap;
  /** @type {any} */
  #glue = null;
  /** The instance of the current call, and the one for the next. @type {ReturnType<typeof instantiate> | null} */
  #instance = null;

  /** @param {string} kind @param {Core} core @param {Glue["instantiate"]} wrap */
  constructor(kind, core, wrap) {
    this.#kind = kind;
    this.#core = core;
    this.#wrap = wrap;
  }

  /** Its description of itself. */
  describe() {
    return this.#run((glue) => (glue.model ?? glue[this.#kind]).describe());
  }

  /** @param {unknown} request */
  assess(request) {
    return this.#run((glue) => glue[this.#kind].assess(request));
  }

  /** In contract 1 an answer explains itself. @param {unknown} request */
  explain(request) {
    return this.#run(({ [this.#kind]: own }) => (own.explain ? own.explain(request) : own.assess(request)));
  }

  /** @param {(glue: any) => any} call */
  #run(call) {
    try {
      this.#instance ??= instantiate(this.#core);
      this.#glue ??= this.#bind();
      const result = call(this.#glue);
      if (!this.#instance.restore()) this.#instance = null;
      return result;
    } catch (error) {
      this.#instance = null;
      // After a trap the glue refuses every call, so the next one sets it up again.
      this.#glue = null;
      throw new ModelFailed(error);
    }
  }

  /** Glue around a proxy that forwards to the current instance. */
  #bind() {
    const proxy = Object.create(null);
    const { module } = this.#core;
    for (const { name, kind } of WebAssembly.Module.exports(module)) {
      const current = () => /** @type {any} */ (this.#instance).exports[name];
      if (kind === "memory") proxy[name] = Object.defineProperty({}, "buffer", { get: () => current().buffer });
      if (kind === "function") proxy[name] = (/** @type {unknown[]} */ ...values) => current()(...values);
    }
    return this.#wrap(
      () => module,
      {},
      () => ({ exports: proxy }),
    );
  }
}

export class Scorer {
  #schema;
  #component;
  /** The host's half, in contracts that leave something to it. @type {Half | null} */
  half = null;
  /** In place of those of the schema. @type {CutOffs | undefined} */
  cutOffs;

  /** @param {Schema} schema @param {Runner} component @param {Identity} identity */
  constructor(schema, component, { modelVersion, sha256, cut_offs }) {
    this.#schema = schema;
    this.#component = component;
    this.kind = schema.kind;
    this.cutOffs = cut_offs;
    this.modelVersion = modelVersion;
    this.sha256 = sha256;
  }

  describe() {
    return this.#component.describe();
  }

  /** Ends what it needs to score. */
  close() {
    this.#component.close?.();
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
    const { modelVersion, cutOffs } = this;
    /** @param {any} outcome */
    const conclude = (outcome) => answer(this.#schema, this.#checked(outcome, sent, cutOffs), sent, modelVersion);
    const outcome = this.#component.assess(this.half ? this.half.question(sent) : request);
    return outcome instanceof Promise ? outcome.then(conclude) : conclude(outcome);
  }

  /** The answer about a risk, and what weighed how much in it. @param {unknown} request */
  async explain(request) {
    const answer = await this.assess(request);
    const { half } = this;
    const asked = read(this.#schema, new Fields(JSON.stringify(request)));
    const told = await this.#component.explain(half ? half.question(asked.sent) : asked.request);
    const { base, contributions } = half ? half.explanation(told) : told;
    return { ...answer, base, contributions };
  }

  /** The assessment in an outcome. @param {any} outcome @param {Record<string, unknown>} sent @param {CutOffs} [cutOffs] */
  #checked(outcome, sent, cutOffs) {
    try {
      const schema = this.#schema;
      const complaint = this.half ? "" : fault(outcome, schema);
      if (complaint) throw new Error(complaint);
      const assessment = this.half ? this.half.assessment(outcome, sent) : outcome;
      const from = cutOffs ?? (this.half && schema.thresholds);
      return from ? { ...assessment, level: levelOf(schema.answer, assessment.score, from) } : assessment;
    } catch (error) {
      throw error instanceof ModelFailed ? error : new ModelFailed(error);
    }
  }
}
