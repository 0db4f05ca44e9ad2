// Who is signed in, and until when. A session that expires keeps what the person was doing, for the same person; signing
// out leaves nothing behind.

import { claimsOf } from "../shared/token.js";
import { forgetConsent, loadConsent } from "./analytics.js";
import * as api from "./api.js";
import { behaviour } from "./behaviour.js";
import { forgetTransfer } from "./draft.js";
import { forgetDrafts } from "./form.js";
import { forgetAll, loadHistory } from "./known.js";
import { loadProfile, restoreLook } from "./profile.js";
import { loadScorers } from "./scorers.js";
import { clearToken, storeToken, token } from "./token.js";

/** Time enough to read the warning, find the button and sign in again. */
const WARN_BEFORE_MS = 180_000;
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
/** Why the sign-in is shown. @type {"expired" | "left" | null} */
let reason = null;
let isSandbox = false;
let isSigningIn = false;
/** @type {ReturnType<typeof setTimeout>[]} */
let timers = [];
let onChange = () => {};
let onExpiring = () => {};

export const userNow = () => user ?? "";
export const expiresNow = () => expires;
export const reasonNow = () => reason;
export const inSandbox = () => isSandbox;
export const isSignedIn = () => token() !== "" && !isSigningIn;

/** `onExpiring` is called shortly before the session expires. @param {{ onChange: () => void, onExpiring: () => void }} listeners */
export function watchSession(listeners) {
  ({ onChange, onExpiring } = listeners);
  api.hooks.unauthorized = () => {
    if (!isSigningIn) expire();
  };
}

function forgetWork() {
  forgetDrafts();
  forgetTransfer();
  forgetAll();
  behaviour.forget();
}

function stopTimers() {
  timers.forEach(clearTimeout);
  timers = [];
}

function startTimers() {
  stopTimers();
  if (!expires) return;
  const left = expires.getTime() - Date.now();
  /** @param {number} ms @param {() => void} act */
  const after = (ms, act) => {
    if (ms < TIMER_MS_MAX) timers.push(setTimeout(act, Math.max(0, ms)));
  };
  after(left - WARN_BEFORE_MS, () => onExpiring());
  // No balance stays on screen after the session that showed it.
  after(left, expire);
}

/** @param {"expired" | "left"} why */
function end(why) {
  clearToken();
  stopTimers();
  user = null;
  expires = null;
  reason = why;
}

export function expire() {
  if (token() === "") return;
  end("expired");
  onChange();
}

export function signOut() {
  end("left");
  forgetWork();
  forgetConsent();
  restoreLook();
  workOwner = null;
  onChange();
}

function readClaims() {
  ({ user, expires } = claimsOf(token()));
  startTimers();
}

/** Starts a session: its user, their profile, and the models and history for when the connection breaks. */
async function start() {
  readClaims();
  if (workOwner !== null && workOwner !== user) forgetWork();
  workOwner = user;
  loadScorers();
  loadHistory();
  loadConsent().catch(() => {});
  const timeout = new Promise((resolve) => {
    setTimeout(resolve, PROFILE_TIMEOUT_MS);
  });
  await Promise.race([loadProfile(), timeout]);
}

/** Signs in; throws the Problem when the bank does not accept the token. @param {string} text */
export async function signIn(text) {
  isSigningIn = true;
  storeToken(text);
  try {
    await api.consent();
  } catch (problem) {
    clearToken();
    throw problem;
  } finally {
    isSigningIn = false;
  }
  reason = null;
  await start();
  onChange();
}

/** @param {string} name */
export async function signInToSandbox(name) {
  await signIn(await api.sandboxToken(name));
}

/** Extends the session, which only the sandbox can do; false elsewhere. */
export async function renew() {
  if (!isSandbox || !user) return false;
  storeToken(await api.sandboxToken(user));
  readClaims();
  return true;
}

/** Starts the page; after a reload it goes on with the token of this tab. */
export async function resumeSession() {
  const sandbox = api.isSandbox().then((it) => {
    isSandbox = it;
  });
  if (token() !== "") {
    const claims = claimsOf(token());
    if (claims.expires && claims.expires.getTime() <= Date.now()) end("expired");
    else await start();
  }
  if (token() === "") await sandbox;
}
