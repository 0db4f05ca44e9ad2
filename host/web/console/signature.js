// Who signed a version.

/** @import { VersionDetails } from "./types.js" */
import { h } from "../shared/dom.js";
import { when } from "./words.js";

/** @param {VersionDetails} it */
export function drawSignature({ built_in, signature }) {
  const unsigned = built_in
    ? "Built-in versions are part of the program and are not signed separately."
    : "It is not signed.";
  const signer = signature?.signed_by
    ? h("span", "Signed by the key ", h("code.long", signature.signed_by))
    : h("strong", "Not signed by a key that this host knows");
  return [
    h("h3", "Signature"),
    signature ? h("p", signer, `. Added by ${signature.added_by}, `, when(signature.added_at), ".") : h("p", unsigned),
  ];
}
