// Form fields: a label, a hint, a place for the fault, and one way to read, write and check each kind.

/** @import { Attributes, Child } from "../shared/dom.js" */
/** @import { ChoiceField, Field, Option, TextField } from "./types.js" */
import { h, heard, markInvalid, show } from "../shared/dom.js";
import { t } from "./words.js";

let count = 0;
const noFault = () => "";

/** The id, hint and fault of a field. The counter tells two forms apart. @param {string} name @param {string} [hint] */
function describe(name, hint) {
  count += 1;
  const id = `${name}-${count}`;
  const hintLine = hint ? h("p.hint", { id: `${id}-hint` }, hint) : null;
  const faultLine = h("p.fault", { id: `${id}-fault` });
  return {
    id,
    hintLine,
    faultLine,
    describedBy: [hintLine, faultLine]
      .map((it) => it?.id ?? "")
      .join(" ")
      .trim(),
  };
}

/** @param {HTMLElement} line @param {string} text */
function showFault(line, text) {
  show(line, text && [heard(`${t("error")}: `), text]);
}

/** @param {HTMLElement} line @param {HTMLElement} control @returns {(text: string) => void} */
const faultSetter = (line, control) => (text) => {
  showFault(line, text);
  markInvalid(control, text !== "");
};

/**
 * One line of text; `below` shows something about it. Other attributes go to the `<input>`.
 * @param {{ name: string, label: string, hint?: string, check?: (text: string) => string, below?: Child, prefix?: string,
 *   suffix?: string, isOptional?: boolean, attributes?: Attributes }} about
 * @returns {TextField}
 */
export function textField(about) {
  const { name, label, hint, check = noFault, below, prefix, suffix, isOptional = false, attributes } = about;
  const { id, hintLine, faultLine, describedBy } = describe(name, hint);
  const control = h("input", {
    id,
    name,
    type: "text",
    "aria-describedby": describedBy,
    autocomplete: "off",
    required: !isOptional,
    ...attributes,
  });
  /** @param {string} [text] */
  const affix = (text) => text && h("span", { "aria-hidden": "true" }, text);
  const element = h(
    "div.field",
    h("label", { for: id }, label, isOptional && h("span.optional", ` (${t("optional")})`)),
    hintLine,
    faultLine,
    prefix || suffix ? h("span.affixed", affix(prefix), control, affix(suffix)) : control,
    below,
  );
  return {
    name,
    element,
    control,
    check,
    setFault: faultSetter(faultLine, control),
    read: () => control.value.trim(),
    write: (value) => {
      control.value = value;
    },
  };
}

/**
 * One of a few options, as radio buttons.
 * @param {{ name: string, legend: string, options: Option[], check?: (value: string | null) => string, isCards?: boolean,
 *   value?: string | null, before?: Child }} about
 * @returns {ChoiceField}
 */
export function choiceField({ name, legend, options, check = noFault, isCards = false, value = null, before }) {
  const { id, faultLine, describedBy } = describe(name);
  const inputs = options.map((it, place) =>
    h("input", { type: "radio", id: `${id}-${place}`, name: id, value: it.value, checked: it.value === value }),
  );
  const rows = options.map((it, place) =>
    h(
      "li",
      { "data-value": it.value },
      h(
        "label.option",
        { for: `${id}-${place}` },
        inputs[place],
        h("span.words", it.label, it.about && h("span.about", it.about)),
      ),
    ),
  );
  const group = h(
    "fieldset",
    { id, "aria-describedby": describedBy },
    h("legend", legend),
    faultLine,
    before,
    h("ul", { class: isCards ? "options cards" : "options" }, rows),
  );
  // A group cannot be marked invalid, so the fault describes each of its buttons.
  /** @param {string} text */
  const setFault = (text) => {
    showFault(faultLine, text);
    for (const input of inputs) {
      if (text) input.setAttribute("aria-describedby", faultLine.id);
      else input.removeAttribute("aria-describedby");
    }
    group.classList.toggle("wrong", text !== "");
  };
  return {
    name,
    element: h("div.field", group),
    control: inputs[0] ?? group,
    rows,
    check,
    setFault,
    read: () => inputs.find((input) => input.checked)?.value ?? null,
    write: (wanted) =>
      inputs.forEach((input) => {
        input.checked = input.value === wanted;
      }),
  };
}

/**
 * One of many options, as a drop-down list.
 * @param {{ name: string, label: string, options: Option[], value: string }} about
 * @returns {Field<string>}
 */
export function listField({ name, label, options, value }) {
  const { id, faultLine, describedBy } = describe(name);
  const control = h(
    "select",
    { id, name, "aria-describedby": describedBy },
    options.map((it) => h("option", { value: it.value, selected: it.value === value }, it.label)),
  );
  return {
    name,
    element: h("div.field", h("label", { for: id }, label), faultLine, control),
    control,
    check: noFault,
    setFault: faultSetter(faultLine, control),
    read: () => control.value,
    write: (wanted) => {
      control.value = wanted;
    },
  };
}

/**
 * A checkbox.
 * @param {{ name: string, label: Child, hint?: string, value?: boolean, check?: (isTicked: boolean) => string }} about
 * @returns {Field<boolean>}
 */
export function tickField({ name, label, hint, value = false, check = noFault }) {
  const { id, hintLine, faultLine, describedBy } = describe(name, hint);
  const control = h("input", { type: "checkbox", id, name, "aria-describedby": describedBy, checked: value });
  return {
    name,
    element: h("div.field", faultLine, h("label.option.tick", { for: id }, control, h("span.words", label)), hintLine),
    control,
    check,
    setFault: faultSetter(faultLine, control),
    read: () => control.checked,
    write: (isTicked) => {
      control.checked = isTicked;
    },
  };
}
