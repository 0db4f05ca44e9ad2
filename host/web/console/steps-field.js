// The shares of users that a rollout reaches, one for each step, which can be added and removed. Everyone is its last step.

/** @import { Control, NumberField } from "./types.js" */
import { button, h, heard, markInvalid, show } from "../shared/dom.js";

/** The service takes ten steps, everyone included. */
const SHARES_MAX = 9;

/** @param {NumberField} about @returns {Control & { read: () => number[] | undefined }} */
export function stepsField({ name, label, hint, min, max, value }) {
  const id = `change-${name}`;
  const fault = h("p.fault", { id: `${id}-fault`, role: "alert" });
  const rows = h("ol.shares");
  const inputs = () => [...rows.querySelectorAll("input")];
  const texts = () => inputs().map((it) => it.value);
  const isWrong = (/** @type {HTMLInputElement} */ it) =>
    it.value === "" || !Number.isInteger(it.valueAsNumber) || it.valueAsNumber < min || it.valueAsNumber > max;

  /** @param {string[]} shares */
  const draw = (shares) => {
    const steps = shares.map((share, at) => {
      const attributes = { id: `${id}-${at + 1}`, type: "number", min, max, step: 1, value: share, required: true };
      const remove = () => {
        draw(texts().toSpliced(at, 1));
        // The button that had the focus is gone.
        add.focus();
      };
      return h(
        "li",
        h("label", { for: attributes.id }, `Step ${at + 1}`),
        h("div", h("input", { ...attributes, inputmode: "numeric", "aria-describedby": fault.id }), "%"),
        shares.length > 1 && button(["Remove", heard(` step ${at + 1}`)], remove, { class: "quiet" }),
      );
    });
    show(rows, steps, h("li", h("span", `Step ${shares.length + 1}`), "100%, everyone"));
    add.hidden = shares.length >= SHARES_MAX;
    // What will happen is another.
    rows.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const add = button("Add step", () => {
    draw([...texts(), ""]);
    inputs().at(-1)?.focus();
  });
  const fill = (/** @type {string} */ text) => draw(text.split(","));
  fill(String(value));

  const element = h(
    "fieldset.field",
    { "aria-describedby": `${id}-hint` },
    h("legend", label),
    rows,
    add,
    fault,
    h("p.hint", { id: `${id}-hint` }, hint),
  );
  return {
    name,
    label,
    element,
    text: () => texts().join(),
    fill,
    read: () => (inputs().some(isWrong) ? undefined : inputs().map((it) => it.valueAsNumber)),
    check: () => (inputs().some(isWrong) ? `Enter a whole number from ${min} to ${max} for each step.` : ""),
    focus: () => (inputs().find(isWrong) ?? inputs()[0]).focus(),
    setFault: (text) => {
      show(fault, text);
      const wrong = inputs().filter(isWrong);
      // The service may refuse what is right by itself, such as shares that shrink.
      const marked = wrong.length > 0 ? wrong : inputs();
      for (const it of inputs()) markInvalid(it, text !== "" && marked.includes(it));
    },
  };
}
