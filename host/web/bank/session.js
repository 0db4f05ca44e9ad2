// Who is signed in, and until when. A session that expires keeps what the person was doing, for the same person; signing
// out leaves nothing behind. A session with the bank's provider is renewed for as long as somebody uses the page.

/** @import { Renewal, Work } from "./types.js" */
import { claimsOf, payloadOf } from "../shared/token.js";
import { forgetConsent, loadConsent } from "./analytics.js";
import * as api from "./api.js";
import { behaviour } from "./behaviour.js";
import { claimDraft, draftNow, forgetTransfer, restoreDraft } from "./draft.js";
import { inSandbox, knowProvider } from "./entrance.js";
import { claimDrafts, draftsNow, forgetDrafts, keepDrafts, restoreDrafts } from "./form.js";
import { dropGrant, grantNow, isRenewable, renewGrant, resumeGrant } from "./grant.js";
import { forgetJournal } from "./journal.js";
import { claimKnown, forgetAll, forgetKept, loadHistory, loadTerms } from "./known.js";
import { loadProfile, restoreLook } from "./profile.js";
import { hooks } from "./request.js";
import { loadScorers } from "./scorers.js";
import { hasLeft, noteArrival, noteDeparture, watchDepartures } from "./tabs.js";
import { timeout } from "./timeout.js";
import { clearToken, storeToken, token } from "./token.js";

/** Time enough to read the warning, find the button and sign in again; and for a provider to come back. */
const WARN_BEFORE_MS = 180_000;
/** Between attempts to renew while the provider does not answer. */
const RETRY_MS = 5_000;
/** After so long without a key or a touch a session is not renewed by itself: perhaps nobody is there. */
const IDLE_MS = 600_000;
/** Longest wait for the person's profile before the first screen is shown in the default look. */
const PROFILE_TIMEOUT_MS = 1_500;
/** The longest delay that browsers' timers accept. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** @type {string | null} */
let user = null;
/** @type {Date | null} */
let expires = null;
/** Whose unfinished work is kept, even after the session expired. @type {string | null} */
let workOwner = null;
/** Why the sign-in is shown. @type {"expired" | "left" | "elsewhere" | null} */
let reason = null;
let isSigningIn = false;
/** When somebody last used the page. */
let usedAt = Date.now();
/** @type {Renewal | null} */
let lastRenewal = null;
/** @type {ReturnType<typeof setTimeout>[]} */
let timers = [];
let onChange = () => {};
let onExpiring = () => {};
let onExtended = () => {};

/** What the person is called: providers' subjects are often mere numbers. */
export function nameNow() {
  const { name, preferred_username: short } = payloadOf(grantNow()?.idToken ?? "") ?? {};
  return [name, short].find((it) => typeof it === "string" && it !== "") ?? user ?? "";
}
export const userNow = () => user ?? "";
export const expiresNow = () => expires;
export const reasonNow = () => reason;
export const isSignedIn = () => token() !== "" && !isSigningIn;
export const canExtend = () => inSandbox() || isRenewable();
/** Whether the provider did not answer the last attempt to renew. */
export const isProviderSilent = () => lastRenewal === "unavailable";

/**
 * `onExpiring` is called shortly before the session expires, `onExtended` when it was extended.
 * @param {{ onChange: () => void, onExpiring: () => void, onExtended: () => void }} listeners
 */
export function watchSession(listeners) {
  ({ onChange, onExpiring, onExtended } = listeners);
  hooks.unauthorized = async (refused) => {
    if (isSigningIn || !isRenewable()) return false;
    if (refused === token()) return (await extend()) === "renewed";
    // Another request has renewed it meanwhile, unless somebody else has signed in.
    return claimsOf(refused).user === user;
  };
  hooks.expired = () => {
    if (!isSigningIn) expire();
  };
  window.addEventListener("pagehide", () => keepDrafts(user));
  window.addEventListener("pageshow", ({ persisted }) => persisted && claimDrafts(user));
  watchDepartures(() => {
    const person = user ?? workOwner;
    if (person !== null && hasLeft(person)) forgetPerson("elsewhere");
  });
  for (const type of ["keydown", "pointerdown", "wheel"]) {
    const used = () => {
      usedAt = Date.now();
    };
    document.addEventListener(type, used, { capture: true, passive: true });
  }
}

function forgetWork() {
  forgetDrafts();
  forgetTransfer();
  forgetAll();
  forgetJournal();
  behaviour.forget();
}

/** What has to outlive the page. @returns {Work} */
export const workNow = () => ({ owner: workOwner, forms: draftsNow(), transfer: draftNow() });

/** @param {Work} work */
export function takeUpWork({ owner, forms, transfer }) {
  workOwner = owner;
  restoreDrafts(forms);
  restoreDraft(transfer);
}

function stopTimers() {
  timers.forEach(clearTimeout);
  timers = [];
}

/** @param {number} ms @param {() => void} act */
function after(ms, act) {
  if (ms < TIMER_MS_MAX) timers.push(setTimeout(act, Math.max(0, ms)));
}

function startTimers() {
  stopTimers();
  if (!expires) return;
  const left = expires.getTime() - Date.now();
  const { issued } = grantNow() ?? {};
  if (isRenewable() && issued !== undefined) {
    // Half of a short life, so that a renewal is never due at once.
    after(left - Math.min(WARN_BEFORE_MS, (expires.getTime() - issued) / 2), renewWhileUsed);
  } else {
    after(left - WARN_BEFORE_MS, onExpiring);
  }
  after(left, endUnlessRenewed);
}

const isIdle = () => Date.now() - usedAt > IDLE_MS;

async function renewWhileUsed() {
  const isWarned = lastRenewal === "unavailable";
  const renewal = isIdle() ? null : await extend();
  if (renewal === "renewed" || token() === "") return;
  if (!isWarned) onExpiring();
  if (renewal === "unavailable") after(RETRY_MS, renewWhileUsed);
}

/** A device that slept wakes up to all of its timers at once, and may still renew. */
async function endUnlessRenewed() {
  if (isRenewable() && !isIdle() && (await extend()) === "renewed") return;
  // No balance stays on screen after the session that showed it.
  expire();
}

/** @param {"expired" | "left" | "elsewhere"} why */
function end(why) {
  clearToken();
  dropGrant();
  forgetKept();
  stopTimers();
  user = null;
  expires = null;
  lastRenewal = null;
  reason = why;
}

export function expire() {
  if (token() === "") return;
  end("expired");
  onChange();
}

export function signOut() {
  if (user !== null) noteDeparture(user);
  forgetPerson("left");
}

/** Signs out and leaves nothing of the person behind. @param {"left" | "elsewhere"} why */
function forgetPerson(why) {
  end(why);
  forgetWork();
  forgetConsent();
  restoreLook();
  workOwner = null;
  onChange();
}

/** The person has signed out, before the page was loaded again. */
export function wasLeft() {
  reason = "left";
}

function readClaims() {
  const claims = claimsOf(token());
  // A lifetime counts from its issue by this device's clock, which may be wrong.
  const { expires: granted } = grantNow() ?? {};
  user = claims.user;
  expires = granted ? new Date(granted) : claims.expires;
  startTimers();
}

/** Starts a session: its user, their profile and terms, and the models and history for when the connection breaks. */
async function start() {
  readClaims();
  if (workOwner !== null && workOwner !== user) forgetWork();
  workOwner = user;
  if (user !== null) {
    claimDraft(user);
    claimKnown(user);
    claimDrafts(user);
  }
  loadScorers();
  loadHistory();
  await Promise.race([Promise.all([loadProfile(), loadTerms()]), timeout(PROFILE_TIMEOUT_MS)]);
}

/** Signs in; throws the Problem when the bank does not accept the token. @param {string} text */
export async function signIn(text) {
  isSigningIn = true;
  storeToken(text);
  try {
    await loadConsent();
  } catch (problem) {
    clearToken();
    throw problem;
  } finally {
    isSigningIn = false;
  }
  reason = null;
  noteArrival();
  await start();
  onChange();
}

/** @param {string} name */
export async function signInToSandbox(name) {
  await signIn(await api.sandboxToken(name));
}

/** Renews a session with the provider. @returns {Promise<Renewal>} */
async function extend() {
  lastRenewal = await renewGrant(knowProvider);
  if (lastRenewal === "renewed" && token() !== "") {
    readClaims();
    onExtended();
  }
  return lastRenewal;
}

/** Extends the session as the person asks, with the provider or in the sandbox. @returns {Promise<Renewal>} */
export async function renew() {
  if (isRenewable()) return extend();
  if (!inSandbox() || !user) return "ended";
  storeToken(await api.sandboxToken(user));
  readClaims();
  return "renewed";
}

/** After a reload, goes on with what this tab has. */
export async function resumeSession() {
  if (token() === "") return;
  if (hasLeft(claimsOf(token()).user ?? "")) {
    forgetPerson("elsewhere");
    return;
  }
  resumeGrant();
  const until = grantNow()?.expires ?? claimsOf(token()).expires?.getTime() ?? Infinity;
  if (until > Date.now() || (isRenewable() && (await extend()) === "renewed")) {
    loadConsent().catch(() => {});
    await start();
  } else end("expired");
}
