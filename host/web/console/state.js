// What the service said of each kind, and asking it again. No drawing.

import * as api from "./api.js";
import { kindOf } from "./kinds.js";
import { asProblem } from "./problems.js";

/** What is known; all of it is forgotten when the operator signs out. */
export const known = { versions: new Map(), deployments: new Map(), histories: new Map(), reports: new Map() };

export function forgetAll() {
  Object.values(known).forEach((map) => map.clear());
}

/**
 * Asks for what is shown of a kind. Deployments and histories only where the epoch says that they
 * changed: a page that stays open asks two small things each time.
 */
export async function ask(kind) {
  const models = await api.models();
  models.forEach((it) => known.versions.set(it.kind, it));
  const changed = models.filter((it) => known.deployments.get(it.kind)?.epoch !== it.epoch);
  const asked = changed.map(async (it) => known.deployments.set(it.kind, await api.deployment(it.kind)));
  if (known.histories.get(kind)?.epoch !== known.versions.get(kind)?.epoch) {
    asked.push(aside(known.histories, kind, async () => ({ history: await api.history(kind) })));
  }
  if (kindOf(kind).hasChallengers) {
    asked.push(aside(known.reports, kind, async () => ({ report: await api.report(kind) })));
  }
  await Promise.all(asked);
}

/** A part whose failure is shown in its own place, and leaves the others alone. */
async function aside(map, kind, asking) {
  const epoch = known.versions.get(kind)?.epoch;
  try {
    map.set(kind, { epoch, ...(await asking()) });
  } catch (error) {
    if (error.status === 401) throw error;
    // An epoch that never is: it is asked for again.
    map.set(kind, { epoch: null, problem: asProblem(error) });
  }
}
