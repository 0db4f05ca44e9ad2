// What the service answered for each kind.

/** @import { Approval, Deployment, Loaded, Payment, Report, Review, Rollout, Versions } from "./types.js" */
import * as api from "./api.js";
import { kindOf } from "./kinds.js";
import { asFailure } from "./problems.js";

/** By kind; forgotten when the operator signs out. */
export const known = {
  versions: /** @type {Map<string, Versions>} */ (new Map()),
  deployments: /** @type {Map<string, Deployment>} */ (new Map()),
  histories: /** @type {Map<string, Loaded<Deployment[]>>} */ (new Map()),
  reports: /** @type {Map<string, Loaded<Report>>} */ (new Map()),
  rollouts: /** @type {Map<string, Loaded<Rollout[]>>} */ (new Map()),
  /** One entry, `all`, if the token allows to see them. */
  approvals: /** @type {Map<string, Loaded<Approval[]>>} */ (new Map()),
  payments: /** @type {Map<string, Loaded<Payment[]>>} */ (new Map()),
  reviews: /** @type {Map<string, Loaded<Review[]>>} */ (new Map()),
};

export function forgetAll() {
  for (const map of Object.values(known)) map.clear();
}

/** @param {string[]} scopes */
const has = (...scopes) => scopes.some((it) => api.claims().scopes?.includes(it));

export const looksUpCustomers = () => has("ledger:read", "ledger:operate");

/** Not if the token is for customers only. */
export const readsModels = () => !looksUpCustomers() || has("models:admin", "rules:admin", "audit:read");

export const mayReplay = () => has("models:admin", "audit:read");

/** Loads what waits for a person, as far as the token allows. */
export async function refreshWaiting() {
  const loading = [];
  if (has("models:admin", "rules:admin", "ledger:operate"))
    loading.push(loadPart(known.approvals, "all", api.approvals));
  if (has("ledger:operate"))
    loading.push(loadPart(known.payments, "all", api.payments), loadPart(known.reviews, "all", api.reviews));
  await Promise.all(loading);
}

/**
 * Loads what is shown of a kind. Deployments and histories are loaded only when their epoch has changed, so a page that
 * stays open makes two small requests each time.
 * @param {string} kind
 */
export async function refreshKind(kind) {
  if (!readsModels()) return;
  const models = await api.models();
  for (const it of models) known.versions.set(it.kind, it);
  const changed = models.filter((it) => known.deployments.get(it.kind)?.epoch !== it.epoch);
  /** @type {Promise<unknown>[]} */
  const loading = changed.map(async (it) => known.deployments.set(it.kind, await api.deployment(it.kind)));
  // A token may be limited to other kinds.
  if (!known.versions.has(kind)) {
    await Promise.all(loading);
    return;
  }
  if (known.histories.get(kind)?.epoch !== known.versions.get(kind)?.epoch) {
    loading.push(loadPart(known.histories, kind, api.history));
  }
  loading.push(loadPart(known.reports, kind, api.report));
  if (kindOf(kind).hasCanaries) loading.push(loadPart(known.rollouts, kind, api.rollouts));
  await Promise.all(loading);
}

/**
 * Loads a part whose failure is shown in its own place.
 * @template Data
 * @param {Map<string, Loaded<Data>>} parts @param {string} kind @param {(kind: string) => Promise<Data>} load
 */
async function loadPart(parts, kind, load) {
  const epoch = known.versions.get(kind)?.epoch;
  try {
    parts.set(kind, { epoch, data: await load(kind) });
  } catch (error) {
    const failure = asFailure(error);
    if (failure.status === 401) throw error;
    parts.set(kind, { epoch: null, failure });
  }
}
