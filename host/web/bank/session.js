// Who is signed in, and until when. A session that ends by itself keeps what the person was doing, for the same
// person; one that they end leaves nothing behind.

import { forgetConsent, loadConsent } from "./analytics.js";
import * as api from "./api.js";
import { behaviour } from "./behaviour.js";
import { forgetTransfer } from "./draft.js";
import { forgetDrafts } from "./form.js";
import { askHistory, forgetAll } from "./known.js";
import { forgetProfile, loadProfile } from "./profile.js";
import { prepare } from "./scorers.js";
import { claimsOf, forget, keep, token } from "./token.js";

/** How long before its end a session says so: time enough to read it, find the button and sign in again. */
const WARN_BEFORE_MS = 180_000;
/** Longest wait for the person's look before the first screen is shown in the usual one. */
const LOOK_MS_MAX = 1_500;
/** The longest timer that browsers keep. */
const TIMER_MS_MAX = 2 ** 31 - 1;

let user = null;
let expires = null;
/** Whose work is held, also while nobody is signed in. */
let worker = null;
/** Why the sign-in is shown: null, 'expired' or 'left'. */
let reason = null;
let isSandbox = false;
let isTrying = false;
let timers = [];
let changed = () => {};
let ending = () => {};

export const userNow = () => user ?? "";
export const expiresNow = () => expires;
export const reasonNow = () => reason;
export const inSandbox = () => isSandbox;
export const isSignedIn = () => token() !== "" && !isTrying;

/** `sessionChanged()` draws anew; `sessionEnding()` warns. */
export function watchSession({ sessionChanged, sessionEnding }) {
  changed = sessionChanged;
  ending = sessionEnding;
  api.notices.unauthorized = () => {
    if (!isTrying) expire();
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
  const after = (ms, act) => timers.push(setTimeout(act, Math.min(TIMER_MS_MAX, Math.max(0, ms))));
  if (left - WARN_BEFORE_MS < TIMER_MS_MAX) after(left - WARN_BEFORE_MS, () => ending());
  // Nobody's balances stay on a screen after the session that showed them.
  if (left < TIMER_MS_MAX) after(left, expire);
}

/** The session has ended by itself. */
export function expire() {
  if (token() === "") return;
  forget();
  stopTimers();
  user = null;
  expires = null;
  reason = "expired";
  changed();
}

/** The person leaves. */
export function leave() {
  forget();
  stopTimers();
  forgetWork();
  forgetConsent();
  forgetProfile();
  user = null;
  expires = null;
  worker = null;
  reason = "left";
  changed();
}

/** What a session begins with: who it is, how the page looks to them, and the models for when the line breaks. */
async function adopt() {
  ({ user, expires } = claimsOf(token()));
  if (worker !== null && worker !== user) forgetWork();
  worker = user;
  startTimers();
  prepare();
  askHistory();
  loadConsent().catch(() => {});
  const patience = new Promise((resolve) => {
    setTimeout(resolve, LOOK_MS_MAX);
  });
  await Promise.race([loadProfile(), patience]);
}

/** Signs in with a token; throws the Problem when the bank does not take it. */
export async function signIn(text) {
  isTrying = true;
  keep(text);
  try {
    await api.consent();
  } catch (problem) {
    forget();
    throw problem;
  } finally {
    isTrying = false;
  }
  reason = null;
  await adopt();
  changed();
}

export async function enterSandbox(name) {
  await signIn(await api.sandboxToken(name));
}

/** In the sandbox a session is simply continued. Elsewhere a token comes from outside. */
export async function renew() {
  if (isSandbox && user) {
    keep(await api.sandboxToken(user));
    ({ user, expires } = claimsOf(token()));
    startTimers();
    return true;
  }
  return false;
}

/** At the start of the page: a reload goes on with the token of this tab. */
export async function begin() {
  const sandbox = api.isSandbox().then((it) => {
    isSandbox = it;
  });
  if (token() !== "") {
    const { expires: end } = claimsOf(token());
    if (end && end.getTime() <= Date.now()) {
      forget();
      reason = "expired";
    } else {
      await adopt();
    }
  }
  if (token() === "") await sandbox;
}
