import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readProse } from "./plain-prose.ts";

const root = join(import.meta.dirname, "../..");
const PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "docs/*.md", "packages/*/README.md"];

const pages = globSync(PAGES, { cwd: root });

describe("plain English in the docs", () => {
  test.each(pages)("%s names its subjects", (page) => {
    const { sentences, clauseFirst, pointing } = readProse(readFileSync(join(root, page), "utf8"));
    expect({ page, clauseFirst: clauseFirst.slice(Math.floor(sentences / 50)) }).toEqual({ page, clauseFirst: [] });
    expect({ page, pointing: pointing.slice(1) }).toEqual({ page, pointing: [] });
  });

  test("at most 3 of 1,000 sentences only point at things, over all pages together", () => {
    const read = pages.map((page) => readProse(readFileSync(join(root, page), "utf8")));
    const all = read.reduce((sum, { sentences }) => sum + sentences, 0);
    expect(read.flatMap(({ pointing }) => pointing).length / all).toBeLessThanOrEqual(0.003);
  });

  test("sentences that begin with a relative clause are found", () => {
    const wrong = [
      "What a crash left to say holds at once.",
      "Who leaves before the end interrupts the turn.",
      "Of a long line the beginning is shown.",
      "Where a rule denies, nothing is asked.",
      "Whether it is kept depends on the store.",
    ];
    expect(readProse(wrong.join(" ")).clauseFirst).toEqual(wrong);
    expect(readProse(`- ${wrong[0]}\n- ${wrong[1]}\n\n| a | ${wrong[2]} |\n`).clauseFirst).toEqual(wrong.slice(0, 3));
    expect(readProse(`The first. ${wrong[3]}\n${wrong[4]}`).clauseFirst).toEqual(wrong.slice(3));
  });

  test("sentences that only point at things are found", () => {
    const wrong = [
      "Of one without words nobody would see that there is one.",
      "What it says that cannot be, it does not say.",
      "Whoever is told so says it to that one anew.",
    ];
    for (const sentence of wrong) expect(readProse(`Read this.\n\n${sentence}`).pointing).toEqual([sentence]);
  });

  test("plain sentences, questions, short cells and code pass", () => {
    const right = `# What users see

The session appends the event. A caller that waits gets a timeout. Use \`what\` of it.

| setting | what it does |
|---|---|
| \`of\` | the share of tokens that the tools take |

\`\`\`text
What a crash left to say holds at once.
\`\`\`

What happens after a crash? It says so of that.
`;
    expect(readProse(right)).toMatchObject({ clauseFirst: [], pointing: [] });
    expect(readProse(right).sentences).toBeGreaterThan(4);
  });
});
