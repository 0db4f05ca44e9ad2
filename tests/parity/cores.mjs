// Modules made by hand, as small as what they show.

/** Identifiers of sections, in the order that modules need. */
const SECTIONS = { types: 1, imports: 2, functions: 3, tables: 4, memories: 5, globals: 6, exports: 7 };
const LATER = { start: 8, elements: 9, counted: 12, code: 10, data: 11 };

const leb = (value) => (value < 128 ? [value] : [(value % 128) + 128, ...leb(value >>> 7)]);
export const sized = (bytes) => [...leb(bytes.length), ...bytes];

/** A module, or a component, of sections by their identifiers. */
export const binary = (version, ...sections) =>
  new Uint8Array([0, 0x61, 0x73, 0x6d, ...version, ...sections.flatMap(([id, content]) => [id, ...sized(content)])]);

/**
 * The core with a function for each body in `code`, which returns an i32, and these parts. Exports are
 * `{ name: [kind, index] }`; all else is a list of items in bytes.
 */
export function core({ code = [], exports = {}, start, counted, ...rest }) {
  const parts = {
    types: [
      [0x60, 0, 1, 0x7f],
      [0x60, 0, 0],
    ],
    functions: code.map(() => [0]),
    exports: Object.entries(exports).map(([name, item]) => [...sized([...Buffer.from(name)]), ...item]),
    code: code.map((body) => sized([0, ...body, 0x0b])),
    ...rest,
  };
  const sections = Object.entries({ ...SECTIONS, ...LATER }).flatMap(([name, id]) => {
    if (name === "start") return start === undefined ? [] : [[id, [start]]];
    if (name === "counted") return counted === undefined ? [] : [[id, [counted]]];
    const items = parts[name] ?? [];
    return items.length > 0 ? [[id, [...leb(items.length), ...items.flat()]]] : [];
  });
  return binary([1, 0, 0, 0], ...sections);
}
