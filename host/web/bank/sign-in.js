// Signing in and out with the bank's OpenID provider: there, and back. It ends in a session like any other.

/** @import { Attempt, Provider, Return } from "./types.js" */
import { asProblem, Problem } from "../shared/problem.js";
import { authorizationUrl, endSessionUrl, faultOf, isReachable, newAttempt, redeem } from "../shared/provider.js";
import { keepForReturn, keepLeaving, redirectNow, takeLeaving, takeReturn, takeWork } from "./detour.js";
import { knowEntrance, knowProvider } from "./entrance.js";
import { dropGrant, grantNow, keepGrant } from "./grant.js";
import { proofFor } from "./possession.js";
import { resumeSession, signIn, signOut, takeUpWork, wasLeft, workNow } from "./session.js";
import { token } from "./token.js";
import { languageNow } from "./words.js";

/** Why signing in or out did not work: the end of a text's key, or "". */
let fault = "";
/** Whether the page has said that the provider does not answer. */
let isToldOfSilence = false;

export const faultNow = () => fault;

/** Leaves for the provider. Throws a Problem, once, if it does not answer. @param {Provider} provider */
export async function leaveToSignIn(provider) {
  // Only once: a proxy may refuse the question and yet let people through.
  if (!isToldOfSilence && !(await isReachable(provider))) {
    isToldOfSilence = true;
    throw new Problem({ code: "provider-unavailable" });
  }
  const attempt = newAttempt(location.hash);
  const url = await authorizationUrl(provider, attempt, { redirect: redirectNow(), language: languageNow() });
  keepForReturn(attempt, workNow());
  location.assign(url);
}

/** @param {{ returned: Return, attempt: Attempt | null }} back */
async function comeBack({ returned, attempt }) {
  try {
    const provider = await knowProvider();
    if (!provider) return;
    fault = faultOf(returned, attempt, provider);
    if (fault !== "" || attempt === null || returned.code === null) return;
    const tokens = await redeem(provider, { code: returned.code, attempt, redirect: redirectNow() }, proofFor);
    keepGrant(tokens);
    await signIn(tokens.accessToken);
  } catch (error) {
    const { code, status } = asProblem(error);
    dropGrant();
    // The provider is content with the person, the bank is not.
    const isRefused = status === 401 || status === 403;
    fault = isRefused ? "refused" : code === "provider-unavailable" ? "unavailable" : "failed";
  }
}

/** Signs out here, and then at the provider, so that nobody else can go on there. */
export async function leave() {
  const grant = grantNow();
  fault = "";
  signOut();
  const provider = grant ? await knowProvider().catch(() => null) : null;
  const url = provider && endSessionUrl(provider, { idToken: grant?.idToken ?? null, redirect: redirectNow() });
  // Somebody may have signed in meanwhile.
  if (!provider || !url || token() !== "") return;
  if (await isReachable(provider)) {
    keepLeaving();
    location.assign(url);
  } else {
    fault = "still-in";
    // Draws the sign-in again, with what went wrong.
    signOut();
  }
}

/** Starts the page, after a reload or on the way back from the provider. */
export async function resume() {
  const back = takeReturn();
  const work = takeWork();
  if (work) takeUpWork(work);
  if (takeLeaving()) wasLeft();
  const entrance = knowEntrance();
  await resumeSession();
  if (token() !== "") return;
  await entrance;
  if (back) await comeBack(back);
}
