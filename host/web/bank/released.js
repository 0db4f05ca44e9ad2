// What appears while a button is being pressed must not move it: a field's hint that is shown when the field loses the
// focus would push the button away between press and release, and the click would be lost.

let isPressed = false;
/** @type {(() => void)[]} */
let waiting = [];

function release() {
  isPressed = false;
  // The click follows the release, and its own changes come first.
  setTimeout(() => {
    if (isPressed) return;
    const acts = waiting;
    waiting = [];
    for (const act of acts) act();
  });
}

globalThis.document?.addEventListener(
  "pointerdown",
  () => {
    isPressed = true;
  },
  { capture: true },
);
for (const type of ["pointerup", "pointercancel"]) {
  globalThis.document?.addEventListener(type, release, { capture: true });
}

/** Acts at once, or after the button or finger that is down is released. @param {() => void} act */
export function whenReleased(act) {
  if (isPressed) waiting.push(act);
  else act();
}
