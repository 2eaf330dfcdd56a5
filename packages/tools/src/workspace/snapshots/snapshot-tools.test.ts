import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emptyConversation, type Message, type Tool } from "@banyan/core";
import { call } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { play } from "../edit-mode/play.fixture.ts";
import { openWorkspace } from "../files/paths.ts";
import { TestFolder } from "../test-folder.fixture.ts";
import type { Moment } from "./snapshot-file.ts";
import { snapshotTools } from "./snapshot-tools.ts";
import { WorkspaceSnapshots } from "./snapshots.ts";
import { treeOf } from "./tree.fixture.ts";

/** Restores the files as they were before the first effect below a message. */
async function rewindTo(folder: TestFolder, conversation: string, path: readonly Message[], to: number) {
  const snapshots = new WorkspaceSnapshots(openWorkspace(folder.root), { folder: join(folder.outside, "snapshots") });
  const below = new Set(path.slice(to + 1).map(({ id }) => id));
  const first = (await snapshots.moments(conversation)).find(({ message }) => below.has(message));
  const scope = { conversation, isOwn: ({ message }: Moment) => below.has(message) };
  const plan = await snapshots.compare(first?.id ?? 0, scope);
  const result = await snapshots.restore(plan, scope);
  return { plan, result };
}

test("E7: edits, edit mode, commands and background commands of a turn are taken back to each of its messages", async () => {
  using folder = new TestFolder({ "a.txt": "one\ntwo\n", "b.txt": "old\n" });
  const workspace = { snapshots: join(folder.outside, "snapshots"), backups: join(folder.outside, "backups") };
  const states: Record<string, string>[] = [treeOf(folder.root)];
  const { session, path } = await play(
    folder,
    [
      [call("edit", { path: "a.txt", old_text: "one", new_text: "ONE" })],
      [call("edit_mode", { file_path: "b.txt", mode: "complete", overwrite: true })],
      "```txt:b.txt\nnew\n```\n",
      [call("shell", { command: "rm a.txt; mkdir -p made/empty; ln -s b.txt link; chmod 600 b.txt" })],
      [call("shell", { command: "sleep 0.1; echo late > late.txt", background: true })],
      [call("write", { path: "end.txt", content: "end\n" })],
      "Done.",
    ],
    {
      workspace,
      watch(item) {
        if (item.type === "message.completed") states.push(treeOf(folder.root));
      },
    },
  );
  const changed = treeOf(folder.root);
  expect(Object.keys(changed)).toEqual(["b.txt", "end.txt", "late.txt", "link", "made", "made/empty"]);
  const { plan, result } = await rewindTo(folder, session.id, path, 0);
  expect(result.problems).toEqual([]);
  expect(treeOf(folder.root)).toEqual(states[0]);
  expect(plan.files.map(({ path: name, by }) => `${name} ${by}`)).toEqual([
    "a.txt agent",
    "b.txt agent",
    "end.txt agent",
    "late.txt agent",
    "link agent",
    "made agent",
    "made/empty agent",
  ]);
});

test("E7: each message of a turn has its own state of the files", async () => {
  for (const to of [1, 2, 3, 4, 5]) {
    using folder = new TestFolder({ "a.txt": "0\n" });
    const workspace = { snapshots: join(folder.outside, "snapshots") };
    const states = new Map<string, string>();
    const { session, path } = await play(
      folder,
      [
        [call("shell", { command: "echo 1 > a.txt" })],
        [call("write", { path: "b.txt", content: "2\n" })],
        [call("edit_mode", { file_path: "c.txt", mode: "complete" })],
        "```txt:c.txt\n3\n```\n",
        [call("shell", { command: "rm *" })],
        "Done.",
      ],
      {
        workspace,
        watch(item, { state }) {
          if (item.type === "message.started" || item.type === "message.added")
            states.set(state.leaf ?? "", JSON.stringify(treeOf(folder.root)));
        },
      },
    );
    const message = path[to];
    const { result } = await rewindTo(folder, session.id, path, to);
    expect(result.problems).toEqual([]);
    const ends = [
      "a.txt 1",
      "a.txt 1, b.txt 2",
      "a.txt 1, b.txt 2",
      "a.txt 1, b.txt 2, c.txt 3",
      "a.txt 1, b.txt 2, c.txt 3",
    ];
    const now = folder.names().map((name) => `${name} ${folder.read(name).trim()}`);
    expect([message?.role, now.join(", ")]).toEqual([to === 5 ? "user" : "assistant", ends[to - 1]]);
  }
});

test("E9: a command that only reads makes no snapshot", async () => {
  using folder = new TestFolder({ "a.txt": "old\n" });
  const stores = join(folder.outside, "snapshots");
  const workspace = { snapshots: stores, onlyReads: (command: string) => command === "cat a.txt" };
  await play(folder, [[call("shell", { command: "cat a.txt" })], "Done."], { workspace });
  expect(existsSync(stores)).toBe(false);
  await play(folder, [[call("shell", { command: "cat a.txt b.txt" })], "Done."], { workspace });
  expect(existsSync(stores)).toBe(true);
});

test("E7: a call without effects makes no snapshot, and a command without a snapshot says so and runs", async () => {
  using folder = new TestFolder({ "a.txt": "old\n" });
  const file = folder.add("../outside/stores", "no folder\n");
  const progress: string[] = [];
  const { results } = await play(
    folder,
    [[call("read", { path: "a.txt" })], [call("shell", { command: "echo new > a.txt" })], "Done."],
    {
      workspace: { snapshots: file },
      watch(item) {
        if (item.type === "call.output.delta") progress.push(item.text);
      },
    },
  );
  expect(results).toHaveLength(2);
  expect(folder.read("a.txt")).toBe("new\n");
  expect(progress.join("")).toContain("[No snapshot, so /rewind cannot restore the files of this call: ");
  writeFileSync(folder.path("a.txt"), "");
});

test("E9: the question about a command names the files that no snapshot keeps; about a write, only the written file", async () => {
  using folder = new TestFolder({ "a.txt": "old\n", "b/data.bin": "x".repeat(3000), "large.bin": "x".repeat(2000) });
  const snapshots = new WorkspaceSnapshots(openWorkspace(folder.root), {
    folder: join(folder.outside, "snapshots"),
    bounds: { file: 1000 },
  });
  const about = (input: unknown) => {
    const { path, command } = input as { readonly path?: string; readonly command?: string };
    return {
      ...(path !== undefined && { paths: [{ path, access: "write" as const }] }),
      ...(command !== undefined && { command }),
    };
  };
  const tool = { description: "", input: { type: "object" }, effects: "external", about, execute: () => "" } as const;
  const [run, write] = snapshotTools(
    snapshots,
    [
      { ...tool, name: "run", preview: () => ({ notes: ["It runs."] }) },
      { ...tool, name: "write", files: "write" },
    ],
    (command) => command === "ls",
  );
  const context = {
    conversation: emptyConversation(),
    path: [],
    context: undefined,
    signal: new AbortController().signal,
  };
  const notes = async (which: Tool | undefined, input: unknown) => (await which?.preview?.(input, context))?.notes;
  const told = "/rewind cannot restore these files, which are too large for a snapshot:";
  expect(await notes(run, { command: "make" })).toEqual(["It runs.", `${told} b/data.bin (1 MiB), large.bin (1 MiB).`]);
  expect(await notes(run, { command: "ls" })).toEqual(["It runs."]);
  expect(await notes(write, { path: "large.bin" })).toEqual([`${told} large.bin (1 MiB).`]);
  expect(await notes(write, { path: "a.txt" })).toBeUndefined();
  for (let count = 0; count < 4; count++) folder.add(`more/${count}`, "x".repeat(2000));
  expect((await notes(run, { command: "make" }))?.[1]).toMatch(/, more\/\d \(1 MiB\), 3 more\.$/);
  expect(folder.read("a.txt")).toBe("old\n");
});
