// Starts the lab and keeps it until Ctrl-C: `make ha`.

import { token } from "./host.mjs";
import { Lab } from "./lab.mjs";

const lab = new Lab();
const ended = new Promise((resolve) => {
  for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => resolve(undefined));
});

try {
  await Promise.race([
    lab.start(String(process.env.CAUDAL_HA_FOLDER), process.argv[2]),
    ended.then(() => Promise.reject(new Error("stopped"))),
  ]);
  console.log(`${lab.addresses()}\n\nexport TOKEN=${token("ana")}\n\nCtrl-C stops everything.`);
  const alive = setInterval(() => {}, 60_000);
  await ended;
  clearInterval(alive);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await lab.end();
}
