import { createHash } from "node:crypto";
import { isDelta } from "@banyan/core";
import { call, reasoning, text } from "@banyan/core/testing";
import { describe, expect, test } from "vitest";
import { TestFolder } from "../test-folder.fixture.ts";
import { arm, block, play } from "./play.fixture.ts";

const sha256 = (content: string) => createHash("sha256").update(content).digest("hex");

const ENDED = "Edit mode has ended: before you write more blocks, call edit_mode again.";

describe("B27: the text for the model when a file is armed", () => {
  test("lines", async () => {
    using folder = new TestFolder({ "src/a.ts": "one\ntwo\n" });
    const { results } = await play(folder, [arm("src/a.ts"), "No."]);
    expect(
      results[0],
    ).toBe(`src/a.ts is open for editing and has 2 lines. Nothing is written yet: write each change in your next message, as a fenced block that begins with

\`\`\`ts:START:END

- It replaces the lines from START up to END, without END. Lines count from 1, as read shows them.
- With START = END it inserts before START; 3:3 appends. A block without lines deletes.
- All numbers are those of the file as it is now. Blocks must not overlap.
- Write whole lines, with their indentation.
- If more files are open, name the file: \`\`\`ts:src/a.ts:START:END
Once your message is complete, all blocks for the file are applied, or none; you then get a report. A block that is only an example must have no colon after its language.`);
  });

  test("a new file, which is complete whatever the mode", async () => {
    for (const mode of ["", " lines", " symbol", " complete"]) {
      using folder = new TestFolder();
      const { results } = await play(folder, [arm(`my-notes.md${mode}`), "No."]);
      expect(
        results[0],
      ).toBe(`my-notes.md is new. Nothing is written yet: write the whole file in your next message, as one fenced block that begins with

\`\`\`md

- If more files are open, or the message has other fences, name the file: \`\`\`md:my-notes.md
- Around text that contains fences, write a longer fence: \`\`\`\`
Once your message is complete, all blocks for the file are applied, or none; you then get a report. A block that is only an example must have no colon after its language.`);
    }
  });

  test("a whole file that is there", async () => {
    using folder = new TestFolder({ "a.txt": "one\ntwo\n", Makefile: "" });
    const { results } = await play(folder, [
      arm("a.txt complete", "a.txt complete overwrite", "Makefile complete"),
      "No.",
    ]);
    expect(results).toEqual([
      "The tool failed: a.txt exists and has 2 lines. To change parts of it, use mode lines; to replace all of it, add overwrite: true.",
      expect.stringMatching(/^a\.txt will be replaced\. Nothing is written yet: write the whole file .*\n\n```txt\n\n/),
      expect.stringMatching(/^Makefile will be replaced\..*\n\n```text\n\n/),
    ]);
  });

  test("the length of a fence around the file's own fences", async () => {
    using folder = new TestFolder({ "a.ts": "/**\n```\n*/\n", "b.md": "~~~~~\n~~~~~\n", "c.ts": "x\n" });
    const { results } = await play(folder, [arm("a.ts", "b.md", "c.ts"), "No."]);
    expect(results[0]).toContain("\n- Around text that contains fences, write a longer fence: ````\n");
    expect(results[1]).toContain("\n- Around text that contains fences, write a longer fence: ``````\n");
    expect(results[2]).not.toContain("longer fence");
  });
});

describe("B32: the model gets the outcome of the blocks, and the run continues", () => {
  test("all blocks of a file", async () => {
    using folder = new TestFolder({ "src/a.ts": "one\ntwo\nthree\n" });
    const { said, asked } = await play(folder, [
      arm("src/a.ts"),
      `I change it.\n${block("ts:1:2", "ONE")}${block("ts:4:4", "four", "five")}${block("ts:2:3")}`,
      "Done.",
    ]);
    expect(said).toEqual([
      `All blocks were applied.\nsrc/a.ts: 3 blocks applied; it has 4 lines now, and had 3.\n${ENDED}`,
    ]);
    expect(folder.read("src/a.ts")).toBe("ONE\nthree\nfour\nfive\n");
    expect(asked).toBe(3);
  });

  test("a new file, and one that is replaced", async () => {
    using folder = new TestFolder({ "b.txt": "old\n" });
    const { said } = await play(folder, [
      arm("src/deep/a.ts", "b.txt complete overwrite"),
      block("ts:src/deep/a.ts", "one") + block("txt:b.txt", "new", "file"),
      "Done.",
    ]);
    expect(said).toEqual([
      `All blocks were applied.\nsrc/deep/a.ts: created, with 1 line.\nb.txt: 1 block applied; it has 2 lines now, and had 1.\n${ENDED}`,
    ]);
    expect([folder.read("src/deep/a.ts"), folder.read("b.txt")]).toEqual(["one\n", "new\nfile\n"]);
  });

  test("B29: two files in one message; one that gets no block is left as it is", async () => {
    using folder = new TestFolder({ "a.ts": "one\n", "b.ts": "two\n", "c.ts": "three\n" });
    const { said } = await play(folder, [
      [...arm("a.ts"), ...arm("b.ts", "c.ts")],
      block("ts:b.ts:1:2", "TWO") + block("ts:1:2 path=a.ts", "ONE"),
      "Done.",
    ]);
    expect(said).toEqual([
      `All blocks were applied.\na.ts: 1 block applied; it has 1 line now, and had 1.\nb.ts: 1 block applied; it has 1 line now, and had 1.\nc.ts: unchanged, because no block names it.\n${ENDED}`,
    ]);
    expect(["a.ts", "b.ts", "c.ts"].map((path) => folder.read(path))).toEqual(["ONE\n", "TWO\n", "three\n"]);
  });

  test("blocks and a call that reads the file in one message: the call sees the change, and one model call follows", async () => {
    using folder = new TestFolder({ "a.ts": "one\n" });
    const { said, results, asked, items } = await play(folder, [
      arm("a.ts"),
      [text(block("ts:1:2", "ONE")), call("shell", { command: "cat a.ts" }), call("read", { path: "a.ts" })],
      "Done.",
    ]);
    expect(results.slice(1)).toEqual(["ONE\n", "1\tONE\n"]);
    expect(said).toHaveLength(1);
    expect(asked).toBe(3);
    const order = items.flatMap(({ type }) => (type === "file.changed" || type === "call.completed" ? [type] : []));
    expect(order).toEqual(["call.completed", "file.changed", "call.completed", "call.completed"]);
  });

  test("blocks that change nothing", async () => {
    using folder = new TestFolder({ "a.ts": "one\n" });
    const { said, session } = await play(folder, [arm("a.ts"), block("ts:1:2", "one"), "Done."]);
    expect(said).toEqual([
      `All blocks were applied.\na.ts: unchanged, because the file already has this content.\n${ENDED}`,
    ]);
    expect(
      [...session.state.messages.values()].flatMap((m) => (m.role === "assistant" ? m.calls : []))[0]?.changes,
    ).toBeUndefined();
  });

  test("arming the same file again takes the place of the first", async () => {
    using folder = new TestFolder({ "a.ts": "one\n" });
    const { said } = await play(folder, [arm("a.ts", "./a.ts complete overwrite"), block("ts", "ONE", "TWO"), "Done."]);
    expect(said).toEqual([`All blocks were applied.\na.ts: 1 block applied; it has 2 lines now, and had 1.\n${ENDED}`]);
    expect(folder.read("a.ts")).toBe("ONE\nTWO\n");
  });

  test("a path may be written absolutely, and as it was given", async () => {
    using folder = new TestFolder({ "src/a.ts": "one\n", "b.ts": "two\n" });
    await play(folder, [
      arm("src/../src/a.ts", "b.ts"),
      block(`ts:${folder.path("src/a.ts")}:1:2`, "ONE") + block("ts:./b.ts:1:2", "TWO"),
      "Done.",
    ]);
    expect([folder.read("src/a.ts"), folder.read("b.ts")]).toEqual(["ONE\n", "TWO\n"]);
  });

  test("the same file is edited twice in one turn, each time as it then is", async () => {
    using folder = new TestFolder({ "a.ts": "one\n" });
    const { said, items } = await play(folder, [
      arm("a.ts"),
      [text(block("ts:1:1", "zero")), ...arm("a.ts")],
      block("ts:3:3", "two"),
      "Done.",
    ]);
    expect(said.map((text) => text.split("\n")[1])).toEqual([
      "a.ts: 1 block applied; it has 2 lines now, and had 1.",
      "a.ts: 1 block applied; it has 3 lines now, and had 2.",
    ]);
    expect(folder.read("a.ts")).toBe("zero\none\ntwo\n");
    const drafts = items.flatMap((item) =>
      item.type === "call.draft.delta" ? [[item.call, item.draft, item.text]] : [],
    );
    expect(drafts).toEqual([
      ["call_1", 0, ""],
      ["call_1", 0, "zero\n"],
      ["call_2", 0, ""],
      ["call_2", 0, "two\n"],
    ]);
  });

  test("B29: files that are armed beside blocks wait for the next message together", async () => {
    using folder = new TestFolder({ "a.ts": "one\n", "b.ts": "two\n" });
    const { said } = await play(folder, [
      arm("a.ts"),
      [text(block("ts:1:2", "ONE")), ...arm("a.ts", "b.ts")],
      block("ts:1:2", "TWO"),
      "I see.",
    ]);
    expect(said[1]).toMatch(
      /^No block was applied, and nothing was written to a\.ts and b\.ts: block 1 \(ts:1:2\) does not/,
    );
    expect([folder.read("a.ts"), folder.read("b.ts")]).toEqual(["ONE\n", "two\n"]);
  });

  test("an answer that its provider set down goes on in the next one", async () => {
    using folder = new TestFolder({ "a.ts": "one\ntwo\n" });
    const { said } = await play(folder, [
      arm("a.ts"),
      [text("```ts:1:2\nO"), { type: "end", reason: "paused" }],
      `NE\n\`\`\`\n${block("ts:2:3", "TWO")}`,
      "Done.",
    ]);
    expect(said).toEqual([
      `All blocks were applied.\na.ts: 2 blocks applied; it has 2 lines now, and had 2.\n${ENDED}`,
    ]);
    expect(folder.read("a.ts")).toBe("ONE\nTWO\n");
  });
});

describe("B30: while it streams, each block is seen as a pending change", () => {
  test("with its path, its range and its lines so far, at the call that armed the file", async () => {
    using folder = new TestFolder({ "a.ts": "one\ntwo\n", "b.md": "# b\n" });
    const { items, session } = await play(folder, [
      [...arm("a.ts"), ...arm("b.md complete overwrite")],
      [text("Now:\n```ts:a.ts:2", ":3\nT", "WO\n", "``", "`\n```ts\nexample\n```\n````md:b.md\n```\n"), text("````")],
      "Done.",
    ]);
    const drafts = items.flatMap((item) =>
      isDelta(item) && item.type === "call.draft.delta"
        ? [[item.call, item.draft, item.path, item.start, item.end, item.text]]
        : [],
    );
    expect(drafts).toEqual([
      ["call_1", 0, "a.ts", 2, 3, ""],
      ["call_1", 0, "a.ts", 2, 3, "T"],
      ["call_1", 0, "a.ts", 2, 3, "WO\n"],
      ["call_2", 0, "b.md", undefined, undefined, ""],
      ["call_2", 0, "b.md", undefined, undefined, "```\n"],
    ]);
    const changes = [...session.state.messages.values()].flatMap((m) => (m.role === "assistant" ? m.calls : []));
    expect(changes.map(({ drafts: left = [] }) => left)).toEqual([[], []]);
  });

  test("B35: never of the reasoning", async () => {
    using folder = new TestFolder({ "a.ts": "one\n" });
    const { items } = await play(folder, [arm("a.ts"), [reasoning(block("ts:1:2", "x"))], "Done."]);
    expect(items.some(({ type }) => type === "reasoning.delta")).toBe(true);
    expect(items.filter(({ type }) => type === "call.draft.delta")).toEqual([]);
  });

  test("also a whole file without address", async () => {
    using folder = new TestFolder();
    const { items } = await play(folder, [arm("a.md"), block("md", "# a"), "Done."]);
    const drafts = items.flatMap((item) => (item.type === "call.draft.delta" ? [item.text] : []));
    expect(drafts).toEqual(["", "# a\n"]);
  });
});

test("B32: the log has the change, with digests and a diff", async () => {
  using folder = new TestFolder({ "a.ts": "one\ntwo\n" });
  const { session } = await play(folder, [
    arm("a.ts", "new.ts"),
    block("ts:a.ts:2:3", "TWO", "three") + block("ts:new.ts", "x"),
    "Done.",
  ]);
  const calls = [...session.state.messages.values()].flatMap((m) => (m.role === "assistant" ? m.calls : []));
  expect(calls.map(({ changes }) => changes)).toEqual([
    [
      {
        path: "a.ts",
        kind: "changed",
        before: sha256("one\ntwo\n"),
        after: sha256("one\nTWO\nthree\n"),
        added: 2,
        removed: 1,
        diff: "--- a.ts\n+++ a.ts\n@@ -1,2 +1,3 @@\n one\n-two\n+TWO\n+three\n",
      },
    ],
    [
      {
        path: "new.ts",
        kind: "created",
        before: null,
        after: sha256("x\n"),
        added: 1,
        removed: 0,
        diff: "--- new.ts\n+++ new.ts\n@@ -0,0 +1,1 @@\n+x\n",
      },
    ],
  ]);
});
