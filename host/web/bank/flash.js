// A success message that is shown on the next screen.

let message = "";

/** @param {string} text */
export function setFlash(text) {
  message = text;
}

/** The message, once. */
export function takeFlash() {
  const taken = message;
  message = "";
  return taken;
}
