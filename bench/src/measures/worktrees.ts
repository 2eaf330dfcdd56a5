import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Session } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { openHost } from "@banyan/host";
import type { Measure } from "../measure.ts";

const FILES = 20_000;

/** The number of branches that start at once. */
const BRANCHES = { one: 1, three: 3, ten: 10 } as const;

export const worktrees: Measure = {
  name: "worktrees",
  what: "branches with files of their own in a repository of 20,000 files, of which some are not committed, beside `git worktree add` alone: to make them all, to see what one of them holds, and a turn of ten changed files on each of them at once (C7, C8)",
  subjects: ["git alone", ...Object.keys(BRANCHES)],
  bounds: ["git alone"],
  figures: [
    { name: "to make", unit: "ms" },
    { name: "to look at one", unit: "ms" },
    { name: "a turn on each", unit: "ms" },
  ],
  rounds: 3,
  async run(subject) {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "banyan-bench-")));
    const workspace = join(root, "workspace");
    try {
      fill(workspace);
      if (subject === "git alone")
        return { "to make": await timed(() => git(workspace, "worktree", "add", "-q", join(root, "alone"))) };
      return await branches(root, workspace, BRANCHES[subject as keyof typeof BRANCHES]);
    } finally {
      rmSync(root, { recursive: true });
    }
  },
};

async function branches(root: string, workspace: string, count: number) {
  const env = { PATH: process.env.PATH, HOME: root, BANYAN_HOME: join(root, "own"), BANYAN_NO_DISCOVERY: "1" };
  const flags = { model: "demo/offline", approval: "edits" } as const;
  const host = await openHost({ cwd: workspace, home: root, env, flags, canAsk: false });
  try {
    await using session = await Session.open(host.store, undefined, { create: true });
    const names = Array.from({ length: count }, (_, index) => `branch-${index}`);
    let places: Awaited<ReturnType<typeof host.worktrees.open>> = [];
    const made = await timed(async () => {
      places = await host.worktrees.open(session, null, names);
    });
    const looked = await timed(() => host.worktrees.changes("branch-0", session.id));
    const { tools = [], permission } = host.agent.options;
    const turned = await timed(() =>
      Promise.all(
        places.map(({ at }) => {
          const calls = Array.from({ length: 10 }, (_, index) =>
            call("write", { path: `src/0/${index}.ts`, content: `export const written = ${index};\n` }),
          );
          const agent = new Agent({ model: scriptedModel([calls, "Done."]), tools, permission });
          return agent.send("Go on.", { session, ...(at !== null && { at }) });
        }),
      ),
    );
    return { "to make": made, "to look at one": looked, "a turn on each": turned };
  } finally {
    await host.close();
  }
}

async function timed(work: () => unknown): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function fill(workspace: string): void {
  for (let folder = 0; folder < FILES / 100; folder++) {
    mkdirSync(join(workspace, "src", String(folder)), { recursive: true });
    for (let file = 0; file < 100; file++)
      writeFileSync(join(workspace, "src", String(folder), `${file}.ts`), `export const number = ${file};\n`);
  }
  git(workspace, "init", "-q");
  git(workspace, "add", ".");
  git(workspace, "-c", "user.name=Bench", "-c", "user.email=bench@example.com", "commit", "-qm", "All of it");
  for (let file = 0; file < 20; file++) appendFileSync(join(workspace, "src/1", `${file}.ts`), "// changed\n");
}

function git(cwd: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync("git", args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args.join(" ")} failed: ${stderr}`);
}
