// Who is signed in. A token that is about to end says so; one that has ended is replaced in a dialog above whatever is open,
// so nothing that was typed is lost.

/** @import { Failure } from "./types.js" */
import { at, button, h, markInvalid } from "../shared/dom.js";
import { Problem } from "../shared/problem.js";
import { isSendable, payloadOf, tokenIn } from "../shared/token.js";
import * as api from "./api.js";
import { openDialog } from "./dialog.js";
import { update } from "./patch.js";
import { asFailure } from "./problems.js";
import { forgetSession, isRenewable, openLogin, providerHost, renewed, whenSignedIn } from "./provider.js";
import { endOf } from "./words.js";

/** Enough to finish a sentence and to fetch another token. */
const WARNED_MS = 120_000;
/** Hosts allow for clocks that differ. */
const LEEWAY_MS = 60_000;

const tokenInput = /** @type {HTMLInputElement} */ (at("token"));
const form = at("sign-in-form");

let signedIn = false;
export const isSignedIn = () => signedIn;

/** `load` fetches what the page shows first; it throws if the host refuses the token. */
let page = { load: async () => {}, begin: () => {}, end: () => {} };

/** The dialog that asks for another token, and who waits for it. @type {{ dialog: HTMLDialogElement, answer: Promise<boolean> } | null} */
let asked = null;

export function drawSession() {
  for (const place of ["session", "console", "bottom"]) at(place).hidden = !signedIn;
  at("sign-in").hidden = signedIn;
  if (!signedIn) document.title = "Sign in – Model console – Caudal";
  const { user, expires } = api.claims();
  update(
    at("who"),
    signedIn && user && ["Signed in as ", h("strong", user)],
    signedIn && expires && [", until ", endOf(expires)],
  );
  drawEnding();
}

function timeLeft() {
  const { expires } = api.claims();
  return signedIn && expires ? expires.getTime() - Date.now() : Number.POSITIVE_INFINITY;
}

/** On the page, and in the open dialog, which hides the page. */
export function drawEnding() {
  const { expires } = api.claims();
  const left = timeLeft();
  const isRenewed = left < WARNED_MS && isRenewable();
  if (isRenewed) renewQuietly();
  const verb = left > 0 ? "ends" : "ended";
  const leeway = left <= 0 && left > -LEEWAY_MS ? " Hosts accept it for a minute more at most." : "";
  for (const place of document.querySelectorAll("[data-ending]")) {
    update(
      place,
      left < WARNED_MS &&
        expires &&
        !(isRenewed && left > 0) &&
        h(
          "div.notice.bad",
          h("p", `Your token ${verb} at `, endOf(expires), `.${leeway} Sign in again; what you have typed stays.`),
          button("Sign in again", () => signInAgain()),
        ),
    );
  }
}

/** @param {string} text */
function showTokenFault(text) {
  update(at("token-fault"), text);
  markInvalid(tokenInput, text !== "");
}

/** With the provider, without the operator. */
async function renewQuietly() {
  const session = api.sessionNow();
  const token = await renewed();
  if (token === null || session.aborted || personIn(token) !== personIn(api.tokenNow())) return false;
  api.renewToken(token);
  drawSession();
  return true;
}

/** One that is refused before its end would be refused again. @param {Failure} failure */
const replaceToken = async (failure) => (timeLeft() < WARNED_MS && (await renewQuietly())) || signInAgain(failure);

/** Resolves with whether there is another token of the same operator. @param {Failure} [failure] why the host refused the present one */
function signInAgain(failure) {
  if (!signedIn) return Promise.resolve(false);
  if (asked) return asked.answer;
  const [before, { expires, user }] = [api.tokenNow(), api.claims()];
  /** @type {(isRenewed: boolean) => void} */
  let resolve = () => {};
  const dialog = openDialog({
    eyebrow: `Signed in as ${user ?? "an unknown operator"}`,
    title: "Sign in again",
    parts: [
      failure &&
        h("p", expires && expires <= new Date() ? ["Your token ended at ", endOf(expires)] : failure.title, "."),
      h("p", `As ${user ?? "the same operator"}. What you typed is kept${failure ? "; signing out discards it" : ""}.`),
      form,
      h("div.choice", failure ? button("Sign out", signOut) : button("Cancel", () => dialog.close())),
    ],
    isBusy: () => failure !== undefined,
    onClose: () => {
      // Signing out has put it back, with the focus.
      if (dialog.contains(form)) at("sign-in").append(form);
      asked = null;
      resolve(signedIn && api.tokenNow() !== before);
    },
  });
  // Meanwhile the page is hidden from passers-by.
  dialog.classList.toggle("locked", failure !== undefined);
  dialog.querySelector("[data-ending]")?.remove();
  asked = {
    dialog,
    answer: new Promise((done) => {
      resolve = done;
    }),
  };
  tokenInput.focus();
  return asked.answer;
}

/** @param {Event} event */
function signInWithToken(event) {
  event.preventDefault();
  const token = tokenIn(tokenInput.value);
  if (isSendable(token)) return signIn(token, showTokenFault);
  showTokenFault(
    token === "" ? "Paste a token." : "This is not a token: it contains spaces or other invalid characters.",
  );
  tokenInput.focus();
}

async function signInWithProvider() {
  showProviderFault("");
  await openLogin().catch((error) => showProviderFault(`${asFailure(error).title}. ${asFailure(error).detail}`));
}

/** @param {string} text */
const showProviderFault = (text) => update(at("provider-fault"), text);

/** Resolves with whether the host accepts the token. @param {string} token @param {(text: string) => void} showFault */
async function signIn(token, showFault) {
  const isAgain = signedIn;
  if (!isAgain) api.setToken(token);
  const session = api.sessionNow();
  update(at("sign-in-button"), "Signing in…");
  try {
    if (isAgain) await renew(token);
    else await page.load();
  } catch (error) {
    // Pressed again, or signed out.
    if (session.aborted) return false;
    if (!isAgain) api.setToken("");
    const { title, detail, status } = asFailure(error);
    showFault(`${title}. ${detail}${status === 401 ? " Get a new one." : ""}`);
    if (showFault === showTokenFault) tokenInput.focus();
    return false;
  } finally {
    update(at("sign-in-button"), "Sign in");
  }
  if (session.aborted) return false;
  tokenInput.value = "";
  showTokenFault("");
  showProviderFault("");
  signedIn = true;
  drawSession();
  if (isAgain) asked?.dialog.close();
  else page.begin();
  return true;
}

/** Whose token it is: names are those of an issuer. @param {string} token */
const personIn = (token) => `${payloadOf(token)?.iss} ${payloadOf(token)?.sub}`;

/** What was typed by one operator is nothing for another. @param {string} token */
async function renew(token) {
  if (personIn(token) !== personIn(api.tokenNow())) {
    throw new Problem({
      title: "This is another operator’s token",
      detail: "To sign in as somebody else, sign out first.",
    });
  }
  await api.check(token);
  api.renewToken(token);
}

function signOut() {
  if (!signedIn) return;
  signedIn = false;
  api.setToken("");
  const end = forgetSession();
  at("provider-end").hidden = end === null;
  update(
    at("provider-end"),
    end && ["You are still signed in with your provider. ", h("a", { href: end }, "Sign out there too")],
  );
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  page.end();
  // Before the dialog that has it is gone.
  at("sign-in").append(form);
  drawSession();
  showTokenFault("");
  tokenInput.focus();
}

/** @param {typeof page} hooks */
export function openSession(hooks) {
  page = hooks;
  api.whenUnauthorized(replaceToken);
  form.addEventListener("submit", signInWithToken);
  at("provider-button").addEventListener("click", signInWithProvider);
  whenSignedIn((token) => signIn(token, showProviderFault), showProviderFault);
  providerHost()
    .then((host) => {
      update(at("provider-button"), `Sign in with ${host}`);
      at("provider").hidden = host === null;
    })
    // Its absence shows in the token's place only.
    .catch(() => {});
  at("sign-out").addEventListener("click", signOut);
  drawSession();
}
