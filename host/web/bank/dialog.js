// A question that has to be answered first. A native <dialog>: the browser keeps the focus inside, closes on Escape
// and gives the focus back.

import { button, h } from "./dom.js";

/** Closes whatever is open: the session has ended, or another screen is shown. */
export function closeDialogs() {
  document.querySelectorAll("dialog[open]").forEach((dialog) => dialog.close());
}

/**
 * Asks, and resolves to true for yes. The focus begins at the question, so that it is read before anything can be
 * pressed; no comes before yes and is as easy to reach.
 */
export function ask({ title, about = [], yes, no, isGrave = false }) {
  return new Promise((resolve) => {
    const heading = h("h2", { id: "dialog-title", tabindex: -1 }, title);
    const dialog = h(
      "dialog",
      { "aria-labelledby": "dialog-title" },
      heading,
      h("div", { class: "flow" }, about),
      h(
        "div",
        { class: "acts" },
        button(no, () => dialog.close("")),
        button(yes, () => dialog.close("yes"), { class: isGrave ? "grave" : "main" }),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
    heading.focus();
    dialog.scrollTop = 0;
  });
}
