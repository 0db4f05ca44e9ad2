// Follows the model that a Caudal host has in service. Whatever goes wrong, the last good model continues to score: the
// previous one, the one of an earlier visit, or the one of the package.
//
// Only core modules come from the host, which can do nothing but compute. They run behind the glue of the package, so a
// model that needs other glue is rejected. Engines cannot interrupt a core that never returns: the host's gate keeps such
// models out, and with `isolate` a worker can be ended.

/** @import { Kind, LiveOptions, LiveProblem } from "./index.js" */
/** @import { LivePlatform, Offer } from "./internal.js" */
/** @import { Scorer } from "./scorer.js" */
import { examine, prove, Rejection, readCore, readOffer } from "./offer.js";

/** For one check, including the core. */
const CHECK_TIMEOUT_MS = 10_000;

/** How long a page waits for the first check before it scores with the model at hand. */
const START_TIMEOUT_MS = 3_000;

/** Between two checks: neither a flood nor more than timers accept. */
const SECONDS_MIN = 1;
const SECONDS_MAX = 86_400;

/** Where browsers store the last good core of each kind, and the header with its offer. */
const CACHE = "caudal-scorers-1";
const OFFER_HEADER = "x-caudal-offer";

/**
 * Resolves as soon as there is a model to score with.
 * @param {LivePlatform} platform @param {Kind} kind @param {LiveOptions} options
 */
export async function follow(platform, kind, { base, everySeconds = 30, onChange = () => {}, isolate, keys } = {}) {
  if (!(everySeconds >= SECONDS_MIN && everySeconds <= SECONDS_MAX)) {
    throw new RangeError(`everySeconds must be from ${SECONDS_MIN} to ${SECONDS_MAX}`);
  }
  // Throws a TypeError if it is not an address.
  const live = new Live(platform, kind, new URL(String(base)), { everySeconds, onChange, isolate });
  await live.start(keys);
  return live;
}

class Live {
  /** Why the host's model does not score; null when it does. @type {LiveProblem | null} */
  problem = null;

  #platform;
  #kind;
  #base;
  #everySeconds;
  #onChange;
  #isolate;
  /** With keys, what only accepts what they signed. @type {Awaited<ReturnType<typeof import("./signed.js").signed>> | null} */
  #signed = null;
  /** @type {Scorer | null} */
  #scorer = null;
  /** @type {string | null} */
  #etag = null;
  /** The current check. @type {Promise<boolean> | null} */
  #current = null;
  /** The one requested while it runs. @type {Promise<boolean> | null} */
  #next = null;
  #abort = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #isStarted = false;
  #isClosed = false;

  /** @param {LivePlatform} platform @param {Kind} kind @param {URL} base @param {Pick<LiveOptions, "isolate"> & Required<Pick<LiveOptions, "everySeconds" | "onChange">>} options */
  constructor(platform, kind, base, { everySeconds, onChange, isolate }) {
    this.#platform = platform;
    this.#kind = kind;
    this.#base = base;
    this.#everySeconds = everySeconds;
    this.#onChange = onChange;
    this.#isolate = isolate;
  }

  get kind() {
    return this.#kind;
  }

  /** `start` resolves only with a scorer. */
  get #ready() {
    return /** @type {Scorer} */ (this.#scorer);
  }

  get modelVersion() {
    return this.#ready.modelVersion;
  }

  get sha256() {
    return this.#ready.sha256;
  }

  /** @type {Scorer["assess"]} */
  assess(request, options) {
    return this.#ready.assess(request, options);
  }

  /** @type {Scorer["assessText"]} */
  assessText(text, options) {
    return this.#ready.assessText(text, options);
  }

  /** @type {Scorer["explain"]} */
  explain(request) {
    return this.#ready.explain(request);
  }

  /** @param {JsonWebKey[]} [keys] */
  async start(keys) {
    let failure;
    const { subtle } = this.#platform;
    if (keys && subtle) this.#signed = await (await import("./signed.js")).signed(subtle, keys);
    this.#scorer = await this.#recall();
    try {
      this.#scorer ??= await this.#platform.load(this.#kind, { isolate: this.#isolate });
    } catch (error) {
      failure = error;
    }
    const check = this.check();
    if (this.#scorer) await Promise.race([check, new Promise((done) => later(START_TIMEOUT_MS, done))]);
    else await check;
    if (!this.#scorer) {
      this.close();
      throw failure;
    }
    this.#isStarted = true;
  }

  /**
   * Resolves to whether the model changed, and never rejects. Checks do not overlap: a call during one resolves after the
   * next, so its result is never older than the call.
   * @returns {Promise<boolean>}
   */
  check() {
    if (this.#isClosed) return Promise.resolve(false);
    this.#next ??=
      this.#current?.then(() => {
        this.#next = null;
        return this.check();
      }) ?? null;
    if (this.#next) return this.#next;
    this.#current = this.#runCheck();
    return this.#current;
  }

  /** Stops checking; the current model continues to score. */
  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#abort.abort();
    this.#scorer?.close();
  }

  async #runCheck() {
    clearTimeout(this.#timer);
    const abort = new AbortController();
    this.#abort = abort;
    const timeout = later(CHECK_TIMEOUT_MS, () => abort.abort());
    let hasChanged = false;
    /** @type {LiveProblem | null} */
    let problem = null;
    try {
      hasChanged = await this.#follow(abort.signal);
    } catch (error) {
      problem =
        error instanceof Rejection
          ? { code: error.code, detail: error.message }
          : { code: "unreachable", detail: "the host does not answer" };
    }
    clearTimeout(timeout);
    this.#current = null;
    if (this.#isClosed) return false;
    this.problem = problem;
    this.#timer = later(this.#everySeconds * 1000, () => this.check());
    if (hasChanged && this.#isStarted) this.#notify();
    return hasChanged;
  }

  /** @param {AbortSignal} signal */
  async #follow(signal) {
    /** @type {Record<string, string>} */
    const condition = this.#etag ? { "If-None-Match": this.#etag } : {};
    const response = await this.#fetch(this.#address(), signal, condition);
    const { status } = response;
    if (status === 304) return false;
    if (status === 404) throw new Rejection("not-published", "the host does not publish models of this kind");
    if (status === 409) throw new Rejection("other-glue", "the model in service does not run in this package");
    if (status !== 200) throw new Rejection("unreachable", `the host answers ${status}`);
    const offer = await readOffer(response);
    await examine(offer, this.#kind, this.#platform);
    const isNew = offer.sha256 !== this.#scorer?.sha256;
    if (isNew) await this.#take(offer, signal);
    this.#ready.cutOffs = offer.cut_offs;
    // Only now: a rejected offer has to be examined again.
    this.#etag = response.headers.get("etag");
    return isNew;
  }

  /** @param {Offer} offer @param {AbortSignal} signal */
  async #take(offer, signal) {
    const get = async (/** @type {string} */ path) => {
      const url = new URL(path, this.#base);
      if (url.origin !== this.#base.origin) throw new Rejection("other-origin", "the core is on another origin");
      return this.#fetch(url, signal);
    };
    offer.signature = await this.#signed?.signatureOf(offer, get);
    const response = await get(this.#signed?.pathOf(offer) ?? offer.core.url);
    if (response.status !== 200) throw new Rejection("unreachable", `the host answers ${response.status} for the core`);
    const bytes = await readCore(response, this.#signed ? undefined : offer);
    const scorer = await this.#prove(offer, bytes);
    // It may have timed out or been closed in the meantime.
    signal.throwIfAborted();
    this.#scorer?.close();
    this.#scorer = scorer;
    await this.#remember(offer, bytes);
  }

  /** @param {Offer} offer @param {Uint8Array<ArrayBuffer>} bytes */
  #prove(offer, bytes) {
    return prove(offer, bytes, this.#platform, this.#isolate, this.#signed?.verified);
  }

  #address() {
    return new URL(`/models/${this.#kind}/active`, this.#base);
  }

  /** @param {URL} url @param {AbortSignal} signal @param {Record<string, string>} headers */
  #fetch(url, signal, headers = {}) {
    return fetch(url, { headers, signal, cache: "no-store", credentials: "omit", redirect: "error" });
  }

  /** Stores a core for the next visit, if there is room and permission. @param {Offer} offer @param {Uint8Array<ArrayBuffer>} bytes */
  async #remember(offer, bytes) {
    try {
      const cache = await this.#platform.caches?.open(CACHE);
      const kept = new Response(bytes, { headers: { [OFFER_HEADER]: JSON.stringify(offer) } });
      await cache?.put(this.#address().href, kept);
    } catch {
      // The next visit starts with the package's model.
    }
  }

  /** The last good model of an earlier visit; verified again, because other scripts can write to the cache. */
  async #recall() {
    try {
      const cache = await this.#platform.caches?.open(CACHE);
      const kept = await cache?.match(this.#address().href);
      if (!kept) return null;
      /** @type {Offer} */
      const offer = JSON.parse(kept.headers.get(OFFER_HEADER) ?? "null");
      await examine(offer, this.#kind, this.#platform);
      return await this.#prove(offer, await readCore(kept, this.#signed ? undefined : offer));
    } catch {
      return null;
    }
  }

  #notify() {
    try {
      this.#onChange(this.modelVersion);
    } catch (error) {
      console.error(error);
    }
  }
}

/** A timer that does not keep a Node process alive. @param {number} ms @param {(value?: any) => void} run */
function later(ms, run) {
  const timer = /** @type {any} */ (setTimeout(run, ms));
  timer.unref?.();
  return timer;
}
