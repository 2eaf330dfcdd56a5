import { describe, expect, test } from "vitest";
import { TestFolder } from "../test-folder.fixture.ts";
import { arm, block, play } from "./play.fixture.ts";

const ENDED = "Edit mode has ended: before you write more blocks, call edit_mode again";

const SOURCE = `import { bark } from "./bark.ts";

/** A tree. */
export class Tree {
  size = 0;

  /** Grows. */
  grow() {
    this.size += 1;
  }

  fell() {}
}

function plant() {
  return new Tree();
}
`;

async function edited(...blocks: readonly string[]): Promise<{ source: string; said: string }> {
  using folder = new TestFolder({ "tree.ts": SOURCE });
  const { said } = await play(folder, [arm("tree.ts symbol"), blocks.join(""), "Done."]);
  return { source: folder.read("tree.ts"), said: said.join() };
}

describe("B27: symbols", () => {
  test("the model learns their notation when the file is armed", async () => {
    using folder = new TestFolder({ "src/tree.ts": SOURCE });
    const { results } = await play(folder, [arm("src/tree.ts symbol"), "No."]);
    expect(
      results[0],
    ).toBe(`src/tree.ts is open for editing. Nothing is written yet: write each change in your next message, as a fenced block that begins with

\`\`\`ts:Class.method

- It replaces the whole symbol, with the comments and decorators above it. Name it as it is nested: function, Class, Class.method.
- \`\`\`ts:Class.method:before and \`\`\`ts:Class.method:after insert before and after it. \`\`\`ts:Class.method:remove, without lines, removes it.
- Write whole lines, with their indentation.
- If more files are open, name the file: \`\`\`ts:src/tree.ts:Class.method
Once your message is complete, all blocks for the file are applied, or none; you then get a report. A block that is only an example must have no colon after its language.`);
  });

  test("are replaced with what belongs to them, and text is put beside them", async () => {
    const { source, said } = await edited(
      block("ts:Tree.grow", "  /** Grows fast. */", "  grow() {", "    this.size += 10;", "  }"),
      block("ts:Tree.fell:before", "  rest() {}", ""),
      block("ts:plant:after", "", "plant();"),
    );
    expect(source).toBe(
      SOURCE.replace("Grows.", "Grows fast.")
        .replace("+= 1;", "+= 10;")
        .replace("  fell", "  rest() {}\n\n  fell")
        .concat("\nplant();\n"),
    );
    expect(said).toBe(
      `All blocks were applied.\ntree.ts: 3 blocks applied; it has 21 lines now, and had 17.\n${ENDED}.`,
    );
  });

  test("are removed", async () => {
    const { source } = await edited(block("ts:Tree:remove"), block("ts:plant"));
    expect(source).toBe('import { bark } from "./bark.ts";\n\n\n');
  });

  test.each([
    [
      "an unknown name",
      block("ts:Tree.gorw", "x"),
      /block 1 \(ts:Tree\.gorw\): There is no symbol Tree\.gorw\. Did you mean Tree\.grow\?\./,
    ],
    [
      "a symbol within another one that is replaced too",
      block("ts:Tree", "x") + block("ts:Tree.grow", "y"),
      /block 2 \(ts:Tree\.grow\) overlaps block 1 \(ts:Tree\)\./,
    ],
    [
      "lines for a symbol that is removed",
      block("ts:plant:remove", "x"),
      /block 1 \(ts:plant:remove\) removes a symbol, so it must have no lines\./,
    ],
    ["nothing beside a symbol", block("ts:plant:after"), /block 1 \(ts:plant:after\) inserts nothing\./],
  ])("are refused for %s", async (_, blocks, why) => {
    const { source, said } = await edited(blocks);
    expect(said).toMatch(/^No block was applied\.\ntree\.ts: nothing applied: /);
    expect(said).toMatch(why);
    expect(source).toBe(SOURCE);
  });

  test("are seen as the lines that they stand on while the block is written", async () => {
    using folder = new TestFolder({ "tree.ts": SOURCE });
    const { items } = await play(folder, [
      arm("tree.ts symbol"),
      block("ts:Tree.grow", "x") + block("ts:plant:before", "y") + block("ts:nothing", "z"),
      "Done.",
    ]);
    const drafts = items.flatMap((item) =>
      item.type === "call.draft.delta" && item.text !== "" ? [[item.start, item.end, item.text]] : [],
    );
    expect(drafts).toEqual([
      [7, 11, "x\n"],
      [15, 15, "y\n"],
      [undefined, undefined, "z\n"],
    ]);
  });
});
