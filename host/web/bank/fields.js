// Fields of forms: a label, a hint, a place for what is wrong, and one way to read, write and check each kind.
//
// Each maker gives {name, element, control, read, write, complain, check}. `check` is a function of the value
// that gives the fault's text, or '' when there is none.

import { h, show } from "./dom.js";
import { t } from "./words.js";

let count = 0;
const fine = () => "";

/** Ids are by name, so that links and descriptions hold; a counter keeps two forms apart. */
function idOf(name) {
  count += 1;
  return `${name}-${count}`;
}

function complaint(id, controls) {
  const place = h("p", { class: "fault", id: `${id}-fault` });
  const complain = (text) => {
    show(place, text && [h("span", { class: "heard" }, `${t("error")}: `), text]);
    for (const control of controls) {
      if (text) control.setAttribute("aria-invalid", "true");
      else control.removeAttribute("aria-invalid");
    }
  };
  return { place, complain };
}

/** One line of text. `below` is an element that says something about what was typed. */
export function textField({
  name,
  label,
  hint,
  check = fine,
  below,
  prefix,
  suffix,
  isOptional = false,
  ...attributes
}) {
  const id = idOf(name);
  const described = [hint && `${id}-hint`, `${id}-fault`].filter(Boolean).join(" ");
  const control = h("input", {
    id,
    name,
    type: "text",
    "aria-describedby": described,
    autocomplete: "off",
    required: !isOptional,
    ...attributes,
  });
  const { place, complain } = complaint(id, [control]);
  const framed =
    prefix || suffix
      ? h(
          "span",
          { class: "affixed" },
          prefix && h("span", { "aria-hidden": "true" }, prefix),
          control,
          suffix && h("span", { "aria-hidden": "true" }, suffix),
        )
      : control;
  const element = h(
    "div",
    { class: "field" },
    h("label", { for: id }, label, isOptional && h("span", { class: "optional" }, ` (${t("optional")})`)),
    hint && h("p", { class: "hint", id: `${id}-hint` }, hint),
    place,
    framed,
    below,
  );
  return {
    name,
    element,
    control,
    check,
    complain,
    read: () => control.value.trim(),
    write: (value) => {
      control.value = value;
    },
  };
}

/** One of several, each {value, label, about}. `value` chosen at first may be null. */
export function choiceField({ name, legend, hint, options, check = fine, isCards = false, value = null, before }) {
  const id = idOf(name);
  const described = [hint && `${id}-hint`, `${id}-fault`].filter(Boolean).join(" ");
  const inputs = options.map((it, place) =>
    h("input", {
      type: "radio",
      id: `${id}-${place}`,
      name: id,
      value: it.value,
      checked: it.value === value,
    }),
  );
  const rows = options.map((it, place) =>
    h(
      "li",
      { "data-value": it.value },
      h(
        "label",
        { class: "option", for: `${id}-${place}` },
        inputs[place],
        h("span", { class: "words" }, it.label, it.about && h("span", { class: "about" }, it.about)),
      ),
    ),
  );
  const group = h("fieldset", { id, "aria-describedby": described });
  const { place, complain } = complaint(id, [group]);
  group.append(
    h("legend", null, legend),
    ...[
      hint && h("p", { class: "hint", id: `${id}-hint` }, hint),
      place,
      before,
      h("ul", { class: isCards ? "options cards" : "options" }, rows),
    ].filter(Boolean),
  );
  // A group cannot be marked invalid; each of its buttons is described by what is wrong.
  const mark = (text) => {
    complain(text);
    group.removeAttribute("aria-invalid");
    for (const input of inputs) {
      if (text) input.setAttribute("aria-describedby", place.id);
      else input.removeAttribute("aria-describedby");
    }
    group.classList.toggle("wrong", Boolean(text));
  };
  return {
    name,
    element: h("div", { class: "field" }, group),
    control: inputs[0] ?? group,
    rows,
    check,
    complain: mark,
    read: () => inputs.find((input) => input.checked)?.value ?? null,
    write: (wanted) =>
      inputs.forEach((input) => {
        input.checked = input.value === wanted;
      }),
  };
}

/** One of many, in a list that opens. */
export function listField({ name, label, hint, options, value, check = fine }) {
  const id = idOf(name);
  const described = [hint && `${id}-hint`, `${id}-fault`].filter(Boolean).join(" ");
  const control = h(
    "select",
    { id, name, "aria-describedby": described },
    options.map((it) => h("option", { value: it.value, selected: it.value === value }, it.label)),
  );
  const { place, complain } = complaint(id, [control]);
  const element = h(
    "div",
    { class: "field" },
    h("label", { for: id }, label),
    hint && h("p", { class: "hint", id: `${id}-hint` }, hint),
    place,
    control,
  );
  return {
    name,
    element,
    control,
    check,
    complain,
    read: () => control.value,
    write: (wanted) => {
      control.value = wanted;
    },
  };
}

/** A box to tick. */
export function tickField({ name, label, hint, check = fine }) {
  const id = idOf(name);
  const described = [hint && `${id}-hint`, `${id}-fault`].filter(Boolean).join(" ");
  const control = h("input", { type: "checkbox", id, name, "aria-describedby": described });
  const { place, complain } = complaint(id, [control]);
  const element = h(
    "div",
    { class: "field" },
    place,
    h("label", { class: "option tick", for: id }, control, h("span", { class: "words" }, label)),
    hint && h("p", { class: "hint", id: `${id}-hint` }, hint),
  );
  return {
    name,
    element,
    control,
    check,
    complain,
    read: () => control.checked,
    write: (value) => {
      control.checked = value === true;
    },
  };
}
