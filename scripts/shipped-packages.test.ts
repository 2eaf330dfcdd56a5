import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

const SHIPPED = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "deploy/*", "examples/**/*", "packages/*/README.md"],
  ...["packages/*/package.json", "packages/*/src/**/*.{ts,tsx}", "scripts/build/*.ts"],
];
const NOT_SHIPPED = /node_modules|\/testing\/|\.test\.tsx?$|\.fixture\.tsx?$/;

/** Programs of other projects that docs and messages name: users choose to install them. */
const OF_OTHERS: ReadonlySet<string> = new Set([
  ...["@agentclientprotocol/claude-agent-acp", "@agentclientprotocol/codex-acp", "@google/gemini-cli"],
  ...["@modelcontextprotocol/server-filesystem", "jest", "node-llama-cpp", "prettier", "schemathesis"],
]);

const WORD = String.raw`((?:[ \t]+-{1,2}[\w-]+(?:=\S+)?)*)[ \t]+(@?[a-z\d][\w./@-]*)`;
const RUNS = `(?:npx|bunx|uvx|(?:npm|pnpm|yarn|bun) (?:exec|x|dlx|create|init)|pipx run)${WORD}`;
const INSTALLS = `(?:(?:npm|pnpm|yarn|bun) (?:install|i|add)|pipx? install)${WORD}`;
const NAMED = new RegExp(String.raw`\b(?:${RUNS}|${INSTALLS})`, "g");

/** Returns the package names that commands in a text get from a registry. */
function packagesIn(text: string): string[] {
  // Also in JSON such as { "command": "npx", "args": ["-y", "a-server"] }.
  const words = text.replaceAll(/["',[\]]|\bargs\b["']?:/g, " ");
  return [...words.matchAll(NAMED)]
    .map(([, runFlags, runs, flags, installs]) => ({ flags: runFlags ?? flags ?? "", name: runs ?? installs ?? "" }))
    .filter(({ flags }) => !/\s--no(-install)?\b/.test(flags))
    .map(({ name }) => name.replace(/(?<=.)@[^/]*$/, "").replace(/[.,]+$/, ""))
    .filter((name) => !name.endsWith(".tgz"));
}

/** Returns the commands of a file: code in Markdown, strings of a program, or the whole of any other file. */
function commandsOf(file: string): string {
  const text = readFileSync(join(root, file), "utf8");
  if (file.endsWith(".md")) return [...text.matchAll(/^```[\s\S]*?^```|`[^`\n]+`/gm)].join("\n");
  return /\.tsx?$/.test(file) ? text.replaceAll(/^\s*(\/\/|\/?\*).*$/gm, "") : text;
}

const shipped = globSync(SHIPPED, { cwd: root }).filter((file) => /\.\w+$/.test(file) && !NOT_SHIPPED.test(file));

const { packages }: { readonly packages: Readonly<Record<string, { readonly link?: boolean }>> } = JSON.parse(
  readFileSync(join(root, "package-lock.json"), "utf8"),
);
/** The registry packages in the lock file, which have a digest. Our own packages are links there. */
const locked = new Set(
  Object.entries(packages).flatMap(([path, { link }]) => (link ? [] : [path.split("node_modules/").at(-1) ?? ""])),
);

test("S32: no shipped file runs or installs a package by a name that is not in the lock file, and not known to be of others", () => {
  expect(shipped.length).toBeGreaterThan(300);
  const named = shipped.flatMap((file) => packagesIn(commandsOf(file)).map((name) => ({ file, name })));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ name }) => !locked.has(name) && !OF_OTHERS.has(name))).toEqual([]);
});

test("S32: names of ours are found in every way to run or install them, unless npx may not get them", () => {
  const ways = ["npx --yes", "npx", "npm exec", "npm install -g", "pnpm dlx", "bunx", "npm create", "npm i --save-dev"];
  for (const way of ways)
    for (const name of ["banyan", "@banyan/core"]) {
      expect(packagesIn(`sh -c '${way} ${name}@1.0.0 serve'`)).toEqual([name]);
      expect(locked.has(name)).toBe(false);
    }
  expect(packagesIn('"command": "npx" "banyan"')).toEqual(["banyan"]);
  expect(
    packagesIn("npx --no banyan; npm install ./banyan-core.tgz /packages/*.tgz; npm install banyan-1.0.0.tgz"),
  ).toEqual([]);
});
