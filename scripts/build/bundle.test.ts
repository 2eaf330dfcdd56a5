import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { bundle } from "./bundle.ts";

test("V2: threads of the same name in two packages of one program each run their own code", async () => {
  const root = mkdtempSync(join(tmpdir(), "bundled-threads-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  for (const name of ["one", "two"]) {
    write(
      `packages/${name}/src/starts.ts`,
      `import { once } from "node:events";
      import { Worker } from "node:worker_threads";
      export const said = async () => (await once(new Worker(new URL("./worker.ts", import.meta.url)), "message"))[0];`,
    );
    write(
      `packages/${name}/src/worker.ts`,
      `import { parentPort } from "node:worker_threads";
      parentPort?.postMessage(${JSON.stringify(name)});`,
    );
  }
  write(
    "packages/program/src/index.ts",
    `export { said as one } from "../../one/src/starts.ts";
    export { said as two } from "../../two/src/starts.ts";`,
  );
  const dist = join(root, "dist");
  await bundle(join(root, "packages/program"), { index: "src/index.ts" }, { dist, sourcemap: false });
  expect(readdirSync(dist).filter((file) => file.includes("worker"))).toEqual(["one-worker.js", "two-worker.js"]);
  const { one, two } = await import(pathToFileURL(join(dist, "index.js")).href);
  expect([await one(), await two()]).toEqual(["one", "two"]);
});
