// Runs `npm run restate`: a Restate server on this machine, for development. Its program of some 220 MB is downloaded
// with the first start, not with the normal install.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FOLDER, RESTATE, startRestate, stopRestate, whyNoRestate } from "@banyan/restate/testing";

const PORTS = [8080, 9070, 5122] as const;

if (whyNoRestate() !== undefined) {
  process.stderr.write(`Downloading ${RESTATE} (once, some 220 MB; Business Source License 1.1) ...\n`);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, "package.json"), '{ "private": true }\n');
  // Without scripts: one of them reports the download to a third party.
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", RESTATE];
  const { status } = spawnSync("npm", args, { cwd: FOLDER, stdio: ["ignore", "inherit", "inherit"] });
  const why = status === 0 ? whyNoRestate() : "npm could not install it";
  if (why !== undefined) {
    process.stderr.write(`Restate cannot be started here (${why}): start one of your own, in a container, say.\n`);
    process.exit(1);
  }
}

const folder = join(FOLDER, "data");
const server = await startRestate({ folder, ports: PORTS });
process.stdout.write(`Restate takes calls at ${server.ingress}; its page is ${server.admin}/ui
It keeps what it has to do in ${folder}, and writes its log there.

  npm start -- serve --store postgres://... --runs restate=${server.ingress}

Ctrl-C ends it; what it has to do is there again when it is started again.
`);
let isAsked = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.once(signal, () => {
    isAsked = true;
    stopRestate(server).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
server.process.once("exit", (code) => {
  if (isAsked) return;
  process.stderr.write(`Restate has ended by itself (${code}); ${join(folder, "log")} says why.\n`);
  process.exit(1);
});
