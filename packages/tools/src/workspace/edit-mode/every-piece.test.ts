import { type Beat, cut, end, text } from "@banyan/core/testing";
import { expect, test, vi } from "vitest";
import { TestFolder } from "../test-folder.fixture.ts";
import { arm, block, play } from "./play.fixture.ts";

// Each test runs some hundred turns with real files.
vi.setConfig({ testTimeout: 120_000 });

const A = "1\n2\n3\n4\n";
const B = "b\n";
const MESSAGE = `So:\r\n${block("ts:a.ts:2:3", "zw\u00f6lf \u{1f333}")}and\n~~~~ts:b.ts:1:1\n\`\`\`\n~~~~\n${block("ts:a.ts:4:5").trimEnd()}`;
const AFTER = { a: "1\nzw\u00f6lf \u{1f333}\n3\n", b: "```\nb\n" };

/** Returns the content of both files after this message of the model. */
async function said(...beats: readonly Beat[]) {
  using folder = new TestFolder({ "a.ts": A, "b.ts": B });
  const script = [arm("a.ts", "b.ts"), beats, "Done."];
  const { said: outcomes } = await play(folder, script, { retry: { attempts: 1 } });
  expect(outcomes).toHaveLength(1);
  const read = (path: string) => Buffer.from(folder.read(path), "latin1").toString();
  return { a: read("a.ts"), b: read("b.ts"), names: folder.names(), outcome: outcomes.join() };
}

test("F13: a message with three blocks for two files does the same wherever it is split", async () => {
  for (let at = 0; at <= MESSAGE.length; at += 1)
    expect(await said(text(MESSAGE.slice(0, at), MESSAGE.slice(at)))).toMatchObject(AFTER);
  expect(await said(text(...MESSAGE.split("")))).toMatchObject(AFTER);
});

test.each([
  ["breaks off", cut()],
  ["is cut off by the output limit", end("length")],
] as const)("F21: when it %s, wherever that is, nothing is written and no follower is left", async (_, how) => {
  for (let at = 0; at <= MESSAGE.length; at += 1) {
    const { outcome, ...files } = await said(text(...MESSAGE.slice(0, at).split("")), how);
    expect(files).toEqual({ a: A, b: B, names: ["a.ts", "b.ts"] });
    expect(outcome).toMatch(
      /^Nothing was written to a\.ts and b\.ts, because [^\n]+\.\nEdit mode has ended: [^\n]+ and then send all blocks again\.$/,
    );
  }
});

test("F21: when it ends within a block, wherever that is, nothing is written", async () => {
  const doubts = new Set<string>();
  for (let at = 0; at <= MESSAGE.length; at += 1) {
    const { outcome, a, b } = await said(text(MESSAGE.slice(0, at)));
    if (!outcome.includes("is not closed")) continue;
    doubts.add(/block \d/.exec(outcome)?.[0] ?? "");
    expect({ a, b }).toEqual({ a: A, b: B });
  }
  expect([...doubts]).toEqual(["block 1", "block 2", "block 3"]);
});
