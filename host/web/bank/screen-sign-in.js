// Sign in: with a token from outside, or in the sandbox under any name. Stands in front of whichever screen the
// address names, so that one goes on where one was.

import { h, show } from "./dom.js";
import { notice, streams } from "./drawing.js";
import { textField } from "./fields.js";
import { drawForm } from "./form.js";
import { enterSandbox, inSandbox, reasonNow, signIn } from "./session.js";
import { isSendable, tokenIn } from "./token.js";
import { t } from "./words.js";

/** Longest user name that the service takes. */
const USER_CHARS_MAX = 255;

function faultOfToken(text) {
  const token = tokenIn(text);
  if (token === "") return t("sign-in.token.empty");
  // A header takes no other characters.
  return isSendable(token) ? "" : t("sign-in.token.odd");
}

/** The session treats a 401 as its own end; here it means that this token is not good. */
function trying(form, act) {
  return async (values) => {
    try {
      await act(values);
    } catch (problem) {
      if (problem.status !== 401) throw problem;
      form().showFaults([{ field: form().fields[0], text: t("sign-in.token.refused") }]);
    }
  };
}

function tokenForm() {
  const field = textField({
    name: "token",
    label: t("sign-in.token"),
    hint: t("sign-in.token.hint"),
    type: "password",
    spellcheck: "false",
    autocapitalize: "none",
    check: faultOfToken,
  });
  const form = drawForm({
    name: "sign-in",
    fields: [field],
    submit: t("sign-in.token.submit"),
    busy: t("sign-in.busy"),
    drafted: false,
    send: trying(
      () => form,
      ({ token }) => signIn(tokenIn(token)),
    ),
  });
  return form.element;
}

function sandboxForm() {
  const field = textField({
    name: "user",
    label: t("sign-in.user"),
    hint: t("sign-in.user.hint"),
    autocomplete: "username",
    spellcheck: "false",
    autocapitalize: "none",
    maxlength: USER_CHARS_MAX,
    check: (user) => (user === "" ? t("sign-in.user.empty") : ""),
  });
  return drawForm({
    name: "sandbox",
    fields: [field],
    submit: t("sign-in.sandbox.submit"),
    busy: t("sign-in.busy"),
    drafted: false,
    send: ({ user }) => enterSandbox(user),
  }).element;
}

const REASONS = { expired: "warn", left: "good" };

export const signInScreen = {
  path: "/sign-in",
  name: "login",
  title: () => t("sign-in.title"),
  draw(place) {
    const reason = reasonNow();
    show(
      place,
      h(
        "div",
        { class: "entrance" },
        reason &&
          h(
            "div",
            { class: "notice-row", role: REASONS[reason] === "warn" ? "alert" : "status" },
            notice(
              REASONS[reason],
              h("p", { class: "title" }, t(`sign-in.${reason}.title`)),
              h("p", null, t(`sign-in.${reason}`)),
            ),
          ),
        h("div", { class: "hero" }, h("p", null, t("sign-in.lead")), streams()),
        h(
          "div",
          { class: "doors" },
          inSandbox() &&
            h(
              "section",
              { class: "sheet", "aria-labelledby": "sandbox-title" },
              h("h2", { id: "sandbox-title" }, t("sign-in.sandbox")),
              h("p", { class: "hint" }, t("sign-in.sandbox.about")),
              sandboxForm(),
            ),
          h(
            "section",
            { class: "sheet", "aria-labelledby": "token-title" },
            h("h2", { id: "token-title" }, t("sign-in.with-token")),
            tokenForm(),
          ),
        ),
      ),
    );
  },
};
