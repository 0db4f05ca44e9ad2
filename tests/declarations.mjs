// Declares the types of the package's generated modules, before tsc runs: it then neither checks those modules nor misses
// them before they are generated.

import { mkdirSync, writeFileSync } from "node:fs";

const DIST = new URL("../components/js/dist/", import.meta.url);
const GLUE = `export declare const instantiate: import("../../src/internal.js").Glue["instantiate"];\n`;
const MANIFEST = `declare const manifest: import("../src/internal.js").Manifest;\nexport default manifest;\n`;

const SCHEMA = `declare const schema: import("../../src/internal.js").Schema;\nexport default schema;\n`;

for (const folder of ["glue", "schema"]) mkdirSync(new URL(`${folder}/`, DIST), { recursive: true });
for (const kind of ["risk", "nudge", "accessibility"]) {
  writeFileSync(new URL(`glue/${kind}.d.ts`, DIST), GLUE);
  writeFileSync(new URL(`schema/${kind}.d.ts`, DIST), SCHEMA);
}
writeFileSync(new URL("manifest.d.ts", DIST), MANIFEST);
