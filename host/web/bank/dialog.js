// Confirmations, as native <dialog>s: the browser keeps the focus inside, closes on Escape and restores the focus.

/** @import { Child } from "../shared/dom.js" */
import { button, h } from "../shared/dom.js";

export function closeDialogs() {
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
}

/**
 * Resolves to true for yes. The focus starts at the question, so that it is read before anything can be pressed; no comes
 * before yes and is as easy to reach. In a warning neither stands out.
 * @param {{ title: string, about?: Child, yes: string, no: string, isDangerous?: boolean, warns?: boolean }} question
 * @returns {Promise<boolean>}
 */
export function confirmed({ title, about = [], yes, no, isDangerous = false, warns = false }) {
  return new Promise((resolve) => {
    const heading = h("h2", { id: "dialog-title", tabindex: -1 }, title);
    /** @type {HTMLDialogElement} */
    const dialog = h(
      "dialog",
      { "aria-labelledby": "dialog-title" },
      heading,
      h("div.flow", about),
      h(
        "div.acts",
        button(no, () => dialog.close("")),
        button(yes, () => dialog.close("yes"), { class: isDangerous ? "danger" : warns ? "" : "main" }),
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
