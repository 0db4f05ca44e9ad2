// Sign-in, with the bank's OpenID provider where there is one, else with an access token, and in the sandbox as any user.
// The address names the screen that follows.

/** @import { Child } from "../shared/dom.js" */
/** @import { Form, Provider, Screen } from "./types.js" */
import { at, focusOn, h, show } from "../shared/dom.js";
import { asProblem, Problem } from "../shared/problem.js";
import { isSendable, tokenIn } from "../shared/token.js";
import { notice, problemNotice, streams } from "./drawing.js";
import { inSandbox, knowEntrance, providerNow } from "./entrance.js";
import { textField } from "./fields.js";
import { drawForm } from "./form.js";
import { reasonNow, signIn, signInToSandbox } from "./session.js";
import { faultNow, leaveToSignIn } from "./sign-in.js";
import { t } from "./words.js";

/** The service's limit. */
const USER_CHARS_MAX = 255;

/** @param {string} text */
function faultOfToken(text) {
  const token = tokenIn(text);
  if (token === "") return t("sign-in.token.empty");
  return isSendable(token) ? "" : t("sign-in.token.odd");
}

function tokenForm() {
  const field = textField({
    name: "token",
    label: t("sign-in.token"),
    hint: t("sign-in.token.hint"),
    attributes: { type: "password", spellcheck: "false", autocapitalize: "none" },
    check: faultOfToken,
  });
  /** @type {Form} */
  const form = drawForm({
    name: "sign-in",
    fields: [field],
    submit: t("sign-in.token.submit"),
    busy: t("sign-in.busy"),
    isDrafted: false,
    send: async ({ token }) => {
      try {
        await signIn(tokenIn(token));
      } catch (error) {
        const problem = asProblem(error);
        // Elsewhere a 401 ends the session; here the token is not valid.
        if (problem.status !== 401) throw problem;
        form.showFaults([{ field, text: t("sign-in.token.refused") }]);
      }
    },
  });
  return form.element;
}

function sandboxForm() {
  const field = textField({
    name: "user",
    label: t("sign-in.user"),
    hint: t("sign-in.user.hint"),
    attributes: { autocomplete: "username", spellcheck: "false", autocapitalize: "none", maxlength: USER_CHARS_MAX },
    check: (user) => (user === "" ? t("sign-in.user.empty") : ""),
  });
  return drawForm({
    name: "sandbox",
    fields: [field],
    submit: t("sign-in.sandbox.submit"),
    busy: t("sign-in.busy"),
    isDrafted: false,
    send: ({ user }) => signInToSandbox(user),
  }).element;
}

/** @param {Provider} provider */
function providerForm(provider) {
  return drawForm({
    name: "provider",
    fields: [],
    submit: t("sign-in.provider.submit"),
    busy: t("sign-in.provider.busy"),
    isDrafted: false,
    send: () => leaveToSignIn(provider),
  }).element;
}

/** @param {string} name @param {string} title @param {Child[]} content */
function door(name, title, ...content) {
  const id = `${name}-title`;
  return h("section.sheet", { "aria-labelledby": id }, h("h2", { id }, title), ...content);
}

/** Asks again what a lost connection has left open; resolves to whether it is known now. */
async function askAgain() {
  await knowEntrance();
  return providerNow() !== undefined;
}

/** @param {() => void} redraw */
function mainDoor(redraw) {
  const provider = providerNow();
  if (provider) {
    const { host } = new URL(provider.authorizationEndpoint);
    const about = h("p.hint", t("sign-in.provider.about", { host }));
    return door("provider", t("sign-in.provider"), about, providerForm(provider));
  }
  if (provider === null) return door("token", t("sign-in.with-token"), tokenForm());
  const again = async () => {
    await askAgain();
    redraw();
    focusOn(at("title"));
  };
  return problemNotice(new Problem({ code: "unreachable" }), again);
}

/** What was to be said before signing in again. */
function drawNotice() {
  const reason = reasonNow();
  // An older fault says nothing about a session that has ended since.
  const fault = reason === "expired" ? "" : faultNow();
  if (fault) return h("div.notice-row", { role: "alert" }, notice("warn", h("p", t(`sign-in.fault.${fault}`))));
  if (!reason) return null;
  return h(
    "div.notice-row",
    { role: MOODS[reason] === "warn" ? "alert" : "status" },
    notice(MOODS[reason], h("p.title", t(`sign-in.${reason}.title`)), h("p", t(`sign-in.${reason}`))),
  );
}

/** @type {{ expired: "warn", left: "good", elsewhere: "good" }} */
const MOODS = { expired: "warn", left: "good", elsewhere: "good" };

/** @type {Screen} */
export const signInScreen = {
  path: "/sign-in",
  /** No hints about tokens where there are none. */
  get name() {
    return providerNow() === null ? "login" : "login_elsewhere";
  },
  title: () => t("sign-in.title"),
  draw(place, { redraw, signal }) {
    if (providerNow() === undefined) {
      const ask = async () => (await askAgain()) && !signal.aborted && redraw();
      ask();
      window.addEventListener("online", ask, { signal });
    }
    show(
      place,
      h(
        "div.entrance",
        drawNotice(),
        h("div.hero", h("p", t("sign-in.lead")), streams()),
        h(
          "div.doors",
          inSandbox() && door("sandbox", t("sign-in.sandbox"), h("p.hint", t("sign-in.sandbox.about")), sandboxForm()),
          mainDoor(redraw),
        ),
      ),
    );
  },
};
