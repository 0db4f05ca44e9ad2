// What this browser remembers about each user: that they completed a transfer here, and in which time zone. Users are
// stored under a short digest, so that names do not appear in clear. The records are a hint, not a proof.

import { timeZone } from "./times.js";

const KEY = "caudal.devices";

/** FNV-1a: short and stable, not secret. @param {string} text */
function digest(text) {
  let hash = 0x811c9dc5;
  for (const octet of new TextEncoder().encode(text)) {
    hash = Math.imul(hash ^ octet, 0x01000193) >>> 0;
  }
  return hash.toString(16).padStart(8, "0");
}

/** @returns {Record<string, { zone?: string } | null | undefined>} */
function records() {
  try {
    const read = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return read !== null && typeof read === "object" ? read : {};
  } catch {
    return {};
  }
}

/** A device that was never used cannot have moved. @param {string} user */
export function deviceFacts(user) {
  const record = records()[digest(user)];
  if (!record || typeof record !== "object") return { isNewDevice: true, hasMoved: false };
  return { isNewDevice: false, hasMoved: typeof record.zone === "string" && record.zone !== timeZone() };
}

/** After a completed transfer, device and place count as usual. @param {string} user */
export function remember(user) {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...records(), [digest(user)]: { zone: timeZone() } }));
  } catch {
    // Without storage every device is new: more questions, never fewer.
  }
}
