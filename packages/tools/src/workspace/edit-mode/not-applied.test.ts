import { rmSync, writeFileSync } from "node:fs";
import { defineTool } from "@banyan/core";
import { call, cut, end, fail, reasoning, type Scene, stall, text } from "@banyan/core/testing";
import { describe, expect, test } from "vitest";
import { TestFolder } from "../test-folder.fixture.ts";
import { arm, block, play } from "./play.fixture.ts";

const ENDED = "Edit mode has ended: before you write more blocks, call edit_mode again";
const ANEW = `${ENDED}, and then send all blocks again.`;

/** Arms a.ts with four lines, and plays this message. Returns the report for the model. The file must not change. */
async function refused(message: Scene, files: readonly string[] = ["a.ts"]): Promise<string> {
  using folder = new TestFolder({ "a.ts": "1\n2\n3\n4\n", "b.ts": "b\n" });
  const { said, path } = await play(folder, [arm(...files), message, "I see."]);
  expect([folder.read("a.ts"), folder.read("b.ts"), folder.names()]).toEqual(["1\n2\n3\n4\n", "b\n", ["a.ts", "b.ts"]]);
  expect(path.at(-1)?.parts).toMatchObject([{ text: "I see." }]);
  expect(said).toHaveLength(1);
  return said.join();
}

const again = (why: string) =>
  `No block was applied.\na.ts: nothing applied: ${why}.\n${ENDED} for a.ts, and then send all blocks for it again.`;

describe("B31: all blocks of a file or none", () => {
  test("an overlap", async () => {
    expect(await refused(block("ts:1:2", "x") + block("ts:2:4", "y") + block("ts:3:5", "z"))).toBe(
      again("block 3 (ts:3:5) overlaps block 2 (ts:2:4)"),
    );
  });

  test("beyond the end", async () => {
    expect(await refused(block("ts:1:2", "x") + block("ts:4:9", "y"))).toBe(
      again("block 2 (ts:4:9) reaches beyond the end: the file has 4 lines, so END is at most 5"),
    );
  });

  test("an insertion of nothing; an empty body deletes only where there is something to delete", async () => {
    expect(await refused(block("ts:1:2") + block("ts:2:2"))).toBe(again("block 2 (ts:2:2) inserts nothing"));
  });

  test("an address that is none", async () => {
    expect(await refused(block("ts:1:2", "x") + block("ts:3", "y"))).toBe(
      again("block 2 (ts:3) does not name its lines; write them as START:END"),
    );
  });

  test("the whole file twice", async () => {
    expect(await refused(block("ts:a.ts", "x") + block("ts:a.ts", "y"), ["a.ts complete overwrite"])).toBe(
      again("block 2 (ts:a.ts) writes the whole file a second time"),
    );
  });

  test("half a character", async () => {
    expect(await refused(block("ts:1:2", "half \ud83c"))).toBe(
      again("The new text for a.ts contains half a character (a lone surrogate). Send the whole character"),
    );
  });

  test("a file that was changed since it was armed is a conflict", async () => {
    using folder = new TestFolder({ "a.ts": "1\n" });
    const changes = () => writeFileSync(folder.path("a.ts"), "somebody else's\n");
    const { said } = await play(folder, [arm("a.ts"), block("ts:1:2", "x"), "I see."], {
      watch: ({ type }) => type === "call.draft.delta" && changes(),
    });
    expect(said).toEqual([again("a.ts was changed after the call of edit_mode; read it again first")]);
    expect(folder.read("a.ts")).toBe("somebody else's\n");
  });

  test("a file that disappeared, or appeared meanwhile, is a conflict", async () => {
    using folder = new TestFolder({ "a.ts": "1\n" });
    const { said } = await play(
      folder,
      [arm("a.ts", "b.ts"), block("ts:a.ts:1:2", "x") + block("ts:b.ts", "y"), "I see."],
      {
        watch: ({ type }) => {
          if (type !== "call.draft.delta") return;
          rmSync(folder.path("a.ts"), { force: true });
          folder.add("b.ts", "theirs\n");
        },
      },
    );
    expect(said).toEqual([
      `No block was applied.\na.ts: nothing applied: a.ts does not exist any more; read it again first.\nb.ts: nothing applied: b.ts was created after the call of edit_mode; read it again first.\n${ENDED} for a.ts and b.ts, and then send all blocks for them again.`,
    ]);
    expect(folder.read("b.ts")).toBe("theirs\n");
    expect(folder.names()).toEqual(["b.ts"]);
  });

  test("B32: a fault of one file does not affect another file, and the model learns about both", async () => {
    using folder = new TestFolder({ "a.ts": "1\n", "b.ts": "b\n" });
    const { said } = await play(folder, [
      arm("a.ts", "b.ts"),
      block("ts:a.ts:7:8", "x") + block("ts:b.ts:1:2", "B"),
      "I see.",
    ]);
    expect(said).toEqual([
      `Some blocks were applied.\na.ts: nothing applied: block 1 (ts:a.ts:7:8) reaches beyond the end: the file has 1 line, so END is at most 2.\nb.ts: 1 block applied; it has 1 line now, and had 1.\n${ENDED} for a.ts, and then send all blocks for it again.`,
    ]);
    expect([folder.read("a.ts"), folder.read("b.ts")]).toEqual(["1\n", "B\n"]);
  });
});

describe("B28, B29: no block is applied if a block's file is in doubt", () => {
  test("a block that is still open at the end", async () => {
    expect(await refused(`${block("ts:a.ts:1:2", "x")}\`\`\`ts:b.ts:1:2\ny\n`, ["a.ts", "b.ts"])).toBe(
      `No block was applied, and nothing was written to a.ts and b.ts: block 2 (ts:b.ts:1:2) is not closed.\n${ANEW}`,
    );
  });

  test("a block without a file, where two are armed", async () => {
    expect(await refused(block("ts:a.ts:1:2", "x") + block("ts:1:2", "y"), ["a.ts", "b.ts"])).toBe(
      `No block was applied, and nothing was written to a.ts and b.ts: block 2 (ts:1:2) does not name its file (a.ts, b.ts).\n${ANEW}`,
    );
  });

  test("a block for a file that was not armed, which may be a slip", async () => {
    expect(await refused(block("ts:1:2", "x") + block("ts:aa.ts:2:3", "y"))).toBe(
      `No block was applied, and nothing was written to a.ts: block 2 (ts:aa.ts:2:3) is for aa.ts, and edit_mode was not called for that file.\n${ANEW}`,
    );
  });

  test("a Markdown file whose own fences ended the block", async () => {
    const content = "# Title\n```js\nx\n```\nmore\n";
    expect(await refused(`\`\`\`md\n${content}\`\`\`\n`, ["new.md"])).toBe(
      `No block was applied, and nothing was written to new.md: block 1 (md) may have ended at a fence inside its text; write \`\`\`\` around it.\n${ANEW}`,
    );
  });
});

describe("B33: no block", () => {
  test("at all", async () => {
    expect(await refused("I have changed my mind.")).toBe(
      `Your message had no block for a.ts, so nothing was written.\n${ENDED}.`,
    );
  });

  test("but fences without an address", async () => {
    expect(await refused(block("ts", "x") + block("", "y"))).toBe(
      `Your message had no block for a.ts, so nothing was written. 2 fences were taken as an example, without an address.\n${ENDED}.`,
    );
  });

  test("but in the reasoning, which is never captured (B35)", async () => {
    expect(await refused([reasoning(block("ts:1:2", "x")), text("So be it.")])).toBe(
      `Your message had no block for a.ts, so nothing was written.\n${ENDED}.`,
    );
  });

  test("but calls", async () => {
    expect(await refused([call("read", { path: "a.ts" })])).toBe(
      `Your message had no block for a.ts, so nothing was written.\n${ENDED}.`,
    );
  });

  test("in the next message, when those of the message before were not captured, or were already", async () => {
    using folder = new TestFolder({ "a.ts": "1\n" });
    const { said } = await play(folder, [arm("a.ts"), "Wait.", block("ts:1:2", "x")]);
    expect(said).toHaveLength(1);
    expect(folder.read("a.ts")).toBe("1\n");
  });

  test("blocks in the message that arms the file come too early", async () => {
    using folder = new TestFolder({ "a.ts": "1\n" });
    const { said } = await play(folder, [[text(block("ts:1:2", "x")), ...arm("a.ts")], "Hm.", "I see."]);
    expect(said).toEqual([`Your message had no block for a.ts, so nothing was written.\n${ENDED}.`]);
    expect(folder.read("a.ts")).toBe("1\n");
  });
});

describe("B33, F21: a message that does not count", () => {
  const blocks = block("ts:1:2", "x") + block("ts:2:3", "y");

  test("cut off by the output limit", async () => {
    using folder = new TestFolder({ "a.ts": "1\n2\n" });
    const { said, results } = await play(folder, [
      arm("a.ts"),
      [text(blocks), call("shell", { command: "touch ran" }), end("length")],
      "I see.",
    ]);
    expect(said).toEqual([
      `Nothing was written to a.ts, because your message was cut off by the output limit.\n${ANEW}`,
    ]);
    expect(results[1]).toMatch(/^Not executed: your message was cut off/);
    expect([folder.read("a.ts"), folder.names()]).toEqual(["1\n2\n", ["a.ts"]]);
  });

  test("cut off by the provider's filter", async () => {
    using folder = new TestFolder({ "a.ts": "1\n2\n" });
    const { said } = await play(folder, [arm("a.ts"), [text(blocks), end("filtered")], "I see."]);
    expect(said).toEqual([
      `Nothing was written to a.ts, because your message was cut off by the provider's content filter.\n${ANEW}`,
    ]);
    expect(folder.read("a.ts")).toBe("1\n2\n");
  });

  test("broken off for good", async () => {
    using folder = new TestFolder({ "a.ts": "1\n2\n" });
    const { said } = await play(folder, [arm("a.ts"), [text(blocks), fail("invalid-request")]]);
    expect(said).toEqual([expect.stringMatching(/^Nothing was written to a\.ts, because .*scripted: invalid-request/)]);
    expect(folder.read("a.ts")).toBe("1\n2\n");
  });

  test("interrupted by a person", async () => {
    using folder = new TestFolder({ "a.ts": "1\n2\n" });
    const { said } = await play(folder, [arm("a.ts"), [text(blocks), stall()]], {
      watch: ({ type }, session) => {
        if (type === "call.draft.delta") void session.interrupt();
      },
    });
    expect(said).toEqual([expect.stringMatching(/^Nothing was written to a\.ts, because .*interrupt/)]);
    expect(folder.read("a.ts")).toBe("1\n2\n");
  });

  test("at a limit of the turn, whose last answer is nobody's edit", async () => {
    using folder = new TestFolder({ "a.ts": "1\n2\n" });
    const { said } = await play(folder, [arm("a.ts"), blocks], { limits: { steps: 1 } });
    expect(said).toEqual([expect.stringMatching(/^Nothing was written to a\.ts, because the turn reached .*1 step/)]);
    expect(folder.read("a.ts")).toBe("1\n2\n");
  });

  test("taken back and asked for anew: only the answer that stands counts", async () => {
    using folder = new TestFolder({ "a.ts": "1\n2\n" });
    const { said, items } = await play(folder, [
      arm("a.ts"),
      [text(`${block("ts:1:2", "wrong")}\`\`\`ts:2:3\nhal`), cut()],
      [text(block("ts:2:3", "right"))],
      "Done.",
    ]);
    expect(said).toEqual([
      `All blocks were applied.\na.ts: 1 block applied; it has 2 lines now, and had 2.\n${ENDED}.`,
    ]);
    expect(folder.read("a.ts")).toBe("1\nright\n");
    const drafts = items.flatMap((item) => (item.type === "call.draft.delta" ? [`${item.draft} ${item.text}`] : []));
    expect(drafts).toEqual(["0 ", "0 wrong\n", "1 ", "1 hal", "0 ", "0 right\n"]);
  });
});

test("B35: a tool that does not follow gets nothing", async () => {
  using folder = new TestFolder({ "a.ts": "1\n" });
  const got: unknown[] = [];
  const deaf = defineTool({
    name: "deaf",
    description: "Hears nothing.",
    input: { type: "object" },
    effects: "none",
    execute: (input: unknown) => got.push(input),
  });
  await play(folder, [[...arm("a.ts"), call("deaf")], block("ts:1:2", "x"), "Done."], { also: [deaf] });
  expect(got).toEqual([{}]);
});
