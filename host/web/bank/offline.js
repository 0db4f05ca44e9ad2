// Has the browser keep the page's shell for when there is no connection.

const WORKER = "/offline-worker.js";
/** After the first view, which must not wait for it. */
const AFTER_MS = 1_500;

/** The address, as browsers that ask for trusted types take it: no other can be registered. */
function trusted() {
  const { trustedTypes } = /** @type {any} */ (globalThis);
  return trustedTypes?.createPolicy("offline-worker", { createScriptURL: () => WORKER }).createScriptURL("") ?? WORKER;
}

export function keepShell() {
  if (!("serviceWorker" in navigator)) return;
  setTimeout(() => {
    // Without it the page works as long as there is a connection.
    navigator.serviceWorker.register(trusted(), { updateViaCache: "none" }).catch(() => {});
  }, AFTER_MS);
}
