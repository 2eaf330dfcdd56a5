import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { rules } from "./call.fixture.ts";
import { hiddenPaths } from "./hidden-paths.ts";
import { pathScope } from "./place.ts";
import { readingRules } from "./reading-rule.ts";

let top: string;
let workspace: string;
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "banyan-hidden-")));
  workspace = join(top, "work");
  mkdirSync(workspace);
});
afterEach(() => rmSync(top, { recursive: true }));

function add(...files: readonly string[]): void {
  for (const file of files) {
    mkdirSync(dirname(join(workspace, file)), { recursive: true });
    writeFileSync(join(workspace, file), "");
  }
}

/** Returns the paths that these deny rules hide, relative to the folder. */
async function hidden(deny: string[], folder = workspace): Promise<string[]> {
  const paths = await hiddenPaths(rules({ deny }).deny, { workspace, folder, home: top, env: process.env });
  return paths.map((path) => (path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path)).sort();
}

test("S42: deny rules on reading hide existing files and folders, in the syntax of Banyan and of Claude Code", async () => {
  add(".env", "app/.env", ".gitignore", "node_modules/x/.env", "secrets/a", "secrets/b/c", "app/secrets/d", "k.pem");
  writeFileSync(join(workspace, ".gitignore"), ".env\nnode_modules\n");
  mkdirSync(join(top, "other"));
  expect(await hidden(["read(.env)"])).toEqual([".env"]);
  expect(await hidden(["Read(./.env)"])).toEqual([".env", "app/.env", "node_modules/x/.env"]);
  expect(await hidden(["read(**/.env)"])).toEqual([".env", "app/.env", "node_modules/x/.env"]);
  expect(await hidden(["Read(secrets/**)"])).toEqual(["secrets"]);
  expect(await hidden(["read(secrets/*)", "read(*.pem)"])).toEqual(["k.pem", "secrets/a"]);
  expect(await hidden([`read(${workspace}/app/**)`, `Read(/${top}/other)`, "read(~/none)"])).toEqual([
    join(top, "other"),
    "app",
  ]);
  expect(await hidden(["read", "shell(cat *)", "write(**/.env)", "read(none)"])).toEqual([]);
  symlinkSync("k.pem", join(workspace, "link"));
  expect(await hidden(["read(link)"])).toEqual(["link"]);
});

test("S42: a rule about the workspace hides the same file of a worktree", async () => {
  add(".env");
  const folder = join(top, "tree");
  mkdirSync(folder);
  writeFileSync(join(folder, ".env"), "");
  expect(await hidden(["read(.env)"], folder)).toEqual([".env"]);
  expect(await hidden([`read(${workspace}/.env)`], folder)).toEqual([".env"]);
});

test("S42: too many matches are an error that names the remedy", async () => {
  add(...Array.from({ length: 1_001 }, (_, at) => `f${at}.key`));
  await expect(hidden(["read(*.key)"])).rejects.toThrow(/match 1001 files.*Deny whole folders/);
});

test("S42: a file is hidden exactly if the tool read refuses it", async () => {
  const names = [".env", "a.pem", "secrets", "src", "key [1].txt", "{b}"];
  const patterns = [
    "*.pem",
    "**/*.pem",
    "secrets/**",
    "**/secrets/**",
    "src/*",
    "**/src/{a,b}*",
    "**/key*",
    "src/**/.env",
  ];
  const files = names.flatMap((one) => ["", "src/", "secrets/deep/"].map((folder) => `${folder}${one}/x`));
  const all = [...files, "src/a.pem/.env", "secrets/deep/b.pem", "keys/key1", "keys/other", "b.txt"];
  add(...all);
  for (const pattern of patterns) {
    for (const rule of [`read(${pattern})`, `Read(${pattern})`, `Read(/${pattern})`]) {
      const scope = pathScope(workspace, top);
      const whyNot = readingRules(scope, rules({ deny: [rule] }), () => "ask");
      const found = await hidden([rule]);
      const isHidden = (file: string) => found.some((path) => file === path || file.startsWith(`${path}/`));
      const refused = all.filter((file) => whyNot?.(join(workspace, file), join(workspace, file)) !== undefined);
      expect([rule, all.filter(isHidden)]).toEqual([rule, refused]);
    }
  }
});
