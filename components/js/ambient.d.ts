// Modules without declarations of their own: generated cores, and what the package uses of Node.

declare module "*.wasm" {
  const core: WebAssembly.Module;
  export default core;
}
declare module "*.core.js" {
  const base64: string;
  export default base64;
}
declare module "node:crypto" {
  export const webcrypto: Crypto;
}
declare module "node:worker_threads" {
  export const Worker: new (url: URL) => any;
  export const parentPort: {
    postMessage(message: unknown): void;
    on(event: "message", act: (data: any) => void): void;
  };
}
declare module "node:fs/promises" {
  export function readFile(path: URL): Promise<Uint8Array<ArrayBuffer>>;
}
