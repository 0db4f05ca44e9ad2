// Which screen the address names, and whether a person came there by going back. Screens are named after the hash,
// so that the back button, bookmarks and a reload work; it never holds anything personal.

const HOME = "/accounts";

/** The path in the address: '/transfer/amount'. */
export function pathNow() {
  return location.hash.startsWith("#/") ? location.hash.slice(1) : HOME;
}

let place = 0;

/** Marks this entry of the tab's history with its place in the order of visits; tells whether it lies behind. */
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

let changed = () => {};

/** Calls `show({wentBack})` for every change of the address. */
export function follow(show) {
  changed = show;
  history.replaceState({ place }, "");
  window.addEventListener("hashchange", () => {
    // Links within a screen, such as those of an error summary, name no screen.
    if (location.hash !== "" && !location.hash.startsWith("#/")) return;
    show({ wentBack: wentBack() });
  });
}

/** Goes to a screen. `instead` leaves no way back to this one: what is done there is done. */
export function go(path, { instead = false } = {}) {
  if (path === pathNow() && location.hash !== "") {
    changed({ wentBack: false });
  } else if (instead) {
    history.replaceState({ place }, "", `#${path}`);
    changed({ wentBack: false });
  } else {
    location.hash = path;
  }
}
