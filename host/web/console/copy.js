// Copies identifiers, which are too long to type.

import { h, heard } from "../shared/dom.js";

/** How long a button says that it has copied. */
const SAID_MS = 2_000;

/** A button that copies a text; `what` tells screen readers which. @param {string} text @param {string} what */
export function copyButton(text, what) {
  return h(
    "button.quiet.copy",
    { type: "button", "data-key": `copy ${text}`, "data-copy": text },
    h("span", "Copy"),
    heard(` ${what}`),
  );
}

/** Says it where a screen reader listens: within a dialog nothing outside of it is read. @param {string} text */
function say(text) {
  const places = document.querySelectorAll("[data-said]");
  const place = document.querySelector("dialog[open] [data-said]") ?? places[0];
  if (place) place.textContent = text;
}

/** @param {HTMLElement} button one of the above */
export async function copy(button) {
  const shown = button.firstElementChild;
  if (!shown) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy ?? "");
    shown.textContent = "Copied";
    say("Copied");
  } catch {
    // Without https the browser gives no access to the clipboard.
    shown.textContent = "Not copied";
    say("Not copied: the browser does not allow it here. Select the text and copy it yourself");
  }
  setTimeout(() => {
    shown.textContent = "Copy";
    say("");
  }, SAID_MS);
}
