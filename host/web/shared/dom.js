// Builds elements without ever parsing markup: text becomes text nodes, so user input and payee names can never become
// markup. This works under `trusted-types 'none'`, where libraries that make elements from templates cannot be loaded.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Empty parts may be written as null or false, lists as arrays.
 * @typedef {Node | string | null | undefined | false | Child[]} Child
 */

/** @typedef {(event: any) => unknown} Listener */

/**
 * A function becomes a listener (`onClick`), `true` an empty attribute; false, null and undefined set none.
 * @typedef {{ [name: string]: string | number | boolean | null | undefined | Listener }} Attributes
 */

/** @template {string} S @typedef {S extends `${infer Tag}.${string}` ? Tag : S} TagOf */
/** @template {string} S @typedef {TagOf<S> extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[TagOf<S>] : HTMLElement} ElementOf */

/** @param {Child[]} children @returns {(Node | string)[]} */
const nodesOf = (children) =>
  /** @type {any[]} */ (children).flat(Infinity).filter((it) => it !== null && it !== undefined && it !== false);

/** @param {Element} element @param {Attributes} attributes */
export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2).toLowerCase(), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
}

/** @param {Element} element @param {string[]} classes @param {(Attributes | Child)[]} parts */
function fill(element, classes, parts) {
  if (classes.length > 0) element.classList.add(...classes);
  const [first, ...rest] = parts;
  if (first && Object.getPrototypeOf(first) === Object.prototype) {
    setAttributes(element, /** @type {Attributes} */ (first));
    element.append(...nodesOf(/** @type {Child[]} */ (rest)));
  } else {
    element.append(...nodesOf(/** @type {Child[]} */ (parts)));
  }
}

/**
 * An element: `h("p.hint", { id: "about" }, "text", other)`, with or without attributes.
 * @template {string} S
 * @param {S} selector @param {[Attributes, ...Child[]] | Child[]} parts
 * @returns {ElementOf<S>}
 */
export function h(selector, ...parts) {
  const [tag, ...classes] = selector.split(".");
  const element = document.createElement(tag);
  fill(element, classes, parts);
  return /** @type {ElementOf<S>} */ (element);
}

/**
 * An element within an `<svg>`, or the `<svg>` itself.
 * @param {string} selector @param {[Attributes, ...Child[]] | Child[]} parts
 */
export function s(selector, ...parts) {
  const [tag, ...classes] = selector.split(".");
  const element = document.createElementNS(SVG, tag);
  fill(element, classes, parts);
  return element;
}

/** Replaces the content of a place. @param {Element} place @param {Child[]} parts */
export function show(place, ...parts) {
  place.replaceChildren(...nodesOf(parts));
}

/** An element that the page always has. @param {string} id */
export function at(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element with the id ${id}`);
  return element;
}

/** Text for screen readers only. @param {string} text */
export function heard(text) {
  return h("span.heard", text);
}

/** Text that reads differently on screen and in a screen reader. @param {Child} seen @param {string} said */
export function saidAs(seen, said) {
  return [h("span", { "aria-hidden": "true" }, seen), heard(said)];
}

/** A button that acts on this page; a link goes elsewhere. @param {Child} text @param {Listener} act @param {Attributes} attributes */
export function button(text, act, attributes = {}) {
  return h("button", { type: "button", onClick: act, ...attributes }, text);
}

/** Moves the focus, even to an element that is not focusable by itself. @param {HTMLElement | null | undefined} element */
export function focusOn(element) {
  if (!element) return;
  if (element.tabIndex < 0 && !element.hasAttribute("tabindex")) element.setAttribute("tabindex", "-1");
  element.focus();
}

/** Marks a control as invalid for assistive technology, or no longer. @param {Element} control @param {boolean} isWrong */
export function markInvalid(control, isWrong) {
  if (isWrong) control.setAttribute("aria-invalid", "true");
  else control.removeAttribute("aria-invalid");
}
