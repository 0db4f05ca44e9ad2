// The frame around every screen: header, navigation, footer, and the warning that the session is about to end.

/** @import { Screen } from "./types.js" */
import { at, button, h, heard, saidAs, show } from "../shared/dom.js";
import { speak } from "./announce.js";
import { inSandbox } from "./entrance.js";
import { NAVIGATION } from "./screens.js";
import { canExtend, expire, expiresNow, isProviderSilent, isSignedIn, nameNow, renew } from "./session.js";
import { leave } from "./sign-in.js";
import { clock } from "./times.js";
import { languageNow, t } from "./words.js";

let isMenuOpen = false;

/** @param {boolean} isOpen */
function setMenu(isOpen) {
  isMenuOpen = isOpen;
  at("navigation").dataset.open = String(isOpen);
  // There is no menu on the sign-in screen.
  document.getElementById("menu")?.setAttribute("aria-expanded", String(isOpen));
}

/** Closes the menu; false if it was not open. */
export function closeMenu() {
  const wasOpen = isMenuOpen;
  setMenu(false);
  return wasOpen;
}

/** @param {Screen} screen @param {() => void} switchLanguage */
export function drawFrame(screen, switchLanguage) {
  const other = languageNow() === "en" ? { code: "es-MX", name: "Español" } : { code: "en", name: "English" };
  const isIn = isSignedIn();
  // The focus may be on one of the buttons that are about to be replaced.
  const focused = document.activeElement?.id;

  document.documentElement.lang = languageNow();
  show(at("skip"), t("skip"));
  at("brand").setAttribute("aria-label", t("brand"));
  at("brand").setAttribute("href", "#/accounts");
  show(
    at("session"),
    isIn && h("p.who", heard(t("who")), " ", nameNow()),
    h("button.quiet", { type: "button", id: "language", lang: other.code, onClick: switchLanguage }, other.name),
    isIn && h("button.quiet", { type: "button", id: "leave", onClick: leave }, t("leave")),
    isIn &&
      h(
        "button.menu",
        {
          type: "button",
          id: "menu",
          "aria-expanded": String(isMenuOpen),
          "aria-controls": "navigation",
          onClick: () => setMenu(!isMenuOpen),
        },
        t("menu"),
      ),
  );
  drawNavigation(screen, isIn);
  show(at("bottom"), inSandbox() && h("p.sandbox", t("sandbox.notice")), h("p", t("footer")));
  if (focused && document.activeElement?.id !== focused) document.getElementById(focused)?.focus();
}

/** @param {Screen} screen @param {boolean} isIn */
function drawNavigation(screen, isIn) {
  const place = at("navigation");
  place.hidden = !isIn;
  place.setAttribute("aria-label", t("nav.label"));
  place.dataset.open = String(isMenuOpen);
  const links = NAVIGATION.map((it) => {
    const isHere = isIn && (screen.nav ?? screen.path) === it.path;
    return h("li", h("a", { href: `#${it.path}`, "aria-current": isHere ? "page" : null }, t(`nav.${it.name}`)));
  });
  show(place, h("ul", links));
}

/** Warns that the session is about to end, and offers to extend it. */
export function warnOfExpiry() {
  const end = expiresNow();
  if (!end) return;
  const text = [isProviderSilent() && t("ending.silent"), t("ending.text", { clock: clock(end) })]
    .filter(Boolean)
    .join(" ");
  const extend = async () => {
    const renewal = await renew().catch(() => "ended");
    if (renewal === "ended") expire();
    // Where the provider is silent, the warning stays, and says so.
    if (renewal === "unavailable") warnOfExpiry();
    else clearWarning();
  };
  show(
    at("warnings"),
    h(
      "div.ending",
      h("p", h("strong", t("ending.title")), " ", saidAs(text, text)),
      button(t(canExtend() ? "ending.renew" : "ending.again"), extend),
    ),
  );
  speak(`${t("ending.title")} ${text}`);
}

export function clearWarning() {
  show(at("warnings"));
}
