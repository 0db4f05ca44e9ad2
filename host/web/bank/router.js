// Which screen the address names, and whether the person went back to it. The hash names the screen, so that the back
// button, bookmarks and reloads work; it never contains anything personal.

const HOME = "/accounts";

/** The path in the address: '/transfer/amount'. */
export function pathNow() {
  return location.hash.startsWith("#/") ? location.hash.slice(1) : HOME;
}

/** Entries of the tab's history are numbered in the order of visits. */
let place = 0;

/** Whether the current entry precedes the last one; a new entry is numbered here. */
function wentBack() {
  const here = history.state?.place;
  if (Number.isInteger(here)) {
    const isBack = here < place;
    place = here;
    return isBack;
  }
  place += 1;
  history.replaceState({ place }, "");
  return false;
}

/** @type {(change: { wentBack: boolean }) => void} */
let onChange = () => {};

/** @param {typeof onChange} listener called whenever the address changes */
export function follow(listener) {
  onChange = listener;
  history.replaceState({ place }, "");
  window.addEventListener("hashchange", () => {
    // Links within a screen name no screen.
    if (location.hash !== "" && !location.hash.startsWith("#/")) return;
    listener({ wentBack: wentBack() });
  });
}

/** Goes to a screen. `replace` removes the current one from the history. @param {string} path @param {{ replace?: boolean }} options */
export function go(path, { replace = false } = {}) {
  if (path === pathNow() && location.hash !== "") {
    onChange({ wentBack: false });
  } else if (replace) {
    history.replaceState({ place }, "", `#${path}`);
    onChange({ wentBack: false });
  } else {
    location.hash = path;
  }
}
