import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Tool } from "@banyan/core";
import { afterAll, expect, test } from "vitest";
import { sandboxOf, whyNoSandbox } from "../sandbox/sandbox.fixture.ts";
import { openWorkspace, workspaceTools } from "../workspace/index.ts";
import { call, TestFolder } from "../workspace/test-folder.fixture.ts";
import { LanguageServers } from "./language-servers.ts";

const LONG = Boolean(process.env.BANYAN_LONG) && (await whyNoSandbox()) === undefined;

const installed = LONG ? new TestFolder({ "package.json": "{}" }) : undefined;
if (installed)
  execFileSync("npm", ["install", "--loglevel=error", "typescript@7", "pyright@1"], { cwd: installed.root });
afterAll(() => installed?.[Symbol.dispose]());

const TYPESCRIPT = {
  "package.json": "{}",
  "tsconfig.json": '{ "compilerOptions": { "strict": true, "noEmit": true } }',
  "a.ts": "export const old: number = 'x';\nexport function f(a: number) {\n  return a;\n}\n",
  "b.ts": "import { f } from './a';\nf(1);\n",
};
const PYTHON = {
  "pyrightconfig.json": "{}",
  "a.py": "old: int = 'x'\ndef f(a: int) -> int:\n    return a\n",
  "b.py": "from a import f\nf(1)\n",
};

/** Each edit has the file, the old and the new text, and the places of the new problems. */
const EDITS = {
  typescript: [
    ["b.ts", "f(1);", "f(1);\nf('a');", ["b.ts:3"]],
    ["b.ts", "f('a');", "f(2);", []],
    ["a.ts", "f(a: number)", "f(a: number, b: number)", ["b.ts:2", "b.ts:3"]],
    ["a.ts", "f(a: number, b: number)", "f(a: number)", []],
    ["b.ts", "f(2);", "f(2);\nmissing();", ["b.ts:4"]],
    ["b.ts", "missing();", "// A comment.\nmissing();", []],
  ],
  python: [
    ["b.py", "f(1)", "f(1)\nf('a')", ["b.py:3"]],
    ["b.py", "f('a')", "f(2)", []],
    ["a.py", "f(a: int)", "f(a: int, b: int)", ["b.py:2", "b.py:3"]],
    ["a.py", "f(a: int, b: int)", "f(a: int)", []],
    ["b.py", "f(2)", "f(2)\nmissing()", ["b.py:4"]],
    ["b.py", "missing()", "# A comment.\nmissing()", []],
  ],
} as const;

test.runIf(LONG).each([
  ["typescript", TYPESCRIPT],
  ["python", PYTHON],
] as const)(
  "E1: the server for %s reports each new problem once, and no old one, in the sandbox",
  async (language, files) => {
    using folder = new TestFolder(files);
    symlinkSync(join(installed?.root ?? "", "node_modules"), folder.path("node_modules"));
    await using sandbox = await sandboxOf(folder);
    const workspace = openWorkspace(folder.root);
    await using servers = new LanguageServers({ workspace, sandbox, patience: 60_000 });
    const [edit] = servers.checked(workspaceTools({ root: folder.root }).filter(({ name }) => name === "edit"));
    for (const [path, old_text, new_text, places] of EDITS[language]) {
      const said = await call(edit as Tool, { path, old_text, new_text }, { call: randomUUID() });
      expect(Array.from(said.matchAll(/^(\S+:\d+): error: /gm), ([, place]) => place)).toEqual(places);
    }
  },
  180_000,
);
