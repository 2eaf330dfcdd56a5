import { randomUUID } from "node:crypto";
import { call } from "@banyan/core/testing";
import { expect, test, vi } from "vitest";
import { living, OwnTime } from "../workspace/commands/processes.fixture.ts";
import { play } from "../workspace/edit-mode/play.fixture.ts";
import { call as execute, TestFolder } from "../workspace/test-folder.fixture.ts";
import { oakServers } from "./oak.fixture.ts";
import type { OakOptions } from "./oak-server.fixture.ts";

const edit = (at: number) => ({ path: "a.oak", old_text: `line ${at}\n`, new_text: `bad ${at}\n` });
const FILE = [...Array(6).keys()].map((at) => `line ${at}\n`).join("");

const HOSTILE: readonly NonNullable<OakOptions["hostile"]>[] = [
  "mute",
  "silent",
  "deaf",
  "floods",
  "endless",
  "malformed",
  "huge",
  "crashes",
  "exits",
  "ids",
  "lies",
  "stubborn",
];

/** Plays a turn with six edits. Resolves with the milliseconds that the edits took. */
async function playEdits(options: OakOptions, patience?: number): Promise<number> {
  using folder = new TestFolder({ "a.oak": FILE });
  const mark = randomUUID();
  const servers = oakServers(folder, { ...options, mark }, patience === undefined ? {} : { patience });
  const script = [...[...Array(6).keys()].map((at) => [call("edit", edit(at))]), ...Array(9).fill("Done.")];
  using time = new OwnTime();
  let waited = 0;
  const tools = servers.tools.map((tool) => ({
    ...tool,
    execute: async (...all: Parameters<typeof tool.execute>) => {
      const began = time.milliseconds;
      const output = await tool.execute(...all);
      waited += time.milliseconds - began;
      return output;
    },
  }));
  const { path, results } = await play(folder, script, { tools });
  expect(path.at(-1)).toMatchObject({ role: "assistant", finish: "stop" });
  expect(results).toHaveLength(6);
  expect(folder.read("a.oak")).toBe(FILE.replaceAll("line", "bad"));
  expect(results.join().length).toBeLessThan(20_000);
  await servers[Symbol.asyncDispose]();
  await vi.waitFor(() => expect(living(mark)).toEqual([]), 10_000);
  return waited;
}

test.each([...HOSTILE.map((hostile) => [hostile, false] as const), ["silent", true], ["refreshes", true]] as const)(
  "E1: a server that is %s (answers requests: %s) delays no turn for longer than its patience, and ends none",
  async (hostile, pulls) => {
    expect(await playEdits({ hostile, pulls }, 300)).toBeLessThan(3_000);
  },
  30_000,
);

test("E1: the edits of a turn wait for 2 s together", async () => {
  const waited = await playEdits({ hostile: "silent" });
  expect(waited).toBeGreaterThan(1_000);
  expect(waited).toBeLessThan(5_000);
});

test("E2: a server that crashes starts at most four times", async () => {
  using folder = new TestFolder({ "a.oak": FILE });
  await using servers = oakServers(folder, { hostile: "exits", starts: folder.path("starts.txt") });
  for (let at = 0; at < 6; at += 1) await execute(servers.tool("edit"), edit(at), { call: `call-${at}` });
  await vi.waitFor(() => expect(folder.read("starts.txt")).toBe("start\n".repeat(4)), 20_000);
  await execute(servers.tool("write"), { path: "b.oak", content: "bad\n" }, { call: "call-9" });
  expect(folder.read("starts.txt")).toBe("start\n".repeat(4));
}, 40_000);
