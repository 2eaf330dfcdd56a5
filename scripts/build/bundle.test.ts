import { globSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { bundle } from "./bundle.ts";
import { writeModules } from "./modules.ts";
import { importsOf } from "./syntax.fixture.ts";

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

// In a circle, the order of modules would depend on the entry that a program imports first.
test("L9: no published module of core or models imports itself through others", async () => {
  for (const name of ["core", "models"]) {
    const dist = mkdtempSync(join(tmpdir(), "circles-"));
    onTestFinished(() => rmSync(dist, { recursive: true, force: true }));
    await writeModules(join(import.meta.dirname, "..", "..", "packages", name), dist);
    const files = globSync("**/*.js", { cwd: dist }).map((file) => join(dist, file));
    const imports = new Map(
      files.map((file) => [file, importsOf(file, "at its start").map((path) => join(dirname(file), path))]),
    );
    const circular = files.filter((file) => {
      const behind = new Set(imports.get(file));
      for (const each of behind) for (const other of imports.get(each) ?? []) behind.add(other);
      return behind.has(file);
    });
    expect(files.length).toBeGreaterThan(20);
    expect(circular).toEqual([]);
  }
});
