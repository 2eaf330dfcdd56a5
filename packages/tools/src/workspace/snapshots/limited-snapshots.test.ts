import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { call } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { openSandbox, type Sandbox } from "../../sandbox/sandbox.ts";
import type { CommandLimits, LostLimits } from "../commands/limited-commands.ts";
import { play } from "../edit-mode/play.fixture.ts";
import { openWorkspace } from "../files/paths.ts";
import { TestFolder } from "../test-folder.fixture.ts";
import { WorkspaceSnapshots } from "./snapshots.ts";
import { treeOf } from "./tree.fixture.ts";

const FILES = { ".git/HEAD": "ref: refs/heads/main\n", ".git/config": "", "a.txt": "old\n", "sub/.git/HEAD": "" };

/** Limits for all calls, or for those in `only`, until a loss. */
class Limits implements CommandLimits {
  readonly losses: LostLimits[] = [];
  readonly #only: readonly string[] | undefined;

  constructor(only?: readonly string[]) {
    this.#only = only;
  }

  isLimited({ call: id }: { readonly call: string }): boolean {
    return this.#only?.includes(id) ?? true;
  }

  refusal(): string | undefined {
    return this.losses[0]?.reason;
  }

  lost(_: string, loss: LostLimits): void {
    this.losses.push(loss);
  }
}

async function sandboxOf(folder: TestFolder): Promise<Sandbox | undefined> {
  const opening = await openSandbox({ root: folder.root, writable: [folder.outside] });
  return opening.available ? opening.sandbox : undefined;
}

async function rewindAll(folder: TestFolder, conversation: string) {
  const snapshots = new WorkspaceSnapshots(openWorkspace(folder.root), { folder: join(folder.outside, "snapshots") });
  const [first] = await snapshots.moments(conversation);
  const scope = { conversation, isOwn: () => true };
  return snapshots.restore(await snapshots.compare(first?.id ?? 0, scope), scope);
}

test("S37: exactly the calls with limits change only what a rewind restores, also in the background", async ({
  skip,
}) => {
  using folder = new TestFolder(FILES);
  await using sandbox = await sandboxOf(folder);
  if (!sandbox) return skip("no sandbox");
  const limits = new Limits(["limited", "background"]);
  const workspace = { sandbox, limits, snapshots: join(folder.outside, "snapshots") };
  const evil =
    "echo new > a.txt; echo evil > .git/refs; mkdir -p new/.git; echo evil > new/.git/config; truncate -s 1T large; chmod 1777 .";
  const late = "mkdir -p late/.git; echo evil > ../outside/evil; echo $?";
  const first = treeOf(folder.root, []);
  const { mode } = statSync(folder.root);
  const { session, results } = await play(
    folder,
    [
      [call("shell", { command: evil }, "limited")],
      [call("shell", { command: `sleep 1; ${late}`, background: true }, "background")],
      [call("processes", { process: "p1", wait: 5000 }, "wait")],
      "Done.",
    ],
    { workspace },
  );
  expect(results.join("\n")).toContain("Read-only file system");
  expect(folder.read("new/.git-put-aside/config")).toBe("evil\n");
  await expect.poll(() => folder.names("late")).toEqual([".git-put-aside"]);
  expect(folder.names("../outside")).not.toContain("evil");
  expect((await rewindAll(folder, session.id)).problems).toEqual([]);
  expect(treeOf(folder.root, [])).toEqual(first);
  expect(statSync(folder.root).mode).toBe(mode);
  await play(folder, [[call("shell", { command: "echo user > .git/refs" }, "allowed by the user")], "Done."], {
    workspace,
  });
  expect(folder.read(".git/refs")).toBe("user\n");
  expect(limits.losses).toEqual([]);
});

test("S37: a call with limits does not run without a snapshot or a sandbox, and the loss has a reason", async ({
  skip,
}) => {
  using folder = new TestFolder(FILES);
  await using sandbox = await sandboxOf(folder);
  if (!sandbox) return skip("no sandbox");
  const command = "echo new > a.txt";
  const run = async (limits: Limits, snapshots: string, confined: Sandbox | undefined) => {
    const workspace = { ...(confined && { sandbox: confined }), limits, snapshots };
    const { results } = await play(folder, [[call("shell", { command })], [call("shell", { command })], "Done."], {
      workspace,
    });
    return results;
  };
  const full = new Limits();
  const noFolder = folder.add("../outside/stores", "no folder\n");
  const failed = await run(full, noFolder, sandbox);
  expect(full.losses.map(({ type }) => type)).toEqual(["snapshots lost"]);
  for (const result of failed) expect(result).toMatch(/^Not executed: .*stores.* Make the call again/);

  const snapshots = join(folder.outside, "snapshots");
  expect((await run(new Limits(), snapshots, undefined))[0]).toContain("needs a sandbox");

  const watched: string[] = [];
  sandbox.watch((reason) => watched.push(reason));
  await sandbox.start();
  killSandboxes();
  await expect.poll(() => watched).toEqual(["The process of the sandbox has ended (SIGKILL)."]);
  await expect(sandbox.start()).rejects.toThrow("the sandbox has ended");
  expect(sandbox.isShared).toBeUndefined();
  const dead = new Limits();
  const refused = await run(dead, snapshots, sandbox);
  expect(dead.losses.map(({ type }) => type)).toEqual(["sandbox lost"]);
  for (const result of refused) expect(result).toMatch(/^Not executed: .*the sandbox has ended/);
  expect(folder.read("a.txt")).toBe("old\n");
});

/** Kills the sandbox processes of this process. */
function killSandboxes(): void {
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const parent = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1];
      const line = readFileSync(`/proc/${id}/cmdline`, "utf8");
      if (parent === String(process.pid) && line.includes("sandbox-process")) process.kill(Number(id), "SIGKILL");
    } catch {
      // The process has ended.
    }
  }
}
