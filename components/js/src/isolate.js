// Scorers whose cores run in a worker, so that one that never returns can be ended. A page stays responsive meanwhile.

/** @import { Spawned } from "./index.js" */
/** @import { Core, Identity, Schema } from "./internal.js" */
import { ModelFailed } from "./errors.js";
import { Scorer } from "./scorer.js";

/** For one call: a thousand times what a model takes, and soon enough for a person who waits. */
const CALL_MS_MAX = 60;

/** Until a worker has loaded its modules, on a slow connection. */
const START_MS_MAX = 10_000;

/** Makes such a scorer. @param {Schema} schema @param {string} contract @param {Core} core @param {Identity} identity @param {() => Spawned} spawn */
export function isolated(schema, contract, core, identity, spawn) {
  return new IsolatedScorer(schema, new Remote({ kind: schema.kind, contract, core }, spawn), identity);
}

class IsolatedScorer extends Scorer {
  /** Rejects where that of a scorer throws. @type {(text: string, options?: { language?: string }) => Promise<any>} */
  async assessText(text, options) {
    return super.assessText(text, options);
  }
}

/** A component in a worker, which is started for the first call, and for the first one after it was ended. */
class Remote {
  #component;
  #spawn;
  /** @type {Promise<Spawned> | null} */
  #worker = null;
  /** The last call; they run one at a time, so that each has its time. @type {Promise<unknown>} */
  #last = Promise.resolve();

  /** @param {{ kind: string, contract: string, core: Core }} component @param {() => Spawned} spawn */
  constructor(component, spawn) {
    this.#component = component;
    this.#spawn = spawn;
  }

  describe() {
    return this.#queue({ call: "describe" });
  }

  /** @param {unknown} request */
  assess(request) {
    return this.#queue({ call: "assess", request });
  }

  /** @param {unknown} request */
  explain(request) {
    return this.#queue({ call: "explain", request });
  }

  /** After the calls that are under way. */
  close() {
    this.#last.then(() => this.#end());
  }

  /** @param {object} call */
  #queue(call) {
    const answer = this.#last.then(() => this.#ask(call));
    this.#last = answer.catch(() => {});
    return answer;
  }

  /** @param {object} call */
  async #ask(call) {
    try {
      this.#worker ??= this.#start();
      const worker = await this.#worker;
      const { value, error } = await exchange(worker, call, CALL_MS_MAX);
      if (error === undefined) return value;
      throw new Error(error);
    } catch (error) {
      this.#end();
      throw new ModelFailed(error);
    }
  }

  async #start() {
    const worker = this.#spawn();
    try {
      const { error } = await exchange(worker, this.#component, START_MS_MAX);
      if (error !== undefined) throw new Error(error);
      return worker;
    } catch (error) {
      worker.terminate();
      throw error;
    }
  }

  #end() {
    this.#worker?.then(
      (worker) => worker.terminate(),
      () => {},
    );
    this.#worker = null;
  }
}

/** Posts a message and waits for the answer. @param {Spawned} worker @param {object} message @param {number} ms @returns {Promise<any>} */
function exchange(worker, message, ms) {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`no answer in ${ms} ms`));
    // If the page was busy until now, an answer may be waiting.
    let timer = setTimeout(() => (timer = setTimeout(late)), ms);
    /** @param {() => void} settle */
    const done = (settle) => {
      clearTimeout(timer);
      worker.unref?.();
      settle();
    };
    const onError = (/** @type {any} */ event) => done(() => reject(new Error(`the worker failed: ${event.message}`)));
    if (worker.once) {
      worker.removeAllListeners?.();
      worker.once("message", (data) => done(() => resolve(data)));
      worker.once("error", onError);
    } else {
      worker.onmessage = ({ data }) => done(() => resolve(data));
      worker.onerror = onError;
    }
    // A program in Node lives until there is an answer, and not longer.
    worker.ref?.();
    worker.postMessage(message);
  });
}
