import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "rolldown/utils";
import { describe, expect, test } from "vitest";
import { readProse } from "./plain-prose.ts";

const root = join(import.meta.dirname, "../..");
const PACKAGES = "packages/{cli,client,host,tools,core}/src/**/*.ts";
const NOT_PRODUCT = /\.(test|fixture)\.ts$|\/testing\//;

const REASONS: Readonly<Record<string, string>> = {
  "tools/src/finder/find.ts": "Words that a search compares.",
};

interface Node {
  readonly type: string;
  readonly start: number;
  readonly value?: unknown;
  readonly quasis?: readonly { readonly value: { readonly cooked: string } }[];
}

/** Returns the texts of a source that a user or model may read. `X` replaces a value in a template. */
function textsIn(file: string, source: string): readonly string[] {
  const texts: string[] = [];
  const open: unknown[] = [parseSync(file, source).program];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== "object" || next === null) continue;
    const node = next as Node;
    if (node.type === "Literal" && typeof node.value === "string") texts.push(node.value);
    if (node.type === "TemplateLiteral") texts.push((node.quasis ?? []).map(({ value }) => value.cooked).join("X"));
    open.push(...Object.values(next).toReversed());
  }
  return texts.filter((text) => text.includes(" "));
}

function unclear(text: string): readonly string[] {
  const { clauseFirst, pointing } = readProse(text);
  return [...new Set([...clauseFirst, ...pointing])];
}

describe("plain English in messages", () => {
  test("no message of the terminal, the host, the tools or the engine takes a second reading", () => {
    const files = globSync(PACKAGES, { cwd: root }).filter((file) => !NOT_PRODUCT.test(file));
    expect(files.length).toBeGreaterThan(500);
    const found = files.flatMap((file) =>
      textsIn(file, readFileSync(join(root, file), "utf8"))
        .flatMap(unclear)
        .map((sentence) => `${file.replace("packages/", "")}: ${sentence}`),
    );
    const allowed = Object.keys(REASONS);
    expect(found.filter((each) => !allowed.some((place) => each.startsWith(place)))).toEqual([]);
    expect(allowed.filter((place) => !found.some((each) => each.startsWith(place)))).toEqual([]);
  });

  test("texts are found in strings and in templates, and judged", () => {
    const source = 'say("What was written is given up."); say(`Of $' + '{count} lines the first is shown.`, "a b");';
    expect(textsIn("a.ts", source)).toEqual(["What was written is given up.", "Of X lines the first is shown.", "a b"]);
    expect(unclear("What was written is given up.")).toHaveLength(1);
    expect(unclear("The call was denied. Of that which it is none is told.")).toHaveLength(1);
    expect(unclear("The text above is discarded. What should change?")).toEqual([]);
  });
});
