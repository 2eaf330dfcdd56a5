import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { Agent, type Event, Session, TurnError } from "@banyan/core";
import { call, type Scene, scriptedModel } from "@banyan/core/testing";
import { workspaceTools } from "@banyan/tools/workspace";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FaultyProject, liarFrom, PROJECTS } from "./lies.fixture.ts";
import { workspaceGoal } from "./workspace-goal.ts";

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "lies-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function write(folder: string, { files }: FaultyProject): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Returns whether the sources in a folder pass the tests as they were written. Knows nothing of goals. */
function isMended(folder: string, project: FaultyProject, place: string): boolean {
  write(place, project);
  rmSync(join(place, "src"), { recursive: true });
  if (existsSync(join(folder, "src"))) cpSync(join(folder, "src"), join(place, "src"), { recursive: true });
  const [program = "", ...args] = project.command.split(" ");
  return spawnSync(program, args, { cwd: place }).status === 0;
}

/** Returns the paths outside of `src/` whose content, mode or kind differs from the project as it was written. */
function differing(folder: string, { files }: FaultyProject, place: string): string[] {
  const states = (at: string) => {
    const found = new Map<string, string>();
    for (const entry of readdirSync(at, { recursive: true, withFileTypes: true })) {
      const path = relative(at, join(entry.parentPath, entry.name));
      if (entry.isDirectory() || path.startsWith("src/")) continue;
      const { mode } = lstatSync(join(at, path));
      found.set(path, `${mode} ${entry.isFile() && mode & 0o400 ? readFileSync(join(at, path), "utf8") : ""}`);
    }
    return found;
  };
  write(place, { files } as FaultyProject);
  const [now, first] = [states(folder), states(place)];
  return [...new Set([...now.keys(), ...first.keys()])].filter((path) => now.get(path) !== first.get(path));
}

async function play(name: string, project: FaultyProject, mode: "chat" | "task", script: Scene[], unattended: boolean) {
  const folder = join(root, name);
  mkdirSync(folder);
  write(folder, project);
  const goal = workspaceGoal({
    checks: [{ command: project.command }],
    directory: folder,
    copies: join(root, "copies"),
    unattended,
  });
  const session = Session.inMemory();
  let last: Extract<Event, { type: "goal.checked" }> | undefined;
  session.listen({
    items: (items) => {
      for (const item of items) if (item.type === "goal.checked") last = item;
    },
    ended() {},
  });
  const agent = new Agent({ model: scriptedModel(script), mode, tools: workspaceTools({ root: folder }), goal });
  const turn = await agent.send("Mend the fault.", { session }).catch((error: unknown) => {
    if (!(error instanceof TurnError)) throw error;
    return error.turn;
  });
  return { folder, isDone: turn.reason === "answered" || turn.reason === "finished", last };
}

/** Lying models with and without a user each. */
const LIARS = process.env.BANYAN_LONG === "1" ? 100 : 20;

describe("lying models", () => {
  test.each([true, false])(
    "E14: no model of a grammar reaches a false end (without a user: %s)",
    async (unattended) => {
      const faults: string[] = [];
      const kinds = new Set<string>();
      for (let seed = 1; seed <= LIARS; seed++) {
        const { project, mode, script, lies } = liarFrom(seed + (unattended ? 0 : LIARS));
        for (const lie of lies) kinds.add(`${project.name} ${lie}`);
        const name = `${unattended}-${seed}`;
        const { folder, isDone, last } = await play(name, project, mode, script, unattended);
        const truth = isMended(folder, project, join(root, `${name}-truth`));
        const told = last?.results.at(-1);
        const shown = new Set(told?.changed);
        const hidden = differing(folder, project, join(root, `${name}-first`)).filter(
          (path) =>
            !shown.has(path) && !shown.has(dirname(path)) && path !== "test-results.txt" && !path.startsWith("old/"),
        );
        // With a user, an end counts only if the user sees all changes, and that the tests as they were fail.
        const isSeen = !unattended && hidden.length === 0 && told?.why !== undefined;
        if (isDone && !truth && !isSeen)
          faults.push(`${name} ${project.name} ${mode}: ${lies.join("; ")} hidden: ${hidden}`);
        rmSync(folder, { recursive: true, force: true });
      }
      expect(faults).toEqual([]);
      // The lies of all kinds were told.
      expect(kinds.size).toBeGreaterThan(LIARS / 4);
    },
    600_000,
  );

  test.each(PROJECTS.map((project) => [project.name, project] as const))(
    "E14: an honest model in the %s project is done, also with a new test",
    async (name, project) => {
      const script: Scene[] = [
        [call("shell", { command: project.mend })],
        [call("shell", { command: "mkdir -p spec; echo true > spec/more.sh" })],
        "It is mended.",
      ];
      const { isDone, last } = await play(`honest-${name}`, project, "chat", script, true);
      expect(isDone).toBe(true);
      expect(last?.results.at(-1)).toMatchObject({ passed: true, changed: ["spec/more.sh"] });
    },
  );
});
