// The running hosts, and what each one serves.

/** @import { Host } from "./types.js" */
import { h } from "../shared/dom.js";
import { table } from "./table.js";
import { timeOfDay, version, when } from "./words.js";

/** @param {Host} host @param {number} epoch of the deployment @param {Date | null} asOf if nothing is known since */
function stateOf(host, epoch, asOf) {
  const isLoading = host.epoch < epoch || host.state !== "serving";
  const word = host.state === "failed" ? "failed" : isLoading ? "loading" : "serving";
  if (asOf) return h("span.note", `${word}, as of ${timeOfDay(asOf)}`);
  if (word === "failed") return h("strong.fault", "✕ failed");
  return isLoading ? "● loading" : "✓ serving";
}

/** @param {string} kind @param {Host[]} hosts @param {number} epoch @param {Date | null} asOf if the service has not responded since */
export function drawHosts(kind, hosts, epoch, asOf) {
  // Earlier rules never decide in place of those that were deployed.
  const meanwhile =
    kind === "transfer-rules"
      ? "They refuse transfers until the rules load."
      : "They keep serving the previous version.";
  const failed = hosts.filter((it) => it.state === "failed").length;
  const rows = hosts.map((it) => [
    h("code", it.host),
    [stateOf(it, epoch, asOf), "outcome"],
    it.champion ? version(it.champion) : "no version",
    [it.epoch === 0 ? "built in" : String(it.epoch), "number"],
    [when(it.since), "time"],
    [it.detail ?? "–", "words"],
  ]);
  return [
    hosts.length === 0 && h("p.notice.bad", "No hosts are reporting."),
    failed > 0 &&
      h("p.notice.bad", `Change ${epoch} failed. Hosts affected: ${failed} of ${hosts.length}. ${meanwhile}`),
    hosts.length > 0 &&
      table({
        label: "Hosts",
        heads: ["Host", "State", "Serves", ["Change", "number"], "Since", "Why"],
        rows,
        keys: hosts.map((it) => it.host),
        className: "hosts",
      }),
  ];
}
