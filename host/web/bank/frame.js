// The frame around every screen: header, navigation, footer, the session's warning. It shows where one is and leads
// elsewhere; it knows nothing of what a screen does.

import { aloud } from "./announce.js";
import { at, button, h, saidAs, show } from "./dom.js";
import { NAVIGATION } from "./screens.js";
import { expire, expiresNow, inSandbox, isSignedIn, leave, renew, userNow } from "./session.js";
import { clock } from "./times.js";
import { languageNow, t } from "./words.js";

let isMenuOpen = false;

export function closeMenu() {
  isMenuOpen = false;
  at("navigation").dataset.open = "false";
  at("menu")?.setAttribute("aria-expanded", "false");
}

function toggleMenu() {
  isMenuOpen = !isMenuOpen;
  at("navigation").dataset.open = String(isMenuOpen);
  at("menu").setAttribute("aria-expanded", String(isMenuOpen));
}

/** `switchLanguage` changes the whole page. */
export function drawFrame(screen, switchLanguage) {
  const other = languageNow() === "en" ? { code: "es-MX", name: "Español" } : { code: "en", name: "English" };
  const isIn = isSignedIn();
  // Drawn anew while its own button may have the focus.
  const focused = document.activeElement?.id;

  document.documentElement.lang = languageNow();
  show(at("skip"), t("skip"));
  at("brand").setAttribute("aria-label", t("brand"));
  at("brand").setAttribute("href", "#/accounts");
  show(
    at("session"),
    isIn && h("p", { class: "who" }, h("span", { class: "heard" }, t("who")), " ", userNow()),
    h(
      "button",
      { type: "button", class: "quiet", id: "language", lang: other.code, onClick: switchLanguage },
      other.name,
    ),
    isIn && h("button", { type: "button", class: "quiet", id: "leave", onClick: leave }, t("leave")),
    isIn &&
      h(
        "button",
        {
          type: "button",
          class: "menu",
          id: "menu",
          "aria-expanded": String(isMenuOpen),
          "aria-controls": "navigation",
          onClick: toggleMenu,
        },
        t("menu"),
      ),
  );
  drawNavigation(screen, isIn);
  show(at("bottom"), inSandbox() && h("p", { class: "sandbox" }, t("sandbox.notice")), h("p", null, t("footer")));
  if (focused && document.activeElement?.id !== focused) at(focused)?.focus();
}

function drawNavigation(screen, isIn) {
  const place = at("navigation");
  place.hidden = !isIn;
  place.setAttribute("aria-label", t("nav.label"));
  place.dataset.open = String(isMenuOpen);
  const links = NAVIGATION.map((it) => {
    const isHere = isIn && (screen.nav ?? screen.path) === it.path;
    return h("li", null, h("a", { href: `#${it.path}`, "aria-current": isHere ? "page" : null }, t(`nav.${it.name}`)));
  });
  show(place, h("ul", null, links));
}

/** Warns that the session is about to end, with a way on. */
export function warnOfEnd() {
  const end = expiresNow();
  if (!end) return;
  const text = t("ending.text", { clock: clock(end) });
  const goOn = async () => {
    try {
      if (!(await renew())) expire();
      clearWarning();
    } catch {
      expire();
    }
  };
  show(
    at("warnings"),
    h(
      "div",
      { class: "ending" },
      h("p", null, h("strong", null, t("ending.title")), " ", saidAs(text, text)),
      button(t(inSandbox() ? "ending.renew" : "ending.again"), goOn),
    ),
  );
  aloud(`${t("ending.title")} ${text}`);
}

export function clearWarning() {
  show(at("warnings"));
}
