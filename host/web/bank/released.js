// What appears while a button is being pressed must not move it: a field's hint that is shown when the field loses the
// focus would push the button away between press and release, and the click would be lost.

/** From the release to the click, which on a touch screen comes as an event of its own. */
const CLICK_MS = 100;

let isPressed = false;
/** @type {(() => void)[]} */
let waiting = [];
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

function press() {
  clearTimeout(timer);
  isPressed = true;
}

function release() {
  clearTimeout(timer);
  timer = setTimeout(() => {
    isPressed = false;
    const acts = waiting;
    waiting = [];
    for (const act of acts) act();
  }, CLICK_MS);
}

globalThis.document?.addEventListener("pointerdown", press, { capture: true });
for (const type of ["pointerup", "pointercancel"]) {
  globalThis.document?.addEventListener(type, release, { capture: true });
}

/** Acts at once, or after the button or finger that is down is released and has clicked. @param {() => void} act */
export function whenReleased(act) {
  if (isPressed) waiting.push(act);
  else act();
}
