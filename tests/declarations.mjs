// Declares the types of the package's generated modules, before tsc runs: it then neither checks those modules nor misses
// them before they are generated.

import { mkdirSync, writeFileSync } from "node:fs";

const DIST = new URL("../components/js/dist/", import.meta.url);
const MANIFEST = `declare const manifest: import("../src/internal.js").Manifest;\nexport default manifest;\n`;

const GLUE = `import type { Glue } from "../../src/internal.js";\nexport declare const instantiate: Glue["instantiate"];\n`;

const FACTS = `declare const facts: import("../../src/internal.js").Catalogue;\nexport default facts;\n`;

/** How an entry point gets at its parts: fetched when they are needed, or bundled. */
const LAZY = (part) => `() => Promise<${part}>`;
const EAGER = (part) => part;

const entry = (get, schema, core) => `import type { Kind } from "../../src/index.js";
import type { Glue, Schema } from "../../src/internal.js";
export declare const SCHEMAS: Record<Kind, ${get(schema)}>;
export declare const GLUE: Record<string, ${get("Glue")}>;
export declare const CORES: Record<string, ${core}>;
`;
const ENTRIES = {
  browser: entry(LAZY, "{ default: Schema }", "() => URL"),
  embedded: entry(LAZY, "{ default: Schema }", LAZY("{ default: string }")),
  workerd: entry(EAGER, "Schema", "WebAssembly.Module"),
};

mkdirSync(new URL("entry/", DIST), { recursive: true });
for (const [name, text] of Object.entries(ENTRIES)) writeFileSync(new URL(`entry/${name}.d.ts`, DIST), text);
writeFileSync(new URL("manifest.d.ts", DIST), MANIFEST);
mkdirSync(new URL("glue/", DIST), { recursive: true });
const CONTRACTS = ["risk", "risk-2", "nudge", "accessibility"];
for (const name of CONTRACTS) writeFileSync(new URL(`glue/${name}.d.ts`, DIST), GLUE);
mkdirSync(new URL("schema/", DIST), { recursive: true });
writeFileSync(new URL("schema/facts.d.ts", DIST), FACTS);
