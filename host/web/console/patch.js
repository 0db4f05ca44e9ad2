// Updates the page by changing only what differs. The page is redrawn every two seconds: replacing
// elements would take away the focus, a selection, an open <details> and a screen reader's place.

/** @import { Child } from "../shared/dom.js" */
import { show } from "../shared/dom.js";

/** @param {Node} node */
const keyOf = (node) => (node instanceof Element ? node.getAttribute("data-key") : null);

/** Makes the children of `shown` match those of `fresh`, which is consumed. @param {Element} shown @param {Element} fresh */
function patchChildren(shown, fresh) {
  const wanted = new Set([...fresh.children].map(keyOf));
  const present = new Map([...shown.children].filter(keyOf).map((child) => [keyOf(child), child]));
  /** @type {ChildNode | null} */
  let here = shown.firstChild;
  const removeHere = () => {
    const gone = here;
    here = here?.nextSibling ?? null;
    gone?.remove();
  };
  for (const next of [...fresh.childNodes]) {
    // Remove first, so that the rest need not move: moving an element loses its focus.
    while (here && keyOf(here) && !wanted.has(keyOf(here))) removeHere();
    const key = keyOf(next);
    const same = key ? present.get(key) : here && !keyOf(here) ? here : null;
    if (!same) {
      shown.insertBefore(next, here);
      continue;
    }
    if (same === here) here = here.nextSibling;
    else shown.insertBefore(same, here);
    patch(same, next);
  }
  while (here) removeHere();
}

/** @param {ChildNode} shown @param {ChildNode} fresh */
function patch(shown, fresh) {
  if (shown.nodeName !== fresh.nodeName) {
    shown.replaceWith(fresh);
  } else if (shown instanceof Element && fresh instanceof Element) {
    patchAttributes(shown, fresh);
    patchChildren(shown, fresh);
  } else if (shown.nodeValue !== fresh.nodeValue) {
    shown.nodeValue = fresh.nodeValue;
  }
}

/** @param {Element} shown @param {Element} fresh */
function patchAttributes(shown, fresh) {
  // data-keeps names what the page or the person decides, such as whether a <details> is open.
  const kept = (fresh.getAttribute("data-keeps") ?? "").split(" ");
  for (const { name } of [...shown.attributes]) {
    if (!fresh.hasAttribute(name) && !kept.includes(name)) shown.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (shown.getAttribute(name) !== value && !kept.includes(name)) shown.setAttribute(name, value);
  }
}

/** @param {Element} place @param {Child[]} parts */
export function update(place, ...parts) {
  const fresh = /** @type {Element} */ (place.cloneNode(false));
  show(fresh, ...parts);
  patchChildren(place, fresh);
}
