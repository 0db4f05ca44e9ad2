// Sign-in, with an access token or, in the sandbox, as any user. The address names the screen that follows.

/** @import { Form, Screen } from "./types.js" */
import { h, show } from "../shared/dom.js";
import { asProblem } from "../shared/problem.js";
import { isSendable, tokenIn } from "../shared/token.js";
import { notice, streams } from "./drawing.js";
import { textField } from "./fields.js";
import { drawForm } from "./form.js";
import { inSandbox, reasonNow, signIn, signInToSandbox } from "./session.js";
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

/** @type {{ expired: "warn", left: "good" }} */
const MOODS = { expired: "warn", left: "good" };

/** @type {Screen} */
export const signInScreen = {
  path: "/sign-in",
  name: "login",
  title: () => t("sign-in.title"),
  draw(place) {
    const reason = reasonNow();
    show(
      place,
      h(
        "div.entrance",
        reason &&
          h(
            "div.notice-row",
            { role: MOODS[reason] === "warn" ? "alert" : "status" },
            notice(MOODS[reason], h("p.title", t(`sign-in.${reason}.title`)), h("p", t(`sign-in.${reason}`))),
          ),
        h("div.hero", h("p", t("sign-in.lead")), streams()),
        h(
          "div.doors",
          inSandbox() &&
            h(
              "section.sheet",
              { "aria-labelledby": "sandbox-title" },
              h("h2", { id: "sandbox-title" }, t("sign-in.sandbox")),
              h("p.hint", t("sign-in.sandbox.about")),
              sandboxForm(),
            ),
          h(
            "section.sheet",
            { "aria-labelledby": "token-title" },
            h("h2", { id: "token-title" }, t("sign-in.with-token")),
            tokenForm(),
          ),
        ),
      ),
    );
  },
};
