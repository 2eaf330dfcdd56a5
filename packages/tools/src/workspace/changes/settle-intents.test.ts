import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool, type Tool } from "@banyan/core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { contentDigest, keepBackup } from "../files/backups.ts";
import { openWorkspace } from "../files/paths.ts";
import { workspaceTools } from "../index.ts";
import { call, TestFolder } from "../test-folder.fixture.ts";
import { type ChangeIntent, takeIntent, writeIntent } from "./intent.ts";
import { settledTools, settleIntents } from "./settle-intents.ts";

const PUT_BACK = "A process ended while it wrote a.txt, b.txt, and c.txt for one message, so these changes were undone";

/** A folder in which `a.txt` and the new file `c.txt` were replaced, and `b.txt` was not. */
class Half extends TestFolder {
  readonly backups = join(this.outside, "backups");
  readonly workspace = openWorkspace(this.root);

  constructor() {
    super({ "a.txt": "new", "b.txt": "old", ".b.tmp": "new", "c.txt": "new" });
  }

  /** Writes the intent like a living process that is changing the files. */
  async intend(): Promise<ChangeIntent> {
    const [before, after] = [await keepBackup(this.backups, [Buffer.from("old")]), contentDigest(Buffer.from("new"))];
    return writeIntent(this.workspace, this.backups, [
      { path: "a.txt", before, after, temporary: ".a.tmp" },
      { path: "b.txt", before, after, temporary: ".b.tmp" },
      { path: "c.txt", before: null, after, temporary: ".c.tmp" },
    ]);
  }

  /** Writes the intent like a process that has died. */
  async leave(): Promise<void> {
    await (await this.intend())[Symbol.asyncDispose]();
  }

  settle(): Promise<string[]> {
    return settleIntents(this.workspace, this.backups);
  }

  get intents(): string[] {
    return readdirSync(join(this.backups, "intents")).map((name) => join(this.backups, "intents", name));
  }
}

test("unfinished changes are undone, and their note disappears", async () => {
  using folder = new Half();
  await folder.leave();
  expect(await folder.settle()).toEqual([`${PUT_BACK}.`]);
  expect([folder.names(), folder.read("a.txt"), folder.read("b.txt")]).toEqual([["a.txt", "b.txt"], "old", "old"]);
  expect(folder.intents).toEqual([]);
  expect(await folder.settle()).toEqual([]);
});

test("unfinished changes of a living process stay", async () => {
  using folder = new Half();
  const intent = await folder.intend();
  expect([await folder.settle(), folder.read("a.txt")]).toEqual([[], "new"]);
  await intent[Symbol.asyncDispose]();
  expect([await folder.settle(), folder.read("a.txt")]).toEqual([[`${PUT_BACK}.`], "old"]);
});

test("finished changes stay", async () => {
  using folder = new Half();
  {
    await using intent = await folder.intend();
    await intent.end();
  }
  expect([await folder.settle(), folder.read("a.txt")]).toEqual([[], "new"]);
});

test("of two processes that find the changes at once, one undoes them", async () => {
  using folder = new Half();
  await folder.leave();
  const told = await Promise.all([folder.settle(), folder.settle(), folder.settle()]);
  expect(told.flat()).toEqual([`${PUT_BACK}.`]);
  expect(folder.names()).toEqual(["a.txt", "b.txt"]);
});

test("changes that another process undid before the lock cannot be undone again", async () => {
  using folder = new Half();
  await folder.leave();
  const [file = ""] = folder.intents;
  await folder.settle();
  expect(takeIntent(folder.backups, file)).toBeUndefined();
});

test("S8: the changes of another workspace stay", async () => {
  using folder = new Half();
  using other = new TestFolder({ "a.txt": "new", "b.txt": "new", "c.txt": "new" });
  await folder.leave();
  expect(await settleIntents(openWorkspace(other.root), folder.backups)).toEqual([]);
  expect(other.read("a.txt")).toBe("new");
  expect(await folder.settle()).toHaveLength(1);
});

describe("a file does not change, with a report, when", () => {
  test("a user has changed the file since", async () => {
    using folder = new Half();
    await folder.leave();
    writeFileSync(folder.path("a.txt"), "theirs");
    writeFileSync(folder.path("b.txt"), "theirs, too");
    expect(await folder.settle()).toEqual([
      `${PUT_BACK}, as far as possible. a.txt was changed again afterwards, so the change was not undone. Check the file, and edit it by hand. ` +
        "b.txt was changed again afterwards, so the change was not undone. Check the file, and edit it by hand.",
    ]);
    expect([folder.read("a.txt"), folder.read("b.txt"), folder.names()]).toEqual([
      "theirs",
      "theirs, too",
      ["a.txt", "b.txt"],
    ]);
    expect(folder.intents).toEqual([]);
  });

  test("a user has removed the file since", async () => {
    using folder = new Half();
    await folder.leave();
    rmSync(folder.path("a.txt"));
    expect(await folder.settle()).toEqual([
      expect.stringMatching(/as far as possible\. a\.txt was changed again afterwards/),
    ]);
    expect([folder.names(), folder.intents]).toEqual([["b.txt"], []]);
  });

  test("S8: a link with the same content replaced the file", async () => {
    using folder = new Half();
    await folder.leave();
    renameSync(folder.path("a.txt"), folder.path("elsewhere.txt"));
    symlinkSync("elsewhere.txt", folder.path("a.txt"));
    expect(await folder.settle()).toEqual([
      expect.stringContaining("a.txt leads to elsewhere.txt now, so the file was not changed."),
    ]);
    expect([folder.read("elsewhere.txt"), folder.intents]).toEqual(["new", []]);
  });

  test("a folder replaced the file", async () => {
    using folder = new Half();
    await folder.leave();
    rmSync(folder.path("a.txt"));
    mkdirSync(folder.path("a.txt"));
    expect(await folder.settle()).toEqual([expect.stringContaining("a.txt is a folder.")]);
    expect(folder.intents).toEqual([]);
  });

  test("the previous content is not kept any more", async () => {
    using folder = new Half();
    await folder.leave();
    rmSync(join(folder.backups, contentDigest(Buffer.from("old"))));
    expect(await folder.settle()).toEqual([
      expect.stringMatching(/as far as possible\. The previous content .* is not kept any more/),
    ]);
    expect([folder.read("a.txt"), folder.names(), folder.intents]).toEqual(["new", ["a.txt", "b.txt"], []]);
  });
});

test("a change that the system refuses to undo now is undone later", async () => {
  using folder = new Half();
  await folder.leave();
  const elsewhere = `${folder.root}.away`;
  renameSync(folder.root, elsewhere);
  expect(await folder.settle()).toEqual([expect.stringContaining("as far as possible. The workspace")]);
  renameSync(elsewhere, folder.root);
  expect([await folder.settle(), folder.read("a.txt")]).toEqual([[`${PUT_BACK}.`], "old"]);
});

test("a note that cannot be read is reported, and stays", async () => {
  using folder = new Half();
  await folder.leave();
  const [file = ""] = folder.intents;
  writeFileSync(file, "no database, but long enough to be taken for one at the first look".repeat(20));
  expect(await folder.settle()).toEqual([
    `The unfinished file changes listed in ${file} could not be undone: file is not a database.`,
  ]);
  expect([folder.read("a.txt"), folder.intents]).toEqual(["new", [file]]);
});

describe("tools", () => {
  const look = (folder: Half): Tool =>
    defineTool({
      name: "look",
      description: "",
      input: z.object({ fails: z.boolean().optional() }),
      effects: "none",
      execute({ fails }) {
        if (fails) throw new Error("It fails.");
        return folder.read("a.txt");
      },
    });

  test("run after unfinished changes are undone, and the first result reports this", async () => {
    using folder = new Half();
    const [tool] = settledTools(folder.workspace, folder.backups, [look(folder)]) as [Tool];
    expect(await call(tool, {})).toBe("new");
    await folder.leave();
    expect(await Promise.all([call(tool, {}), call(tool, {})])).toEqual([`${PUT_BACK}.\n\nold`, "old"]);
    expect(await call(tool, {})).toBe("old");
  });

  test("of a workspace undo unfinished changes if previous contents are kept", async () => {
    using folder = new Half();
    const [read] = workspaceTools({ root: folder.root, backups: folder.backups }) as [Tool];
    await folder.leave();
    expect(await call(read, { path: "a.txt" })).toMatch(/so these changes were undone\.\n\n.*old/);
  });

  test("report a failure to undo once, with the next successful result", async () => {
    using folder = new Half();
    const [tool] = settledTools(folder.workspace, folder.backups, [look(folder)]) as [Tool];
    await folder.leave();
    writeFileSync(
      folder.intents[0] ?? "",
      "no database, but long enough to be taken for one at the first look".repeat(20),
    );
    await expect(call(tool, { fails: true })).rejects.toThrow("It fails.");
    expect(await call(tool, {})).toMatch(/could not be undone: .*\n\nnew$/);
    expect(await call(tool, {})).toBe("new");
  });
});
