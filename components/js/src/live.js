// Follows the model that a Caudal host has in service. Whatever goes wrong, the last good model goes on scoring:
// the one before, the one of an earlier visit, or the one that came with the package.
//
// Only core modules come from the host: they can compute and nothing else. They run behind the glue of the package,
// so a model that needs other glue is not taken. Not for models that nobody examined: an engine here cannot
// interrupt one that never returns, so it is the host's gate that has to keep those out.

import { examine, NotTaken, prove, readCore, readOffer } from "./offer.js";

/** Longest time for one look at the host, in milliseconds, the core included. */
const LOOK_MS_MAX = 10_000;

/** How long a page is kept waiting for the first look before it scores with what is there. */
const START_MS_MAX = 3_000;

/** Time between two looks, in seconds: not a flood, and not longer than timers can wait. */
const SECONDS_MIN = 1;
const SECONDS_MAX = 86_400;

/** Where browsers keep the last good core of each kind, and in which header what the host said of it. */
const CACHE = "caudal-scorers-1";
const OFFER_HEADER = "x-caudal-offer";

/** Starts to follow; resolves as soon as there is something to score with. */
export async function follow(platform, kind, { base, everySeconds = 30, onChange = () => {} } = {}) {
  if (!(everySeconds >= SECONDS_MIN && everySeconds <= SECONDS_MAX)) {
    throw new RangeError(`everySeconds must be from ${SECONDS_MIN} to ${SECONDS_MAX}`);
  }
  // Refuses right here what is no address.
  const live = new Live(platform, kind, new URL(base), { everySeconds, onChange });
  await live.start();
  return live;
}

class Live {
  /** Why the host's model is not the one that scores, as {code, detail}; null when it is. */
  problem = null;

  #platform;
  #kind;
  #base;
  #everySeconds;
  #onChange;
  #scorer = null;
  #etag = null;
  /** The present look at the host, and the one that was asked for meanwhile. */
  #present = null;
  #next = null;
  #abort = new AbortController();
  #timer;
  #isStarted = false;
  #isClosed = false;

  constructor(platform, kind, base, { everySeconds, onChange }) {
    this.#platform = platform;
    this.#kind = kind;
    this.#base = base;
    this.#everySeconds = everySeconds;
    this.#onChange = onChange;
  }

  get kind() {
    return this.#kind;
  }

  get modelVersion() {
    return this.#scorer.modelVersion;
  }

  get sha256() {
    return this.#scorer.sha256;
  }

  assess(request, options) {
    return this.#scorer.assess(request, options);
  }

  assessText(text, options) {
    return this.#scorer.assessText(text, options);
  }

  async start() {
    let failure;
    this.#scorer = await this.#recall();
    try {
      this.#scorer ??= await this.#platform.load(this.#kind);
    } catch (error) {
      failure = error;
    }
    const look = this.check();
    if (this.#scorer) await Promise.race([look, new Promise((done) => later(START_MS_MAX, done))]);
    else await look;
    if (!this.#scorer) {
      this.close();
      throw failure;
    }
    this.#isStarted = true;
  }

  /**
   * Looks at the host now. Resolves to whether the model changed, and never rejects. One look at a time: asked for
   * during one, it resolves after the next, so it never tells of an older state than that of the call.
   */
  check() {
    if (this.#isClosed) return Promise.resolve(false);
    this.#next ??= this.#present?.then(() => {
      this.#next = null;
      return this.check();
    });
    if (this.#next) return this.#next;
    this.#present = this.#look();
    return this.#present;
  }

  /** Ends all looking. What is there goes on scoring. */
  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#abort.abort();
  }

  async #look() {
    clearTimeout(this.#timer);
    const abort = new AbortController();
    this.#abort = abort;
    const patience = later(LOOK_MS_MAX, () => abort.abort());
    let hasChanged = false;
    let problem = null;
    try {
      hasChanged = await this.#follow(abort.signal);
    } catch (error) {
      const isNotTaken = error instanceof NotTaken;
      const detail = isNotTaken ? error.message : "the host gives no answer";
      problem = { code: isNotTaken ? error.code : "unreachable", detail };
    }
    clearTimeout(patience);
    this.#present = null;
    if (this.#isClosed) return false;
    this.problem = problem;
    this.#timer = later(this.#everySeconds * 1000, () => this.check());
    if (hasChanged && this.#isStarted) this.#tell();
    return hasChanged;
  }

  async #follow(signal) {
    const condition = this.#etag ? { "If-None-Match": this.#etag } : {};
    const response = await this.#fetch(this.#address(), signal, condition);
    const { status } = response;
    if (status === 304) return false;
    if (status === 404) throw new NotTaken("not-published", "the host does not publish models of this kind");
    if (status === 409) throw new NotTaken("other-glue", "the model in service does not run in this package");
    if (status !== 200) throw new NotTaken("unreachable", `the host answers ${status}`);
    const offer = await readOffer(response);
    await examine(offer, this.#kind, this.#platform);
    const isNew = offer.sha256 !== this.#scorer?.sha256;
    if (isNew) await this.#take(offer, signal);
    // Only now: what was not taken is to be looked at again.
    this.#etag = response.headers.get("etag");
    return isNew;
  }

  async #take(offer, signal) {
    const url = new URL(offer.core.url, this.#base);
    if (url.origin !== this.#base.origin) throw new NotTaken("other-origin", "the core is on another origin");
    const response = await this.#fetch(url, signal);
    if (response.status !== 200) throw new NotTaken("unreachable", `the host answers ${response.status} for the core`);
    const bytes = await readCore(response, offer);
    const scorer = await prove(offer, bytes, this.#platform);
    // The time may be over, or all of this closed.
    signal.throwIfAborted();
    this.#scorer = scorer;
    await this.#remember(offer, bytes);
  }

  #address() {
    return new URL(`/models/${this.#kind}/active`, this.#base);
  }

  #fetch(url, signal, headers = {}) {
    return fetch(url, { headers, signal, cache: "no-store", credentials: "omit", redirect: "error" });
  }

  /** Keeps a core for the next visit. Without room or permission there is only the package then. */
  async #remember(offer, bytes) {
    try {
      const cache = await this.#platform.caches?.open(CACHE);
      const kept = new Response(bytes, { headers: { [OFFER_HEADER]: JSON.stringify(offer) } });
      await cache?.put(this.#address().href, kept);
    } catch {
      // Nothing depends on it.
    }
  }

  /** The last good model of an earlier visit; proven again, since who knows who was at the cache. */
  async #recall() {
    try {
      const cache = await this.#platform.caches?.open(CACHE);
      const kept = await cache?.match(this.#address().href);
      if (!kept) return null;
      const offer = JSON.parse(kept.headers.get(OFFER_HEADER));
      await examine(offer, this.#kind, this.#platform);
      return await prove(offer, await readCore(kept, offer), this.#platform);
    } catch {
      return null;
    }
  }

  #tell() {
    try {
      this.#onChange(this.modelVersion);
    } catch (error) {
      console.error(error);
    }
  }
}

/** A timer that does not keep a Node process alive. */
function later(ms, run) {
  const timer = setTimeout(run, ms);
  timer.unref?.();
  return timer;
}
