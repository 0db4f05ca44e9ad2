// The way to the provider and back, which unloads the page: the attempt to sign in, the person's unfinished work, and
// whether they have just signed out. In sessionStorage, as the token is, and taken from there on return.

/** @import { Attempt, Return, Work } from "./types.js" */
import { returnIn } from "../shared/provider.js";

const ATTEMPT = "caudal.attempt";
const WORK = "caudal.work";
const LEFT = "caudal.left";

/** Where the provider sends people back to. It is registered there. */
export const redirectNow = () => `${location.origin}/`;

/** @param {string} key */
function take(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "null");
  } catch {
    return null;
  } finally {
    sessionStorage.removeItem(key);
  }
}

/** Before leaving to sign in. @param {Attempt} attempt @param {Work} work */
export function keepForReturn(attempt, work) {
  sessionStorage.setItem(ATTEMPT, JSON.stringify(attempt));
  sessionStorage.setItem(WORK, JSON.stringify(work));
}

/** @returns {Work | null} */
export const takeWork = () => take(WORK);

/** Before leaving to sign out. */
export const keepLeaving = () => sessionStorage.setItem(LEFT, "true");

/** Whether the person comes back from signing out. */
export const takeLeaving = () => take(LEFT) === true;

/**
 * What the provider sent the person back with, once. The address names their screen again, before anything else can read
 * the code from it or from the tab's history.
 * @returns {{ returned: Return, attempt: Attempt | null } | null}
 */
export function takeReturn() {
  const returned = returnIn(location.search);
  if (returned === null) return null;
  /** @type {Attempt | null} */
  const attempt = take(ATTEMPT);
  history.replaceState(history.state, "", `/${attempt?.hash || location.hash}`);
  return { returned, attempt };
}
