// What this browser remembers to tell a usual transfer from an unusual one: whether a transfer was ever completed
// here, and in which time zone. Marks by user, under a short digest, so that names are not written in clear; they
// identify nothing outside of this browser and prove nothing.

import { timeZone } from "./times.js";

const KEPT = "caudal.devices";

/** FNV-1a: short and stable; not for keeping a secret. */
function digest(text) {
  let hash = 0x811c9dc5;
  for (const octet of new TextEncoder().encode(text)) {
    hash = Math.imul(hash ^ octet, 0x01000193) >>> 0;
  }
  return hash.toString(16).padStart(8, "0");
}

function marks() {
  try {
    const read = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
    return read !== null && typeof read === "object" ? read : {};
  } catch {
    return {};
  }
}

/** {isNewDevice, hasMoved} for a user. What was never seen here cannot have moved. */
export function deviceFacts(user) {
  const mark = marks()[digest(user)];
  if (mark === null || typeof mark !== "object") return { isNewDevice: true, hasMoved: false };
  return { isNewDevice: false, hasMoved: typeof mark.zone === "string" && mark.zone !== timeZone() };
}

/** After a completed transfer this device and this place are the usual ones. */
export function remember(user) {
  try {
    localStorage.setItem(KEPT, JSON.stringify({ ...marks(), [digest(user)]: { zone: timeZone() } }));
  } catch {
    // Without storage every transfer is one from a new device: more questions, never fewer.
  }
}
