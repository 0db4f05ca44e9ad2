// The accessibility tree of a page as text: a line for each node with its role, name and state. Values that differ from run
// to run become placeholders.

/** Roles without meaning of their own. */
const SILENT = new Set(["none", "generic", "InlineTextBox", "LineBreak", "RootWebArea", "LabelText", "ListMarker"]);
const STATES = [
  "level",
  "checked",
  "pressed",
  "expanded",
  "invalid",
  "required",
  "busy",
  "live",
  "modal",
  "selected",
  "disabled",
];

/** Names, times, numbers and versions that are new on each run. */
const CHANGING = [
  [/user-\d+-\d+/g, "<user>"],
  [/CAUD[0-9A-Z]{10,}/g, "<clave>"],
  [/\+[0-9a-f]{8}\b/g, "+<sha>"],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "<id>"],
  [/(lunes|martes|miércoles|jueves|viernes|sábado|domingo),? \d+ de \p{L}+ de \d{4}/giu, "<día>"],
  [/\b\d{2}\/\d{2}\/\d{4}\b/g, "<fecha>"],
  [/\d{2}:\d{2}(:\d{2})?/g, "<hora>"],
  [/9 9 9, 1 8 0, (\d ){10}\d, \d/g, "<CLABE>"],
  [/terminación( \d){4}/g, "terminación <n>"],
  [/· Cuenta de cheques \d{4}/g, "· Cuenta de cheques <n>"],
  [/Confianza en la recomendación: \d+/g, "Confianza en la recomendación: <n>"],
];

const fixed = (text) =>
  CHANGING.reduce((before, [pattern, what]) => before.replace(pattern, what), text.replace(/\s+/g, " ").trim());

/** The tree below the document. */
export async function treeOf(it) {
  const { nodes } = await it.cdp.send("Accessibility.getFullAXTree");
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const lines = [];
  const walk = (node, depth, above) => {
    const role = node.role?.value ?? "none";
    const name = fixed(node.name?.value ?? "");
    // Text that only repeats the name of its control.
    const isRepeated = role === "StaticText" && above !== "" && above.includes(name);
    const isTold = !node.ignored && !SILENT.has(role) && !isRepeated && !(role === "StaticText" && name === "");
    if (isTold) {
      const states = (node.properties ?? [])
        .filter(
          ({ name: state, value }) =>
            STATES.includes(state) && value.value !== false && value.value !== "false" && value.value !== "off",
        )
        .map(({ name: state, value }) => (value.value === true ? state : `${state}=${value.value}`));
      const description = fixed(node.description?.value ?? "");
      const parts = [role, name && `"${name}"`, ...states, description && `(${description})`];
      lines.push(`${"  ".repeat(depth)}${parts.filter(Boolean).join(" ")}`);
    }
    // What is inside is the browser's own, in its language.
    if (role === "Date") return;
    const passed = isTold && role !== "StaticText" && name ? name : above;
    for (const id of node.childIds ?? []) {
      const child = byId.get(id);
      if (child) walk(child, isTold ? depth + 1 : depth, passed);
    }
  };
  walk(
    nodes.find((node) => !node.parentId),
    0,
    "",
  );
  return `${lines.join("\n")}\n`;
}

/** What is directly below the document, each with all that is inside. */
const partsOf = (tree) => tree.match(/^\S.*\n(?: .*\n)*/gm) ?? [];

/** All but the main part, which no two screens share. */
export const frameOf = (tree) => partsOf(tree).filter((part) => !part.startsWith("main\n"));

/** What a screen's tree has besides the frame, after a line for each part of the frame that it lacks. */
export function besides(frame, tree) {
  const parts = partsOf(tree);
  const lacking = frame.filter((part) => !parts.includes(part)).map((part) => `- ${part.split("\n", 1)[0]}\n`);
  return [...lacking, ...parts.filter((part) => !frame.includes(part))].join("");
}
