import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, type Event, Session, TurnError } from "@banyan/core";
import { call, type Script, scriptedModel } from "@banyan/core/testing";
import { LanguageServers } from "@banyan/tools/language-servers";
import { openWorkspace, workspaceTools } from "@banyan/tools/workspace";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { workspaceGoal } from "./workspace-goal.ts";

const SERVER = fileURLToPath(new URL("../../../tools/src/language-servers/oak-server.fixture.ts", import.meta.url));

let root: string;
let project: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "problems-")));
  project = join(root, "project");
  await mkdir(project);
  await writeFile(join(project, "a.oak"), "bad old\n");
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** Opens servers for `.oak` files, in which `bad NAME`, and `uses NAME` without `has NAME`, are errors. */
async function freshServers(directory: string) {
  const workspace = openWorkspace(directory);
  const servers = new LanguageServers({
    workspace,
    sandbox: {
      wrap: async (program) => ({ ...program, ended: async () => [], directAttempts: () => 0, [Symbol.dispose]() {} }),
    },
    known: [{ name: "oak", files: { ".oak": "oak" }, commands: [[process.execPath, SERVER, '{"pulls":true}']] }],
  });
  return { workspace, servers, [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose]() };
}

/** Plays a turn whose model writes files, a claim behind each. */
async function play(changes: readonly Readonly<Record<string, string>>[], unattended = true) {
  const script: Script = changes.flatMap((files) => [
    Object.entries(files).map(([path, content]) => call("shell", { command: `printf '${content}' > ${path}` })),
    "There are no problems.",
  ]);
  const goal = workspaceGoal({
    checks: [{ newProblems: "none" }],
    directory: project,
    copies: join(root, "copies"),
    unattended,
    languageServers: freshServers,
    failures: 2,
  });
  const session = Session.inMemory();
  const checked: Extract<Event, { type: "goal.checked" }>[] = [];
  session.listen({
    items: (items) => {
      for (const item of items) if (item.type === "goal.checked") checked.push(item);
    },
    ended() {},
  });
  const agent = new Agent({
    model: scriptedModel([...script, ...Array.from({ length: 3 }, () => "Really.")]),
    tools: workspaceTools({ root: project }),
    goal,
  });
  const turn = await agent.send("Work.", { session }).catch((error: unknown) => {
    if (!(error instanceof TurnError)) throw error;
    return error.turn;
  });
  return { turn, checked };
}

describe("a goal without new problems", () => {
  test("E12: a new problem goes back to the model; an old problem does not, even on another line", async () => {
    const { turn, checked } = await play([{ "a.oak": "bad old\\nbad new\\n" }, { "a.oak": "one\\nbad old\\n" }]);
    expect(checked).toMatchObject([
      { outcome: "open", results: [{ passed: false, why: "a.oak:2: error: new is bad [oak bad]" }] },
      { outcome: "done", results: [{ passed: true }, { passed: true }] },
    ]);
    expect(turn.reason).toBe("answered");
  });

  test("E12: problems of new files count, and a file that cannot be read hides none", async () => {
    const { turn, checked } = await play([{ "b.oak": "bad b\\n" }, { "b.oak": "\\000bad b\\n" }]);
    expect(checked.map(({ results }) => results[0]?.why)).toEqual([
      "b.oak:1: error: b is bad [oak bad]",
      expect.stringMatching(/^b\.oak:1: error: cannot be checked: /),
      expect.any(String),
    ]);
    expect(turn.reason).toBe("failed");
  });

  test.each([
    ["a test defines what is missing", { "a.oak": "bad old\\nuses x\\n", "a.test.oak": "has x\\n" }, "a.test.oak"],
    ["an ignore file hides a file", { "b.oak": "bad b\\n", ".gitignore": "b.oak\\n" }, ".gitignore"],
  ])("E14: if %s, the problem counts without a user, and is shown to a user", async (_, files, changed) => {
    const alone = await play([files]);
    expect(alone.turn.reason).toBe("failed");
    const last = { changed: [changed], why: expect.stringContaining(".oak:") };
    expect(alone.checked.at(-1)?.results.at(-1)).toMatchObject({ ...last, passed: false });
    await rm(join(project, changed));
    await writeFile(join(project, "a.oak"), "bad old\n");
    await rm(join(project, "b.oak"), { force: true });
    const watched = await play([files], false);
    expect(watched.turn.reason).toBe("answered");
    expect(watched.checked.at(-1)?.results.at(-1)).toMatchObject({ ...last, passed: true });
  });

  test("E12: without a server, the turn ends before the model is asked", async () => {
    await rm(join(project, "a.oak"));
    const { turn, checked } = await play([{ "b.oak": "one\\n" }]);
    expect(turn).toMatchObject({
      reason: "failed",
      steps: 0,
      error: { message: expect.stringContaining("No installed") },
    });
    expect(checked).toEqual([]);
  });
});
