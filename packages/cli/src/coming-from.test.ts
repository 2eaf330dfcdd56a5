import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { actions as commands } from "@banyan/client/actions";
import { expect, test } from "vitest";
import { readArguments } from "./arguments.ts";
import { actions } from "./terminal/full/keys/actions.ts";

const page = readFileSync(fileURLToPath(new URL("../../../docs/coming-from.md", import.meta.url)), "utf8");

/** Cells of the column "here" below a heading. */
function here(heading: string): string[] {
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const rows = (section.split("\n## ", 1)[0] ?? "").split("\n").filter((line) => line.startsWith("| "));
  return rows.slice(1).map((row) => row.split(" | ")[1] ?? "");
}

function help(...argv: string[]): string {
  const wanted = readArguments([...argv, "--help"]);
  return wanted.type === "text" ? wanted.text : "";
}

test("T54: the commands that docs/coming-from.md names exist", () => {
  const named = here("Commands").flatMap((cell) => [...cell.matchAll(/`\/([\w-]+)`/g)].map(([, name]) => name));
  expect(named.length).toBeGreaterThan(30);
  const known = commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  expect(named.filter((name) => !known.includes(name ?? ""))).toEqual([]);
  // Each alias for users of other programs must be on the page.
  expect(commands.flatMap(({ aliases = [] }) => aliases).filter((name) => !named.includes(name))).toEqual([]);
});

test("T54: the keys in docs/coming-from.md have effects", () => {
  const keys = Object.values(actions).flatMap(({ keys }) => keys as readonly string[]);
  const named = here("Keys").flatMap(
    (cell) => cell.match(/(?:(?:Ctrl|Alt|Shift)[-+])?(?:Enter|Esc|Tab|Up|[A-Z]\b)/g) ?? [],
  );
  const spelt = named.map((key) => key.toLowerCase().replaceAll("-", "+").replace("esc", "escape"));
  expect(spelt.length).toBeGreaterThan(8);
  expect(spelt.filter((key) => !keys.includes(key))).toEqual([]);
});

test("the flags that docs/coming-from.md names exist", () => {
  const named = here("The command line").flatMap((cell) => cell.match(/--[\w-]+/g) ?? []);
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((flag) => !help().includes(flag))).toEqual([]);
  expect(help("run")).toContain("banyan run");
});

test("no two commands have one name", () => {
  const all = commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([]);
});
