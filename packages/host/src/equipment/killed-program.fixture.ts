// A program that is killed while its agent changes two files, just before the second replaces the old file: `node
// killed-program.fixture.ts HOME`.
import files from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { call, scriptedModel } from "@banyan/core/testing";

const { rename } = files;
files.rename = async (from, to) => {
  if (String(to).endsWith("/b.txt")) process.kill(process.pid, "SIGKILL");
  return rename(from, to);
};
syncBuiltinESMExports();

// Import only now, so that the imported code uses the function above.
const { openHost } = await import("../host/open-host.ts");
const [home = ""] = process.argv.slice(2);
const env = { BANYAN_HOME: join(home, "own"), BANYAN_NO_DISCOVERY: "1" };
const flags = { model: "demo/offline", approval: "edits" } as const;
const host = await openHost({ cwd: join(home, "project"), home, env, flags, canAsk: false });
const model = scriptedModel([
  ["a.txt", "b.txt"].map((file_path) => call("edit_mode", { file_path })),
  ["a.txt", "b.txt"].map((path) => `\`\`\`txt:${path}:1:2\nnew\n\`\`\`\n`).join(""),
]);
await host.agent.with({ model }).send("Renew both", { session: await host.newSession() });
