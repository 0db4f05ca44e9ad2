// Building elements, and bringing what is shown up to date without building it anew.
//
// The page is redrawn every two seconds. Replacing elements would take away the focus, a selection,
// an open <details> and a screen reader's place, so patch() changes only what differs. Text comes in
// as text nodes alone: nothing here reads markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  // Empty parts may be written as null or false, lists as arrays.
  const parts = children.flat(Infinity).filter((part) => part !== null && part !== undefined && part !== false);
  element.append(...parts);
  return element;
}

/** An element: h('p', {class: 'hint'}, 'text', otherElement, null). */
export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for what belongs into an <svg>. */
export function s(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** Text that only those hear who do not see what it stands beside. */
export function heard(text) {
  return h("span", { class: "heard" }, text);
}

const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.getAttribute("data-key") : null);

/** Makes the children of `shown` those of `fresh`, which is used up. */
function patchChildren(shown, fresh) {
  const wanted = new Set([...fresh.children].map(keyOf));
  const present = new Map([...shown.children].filter(keyOf).map((child) => [keyOf(child), child]));
  let here = shown.firstChild;
  for (const next of [...fresh.childNodes]) {
    // What is gone leaves first: then what stays need not be moved, and moving takes the focus.
    while (here && keyOf(here) && !wanted.has(keyOf(here))) {
      const gone = here;
      here = here.nextSibling;
      gone.remove();
    }
    const key = keyOf(next);
    const unkeyed = here && !keyOf(here) ? here : undefined;
    const same = key ? present.get(key) : unkeyed;
    if (!same) {
      shown.insertBefore(next, here);
      continue;
    }
    if (same === here) here = here.nextSibling;
    else shown.insertBefore(same, here);
    patch(same, next);
  }
  while (here) {
    const gone = here;
    here = here.nextSibling;
    gone.remove();
  }
}

function patch(shown, fresh) {
  if (shown.nodeName !== fresh.nodeName) {
    shown.replaceWith(fresh);
  } else if (shown.nodeType === Node.TEXT_NODE) {
    if (shown.data !== fresh.data) shown.data = fresh.data;
  } else {
    patchAttributes(shown, fresh);
    patchChildren(shown, fresh);
  }
}

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

/** Shows `parts` in `place`. */
export function show(place, ...parts) {
  const fresh = place.cloneNode(false);
  fill(fresh, null, parts);
  patchChildren(place, fresh);
}

/**
 * A table that may be wider than the page. `heads` are column titles, or [title, class]; each row is a
 * list of cells: the first is the row's title, the others are contents, or [contents, class].
 */
export function table({ label, caption, heads, rows, keys, className }) {
  const pair = (cell) => (Array.isArray(cell) ? cell : [cell, null]);
  const head = heads.map(pair).map(([text, kind]) => h("th", { scope: "col", class: kind }, text));
  const body = rows.map((row, at) => {
    const [first, ...others] = row.map(pair);
    const cells = others.map(([content, kind]) => h("td", { class: kind }, content));
    return h("tr", { "data-key": keys?.[at] }, h("th", { scope: "row", class: first[1] }, first[0]), cells);
  });
  return h(
    "div",
    { class: "scroll", "data-keeps": "tabindex role aria-label", "data-label": label },
    h(
      "table",
      { class: className },
      caption && h("caption", null, caption),
      h("thead", null, h("tr", null, head)),
      h("tbody", null, body),
    ),
  );
}

/** Lets the keyboard scroll what does not fit, and only that: more stops would slow everybody else. */
export function markScrollable(within = document) {
  for (const place of within.querySelectorAll(".scroll")) {
    const scrolls = place.scrollWidth > place.clientWidth + 1;
    if (scrolls === place.hasAttribute("tabindex")) continue;
    if (scrolls) fill(place, { tabindex: 0, role: "group", "aria-label": place.dataset.label }, []);
    else ["tabindex", "role", "aria-label"].forEach((name) => place.removeAttribute(name));
  }
}
