// Makes the package from the components of the program under test: node parity/prepare.mjs, before the tests.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { program } from "./service.mjs";

const PACKAGE = new URL("../../components/js/", import.meta.url);
const at = (path) => fileURLToPath(new URL(path, PACKAGE));

execFileSync(program(), ["models", "package", at("dist")], { stdio: "inherit" });
execFileSync(process.execPath, [at("build.mjs")], { stdio: "inherit" });
