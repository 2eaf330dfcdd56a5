import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkedCommand, checkedModule, NODE_CHECK, nodeCheck } from "./node-check.ts";

const checked = { name: "@example/garden", engines: { node: `>=${Number.parseInt(process.versions.node, 10)}` } };

const OLD_NODE = `data:text/javascript,${encodeURIComponent(`
  Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.8" } });
`)}`;

const NEEDED = `@example/garden needs Node ${checked.engines.node.slice(2)} or newer, and this is Node 18.20.8: install a newer one from https://nodejs.org.`;

const userOf = (module: string) =>
  `import("${module}").then(({ tree }) => console.log(tree), ({ message }) => console.log(message));`;

/**
 * Creates a folder with a package's real module, the module that checks Node, a command, and a program with an import.
 */
function garden(real: string) {
  const folder = mkdtempSync(join(tmpdir(), "node-check-"));
  const files = {
    "package.json": '{ "type": "module" }',
    "real.js": real,
    [NODE_CHECK]: nodeCheck(checked),
    "index.js": checkedModule("real"),
    "inner/index.js": checkedModule("inner/real"),
    "inner/real.js": 'export * from "../real.js";',
    "command.js": checkedCommand(checked, "real"),
    "user.js": userOf("./index.js"),
    "inner-user.js": userOf("./inner/index.js"),
  };
  mkdirSync(join(folder, "inner"));
  for (const [name, source] of Object.entries(files)) writeFileSync(join(folder, name), source);
  return (file: string, ...flags: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, file], { cwd: folder, encoding: "utf8" });
    return { status, stdout, stderr };
  };
}

test("B77: on a Node that is too old, importing says which is needed, and nothing of the package runs", () => {
  const run = garden('export const tree = "oak"; console.log("grows");');
  for (const user of ["user.js", "inner-user.js"])
    expect(run(user, "--import", OLD_NODE)).toEqual({ status: 0, stdout: `${NEEDED}\n`, stderr: "" });
});

test("B77: on a Node that is too old, a command says which is needed, and nothing of it is read", () => {
  const run = garden("This is no JavaScript that any Node can read.");
  expect(run("command.js", "--import", OLD_NODE)).toEqual({ status: 2, stdout: "", stderr: `${NEEDED}\n` });
});

test("B77: on a Node that is new enough, the package is what is imported and started", () => {
  const run = garden('export const tree = "oak"; console.log("grows");');
  expect(run("user.js")).toEqual({ status: 0, stdout: "grows\noak\n", stderr: "" });
  expect(run("inner-user.js")).toEqual({ status: 0, stdout: "grows\noak\n", stderr: "" });
  expect(run("command.js")).toEqual({ status: 0, stdout: "grows\n", stderr: "" });
});
