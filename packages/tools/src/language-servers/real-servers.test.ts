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

/** A project with a function in one file and calls of the function in another file. */
interface Language {
  readonly files: Readonly<Record<string, string>>;
  /** The file with the function, and the two forms of the line that declares it: with one and with two parameters. */
  readonly declares: readonly [path: string, one: string, two: string];
  readonly uses: string;
  /** The last line before the calls. */
  readonly above: string;
  readonly comment: string;
  call(argument: string): string;
  missing(name: string): string;
  /** The command that installs the server. Without it, the server must be installed on the machine. */
  readonly install?: readonly [program: string, ...args: string[]];
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  typescript: {
    files: {
      "tsconfig.json": '{ "compilerOptions": { "strict": true, "noEmit": true } }',
      "a.ts": "export const old: number = 'x';\nexport function f(a: number) {\n  return a;\n}\n",
      "b.ts": "import { f } from './a';\nf(0);\n",
    },
    declares: ["a.ts", "function f(a: number) {", "function f(a: number, b: number) {"],
    uses: "b.ts",
    above: "f(0);",
    comment: "// A comment.",
    call: (argument) => `f(${argument});`,
    missing: (name) => `${name}();`,
    install: ["npm", "install", "--loglevel=error", "typescript@7"],
  },
  python: {
    files: {
      "pyrightconfig.json": "{}",
      "a.py": "old: int = 'x'\ndef f(a: int) -> int:\n    return a\n",
      "b.py": "from a import f\nf(0)\n",
    },
    declares: ["a.py", "def f(a: int) -> int:", "def f(a: int, b: int) -> int:"],
    uses: "b.py",
    above: "f(0)",
    comment: "# A comment.",
    call: (argument) => `f(${argument})`,
    missing: (name) => `${name}()`,
    install: ["npm", "install", "--loglevel=error", "pyright@1"],
  },
  go: {
    files: {
      "go.mod": "module oak\n\ngo 1.21\n",
      "a.go": 'package main\n\nvar old int = "x"\n\nfunc f(a int) int {\n\treturn a\n}\n',
      "b.go": "package main\n\nfunc main() {\n\tf(0)\n}\n",
    },
    declares: ["a.go", "func f(a int) int {", "func f(a int, b int) int {"],
    uses: "b.go",
    above: "\tf(0)",
    comment: "\t// A comment.",
    call: (argument) => `\tf(${argument})`,
    missing: (name) => `\t${name}()`,
    install: ["go", "install", "golang.org/x/tools/gopls@v0.23.0"],
  },
  rust: {
    files: {
      "Cargo.toml": '[package]\nname = "oak"\nversion = "0.1.0"\nedition = "2021"\n',
      "src/lib.rs": "pub mod a;\npub mod b;\n",
      "src/a.rs": 'pub const OLD: i32 = "x";\npub fn f(a: i32) -> i32 {\n    a\n}\n',
      "src/b.rs": "use crate::a::f;\n\npub fn all() {\n    f(0);\n}\n",
    },
    declares: ["src/a.rs", "pub fn f(a: i32) -> i32 {", "pub fn f(a: i32, b: i32) -> i32 {"],
    uses: "src/b.rs",
    above: "    f(0);",
    comment: "    // A comment.",
    call: (argument) => `    f(${argument});`,
    missing: (name) => `    ${name}();`,
  },
};

const ROUNDS = 5;

interface ScriptedEdit {
  readonly path: string;
  readonly from: string;
  readonly to: string;
  /** The calls that have a new problem after the edit. */
  readonly wrong: readonly string[];
}

/** Returns eight edits. `calls`: the calls that are right before the edits. */
function editsOf(language: Language, round: number, calls: readonly string[]): readonly ScriptedEdit[] {
  const { uses, above, comment, declares } = language;
  const [declaring, one, two] = declares;
  const right = language.call(`1${round}`);
  const wrong = language.call(`"s${round}"`);
  const mended = language.call(`2${round}`);
  const missing = language.missing(`missing${round}`);
  const edit = (from: string, to: string, ...bad: readonly string[]) => ({ path: uses, from, to, wrong: bad });
  return [
    edit(above, `${above}\n${right}`),
    edit(right, `${right}\n${wrong}`, wrong),
    edit(right, `${comment.replace(".", ` ${round}.`)}\n${right}`),
    edit(wrong, mended),
    { path: declaring, from: one, to: two, wrong: [...calls, right, mended] },
    { path: declaring, from: two, to: one, wrong: [] },
    edit(mended, `${mended}\n${missing}`, missing),
    edit(`\n${missing}`, ""),
  ];
}

const installed = LONG ? new TestFolder({ "package.json": "{}" }) : undefined;
afterAll(() => installed?.[Symbol.dispose]());

test.runIf(LONG).each(Object.entries(LANGUAGES))(
  "E1: over 40 edits, the server for %s reports each new problem once, and no old one, in the sandbox",
  async (_, language) => {
    if (!installed) return;
    const [program, ...args] = language.install ?? [];
    const GOBIN = join(installed.root, "node_modules/.bin");
    if (program !== undefined) execFileSync(program, args, { cwd: installed.root, env: { ...process.env, GOBIN } });
    using folder = new TestFolder({ "package.json": "{}", ...language.files });
    symlinkSync(join(installed.root, "node_modules"), folder.path("node_modules"));
    await using sandbox = await sandboxOf(folder);
    const workspace = openWorkspace(folder.root);
    await using servers = new LanguageServers({ workspace, sandbox, patience: 60_000 });
    const [tool] = servers.checked(workspaceTools({ root: folder.root }).filter(({ name }) => name === "edit"));
    const calls = [language.above];
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const { path, from, to, wrong } of editsOf(language, round, calls)) {
        const said = await call(tool as Tool, { path, old_text: from, new_text: to }, { call: randomUUID() });
        const lines = folder.read(language.uses).split("\n");
        const places = wrong.map((text) => `${language.uses}:${lines.indexOf(text) + 1}`);
        const reported = Array.from(said.matchAll(/^(\S+:\d+): error: /gm), ([, place]) => place);
        expect({ edit: [path, to], reported: reported.toSorted() }).toEqual({
          edit: [path, to],
          reported: places.toSorted(),
        });
      }
      calls.push(language.call(`1${round}`), language.call(`2${round}`));
    }
  },
  900_000,
);
