// What vouches for a version: its signature, and statements about what it contains and how it was built.

/** @import { Attestation, VersionDetails } from "./types.js" */
import { h } from "../shared/dom.js";
import { table } from "./table.js";
import { count, when } from "./words.js";

/** @param {{ signed_by: string | null }} it */
const signer = ({ signed_by }) =>
  signed_by
    ? h("span", "Signed by the key ", h("code.long", signed_by))
    : h("strong", "Not signed by a key that this host knows");

/** @param {{ added_by: string, added_at: string }} it */
const added = ({ added_by, added_at }) => [`. Added by ${added_by}, `, when(added_at), "."];

/** Each tool writes other fields, so nothing here is certain. @param {unknown} value @param {string[]} path @returns {any} */
const inside = (value, ...path) =>
  path.reduce((/** @type {any} */ at, name) => (typeof at === "object" && at !== null ? at[name] : undefined), value);

/** @param {unknown} value */
const list = (value) => (Array.isArray(value) ? value : []);

/** @param {unknown} predicate */
function drawBill(predicate) {
  const parts = list(inside(predicate, "components"));
  const rows = parts.map((it) => [
    h("code", String(inside(it, "name") ?? "")),
    String(inside(it, "version") ?? ""),
    list(inside(it, "licenses"))
      .map((one) => inside(one, "expression") ?? inside(one, "license", "id") ?? inside(one, "license", "name"))
      .join(", "),
  ]);
  return h(
    "details",
    h("summary", `${count(parts.length)} ${parts.length === 1 ? "part" : "parts"}`),
    table({ label: "Bill of materials", heads: ["Part", "Version", "Licence"], rows }),
  );
}

/** @param {unknown} predicate */
function drawProvenance(predicate) {
  const sources = list(inside(predicate, "buildDefinition", "resolvedDependencies")).map((it) => {
    const digests = Object.entries(inside(it, "digest") ?? {}).map(([name, value]) => `${name}:${value}`);
    return [String(inside(it, "uri") ?? ""), ...digests].join(" ");
  });
  const facts = /** @type {const} */ ([
    ["Builder", inside(predicate, "runDetails", "builder", "id")],
    ["Build type", inside(predicate, "buildDefinition", "buildType")],
    ...sources.map((it) => ["From", it]),
  ]);
  return h(
    "dl.facts",
    facts
      .filter(([, value]) => value)
      .map(([term, value]) => h("div", h("dt", term), h("dd", h("code.long", String(value))))),
  );
}

/** @param {Attestation} it */
function drawAttestation(it) {
  const isBill = it.form === "bill-of-materials";
  const predicate = inside(it.statement, "predicate");
  return [
    h("h3", isBill ? "Bill of materials" : "Provenance"),
    h("p", signer(it), added(it)),
    isBill ? drawBill(predicate) : drawProvenance(predicate),
  ];
}

/** @param {VersionDetails} it */
export function drawOrigin({ built_in, signature, attestations = [] }) {
  return [
    h("h3", "Signature"),
    signature && h("p", signer(signature), added(signature)),
    !signature &&
      h(
        "p",
        built_in ? "Built-in versions are part of the program and are not signed separately." : "It is not signed.",
      ),
    attestations.map(drawAttestation),
  ];
}
