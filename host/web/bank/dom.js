// Building elements. Text comes in as text nodes alone: nothing here reads markup, so nothing that a person
// typed or a payee is called can become part of the page's structure.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") element.addEventListener(name.slice(2).toLowerCase(), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  // Empty parts may be written as null or false, lists as arrays.
  const parts = children.flat(Infinity).filter((part) => part !== null && part !== undefined && part !== false);
  element.append(...parts);
  return element;
}

/** An element: h("p", {class: "hint", onClick: act}, "text", otherElement, null). */
export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for what belongs into an <svg>. */
export function s(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** Replaces what `place` shows. */
export function show(place, ...parts) {
  const fresh = fill(document.createDocumentFragment(), null, parts);
  place.replaceChildren(fresh);
}

export const at = (id) => document.getElementById(id);

/** Text that only those hear who do not see what it stands beside. */
export function heard(text) {
  return h("span", { class: "heard" }, text);
}

/** Something written for the eye, and said differently to the ear. */
export function saidAs(seen, said) {
  return [h("span", { "aria-hidden": "true" }, seen), heard(said)];
}

/** A button that does something here; links go elsewhere. */
export function button(text, act, attributes = {}) {
  return h("button", { type: "button", onClick: act, ...attributes }, text);
}

/** Takes the focus without a scroll bar's jump, also where an element is no control. */
export function focusOn(element) {
  if (!element) return;
  if (element.tabIndex < 0 && !element.hasAttribute("tabindex")) element.setAttribute("tabindex", "-1");
  element.focus();
}
