import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Named {
  readonly name: string;
  readonly also?: readonly string[];
  readonly elsewhere?: string;
}

// No package imports both: what people can write in one has to be compared from outside.
const inside = (path: string) => import(new URL(`../../packages/${path}`, import.meta.url).href);
const { commands }: { commands: readonly Named[] } = await inside("cli/src/commands/index.ts");
const { SLASH_NAMES }: { SLASH_NAMES: Readonly<Record<string, Omit<Named, "name">>> } = await inside(
  "web/src/palette/slash-names.ts",
);
const ofThePage = Object.entries(SLASH_NAMES).map(([name, rest]) => ({ name, ...rest }));

test("W65: the page knows every command of the terminal under all of its names", () => {
  const namesOf = (all: readonly Named[]) => all.map(({ name, also = [] }) => [name, ...also].join(" ")).toSorted();
  // The terminal has a key for it.
  expect(namesOf(ofThePage.filter(({ name }) => name !== "stop"))).toEqual(namesOf(commands));
});

test("W65: what is not done elsewhere is an action of the page", () => {
  const sources = globSync("packages/web/src/{palette,composer}/*.{ts,tsx}")
    .filter((file) => !file.includes(".test."))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  const offered = ofThePage.filter(({ elsewhere }) => elsewhere === undefined);
  expect(offered.filter(({ name }) => !new RegExp(`(slash: |: )"${name}"`).test(sources))).toEqual([]);
});
