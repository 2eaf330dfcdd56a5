import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Agent, type Event, Session, TurnError } from "@banyan/core";
import { call, type Script, scriptedModel } from "@banyan/core/testing";
import { workspaceTools } from "@banyan/tools/workspace";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FirstState, settleFirstStates } from "../checks/first-state.ts";
import { workspaceGoal } from "./workspace-goal.ts";

let root: string;
let project: string;
let copies: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "goal-"));
  project = join(root, "project");
  copies = join(root, "copies");
  await mkdir(join(project, "tests"), { recursive: true });
  await mkdir(copies);
  await writeFile(join(project, "number"), "1\n");
  await writeFile(
    join(project, "tests/number.sh"),
    'test "$(cat number)" = 2 || { echo "number is $(cat number)"; exit 1; }\n',
  );
});
afterEach(() => rm(root, { recursive: true, force: true }));

const shell = (command: string) => call("shell", { command });
const TEST = "sh tests/number.sh";

async function play(
  script: Script,
  options: { unattended?: boolean; checks?: Parameters<typeof workspaceGoal>[0]["checks"] } = {},
) {
  const { unattended = true, checks = [{ command: TEST }] } = options;
  const goal = workspaceGoal({ checks, directory: project, copies, unattended, failures: 2 });
  const session = Session.inMemory();
  const events: Event[] = [];
  session.listen({ items: (items) => events.push(...(items as Event[])), ended() {} });
  const agent = new Agent({ model: scriptedModel(script), tools: workspaceTools({ root: project }), goal });
  const turn = await agent.send("Make the number 2.", { session }).catch((error: unknown) => {
    if (!(error instanceof TurnError)) throw error;
    return error.turn;
  });
  const checked = events.filter((event) => event.type === "goal.checked");
  return { turn, checked, last: checked.at(-1) };
}

describe("a goal in a workspace", () => {
  test("E12: a command must pass after the last change, and its output goes back to the model", async () => {
    const { turn, checked } = await play(["It passes.", [shell("echo 2 > number")], "Now it passes."]);
    expect(turn.reason).toBe("answered");
    expect(checked).toMatchObject([
      { outcome: "open", results: [{ passed: false, why: expect.stringContaining("number is 1") }] },
      { outcome: "done", results: [{ what: `\`${TEST}\` exits with 0`, passed: true }, { passed: true }] },
    ]);
  });

  test("E12: files and the answer are checked too", async () => {
    const checks = [{ file: "number", contains: "3" }, { contains: "three" }] as const;
    const { turn, checked } = await play(["No.", [shell("echo 3 > number")], "It is three."], { checks });
    expect(turn.reason).toBe("answered");
    expect(checked.map(({ outcome }) => outcome)).toEqual(["open", "done"]);
  });

  test("E12: a file must exist, and file, answer and result can have a schema", async () => {
    const schema = { type: "object", properties: { oaks: { type: "integer" } }, required: ["oaks"] };
    const checks = [{ file: "made", exists: true }, { file: "trees.json", schema }, { schema }] as const;
    const script: Script = [
      "Two oaks.",
      [shell('touch made; echo \'{ "oaks": "two" }\' > trees.json')],
      '{ "elms": 2 }',
      [shell("echo '{ \"oaks\": 2 }' > trees.json")],
      '{ "oaks": 2 }',
    ];
    const { turn, checked } = await play(script, { checks });
    expect(turn.reason).toBe("answered");
    const whys = checked.map(({ results }) => results.map(({ passed, why }) => passed || why));
    expect(whys).toEqual([
      ["it is not there", "it is not there", "it is no JSON"],
      [
        true,
        expect.stringMatching(/^it\.oaks does not fit the schema: /),
        expect.stringMatching(/^it(\.oaks)? does not/),
      ],
      [true, true, true],
    ]);
    expect(checked[0]?.results.map(({ what }) => what)).toEqual([
      "there is made",
      `trees.json fits the schema ${JSON.stringify(schema)}`,
      `the answer fits the schema ${JSON.stringify(schema)}`,
    ]);
  });

  test("E14: without a user, a test that was changed does not count", async () => {
    const { turn, last } = await play([[shell("echo exit 0 > tests/number.sh")], "All tests pass.", "Really."]);
    expect(turn.reason).toBe("failed");
    expect(last).toMatchObject({
      outcome: "failed",
      results: [{ passed: true }, { passed: false, changed: ["tests/number.sh"] }],
    });
    expect(await readFile(join(project, "tests/number.sh"), "utf8")).toBe("exit 0\n");
  });

  test("E14: a user sees the changed tests, and the result of the old tests", async () => {
    const { turn, last } = await play([[shell("echo exit 0 > tests/number.sh")], "Done."], { unattended: false });
    expect(turn.reason).toBe("answered");
    expect(last?.results.at(-1)).toMatchObject({
      passed: true,
      changed: ["tests/number.sh"],
      why: expect.stringContaining("number is 1"),
    });
  });

  test("E14: an added test with passing old tests counts", async () => {
    const script: Script = [[shell("echo 2 > number; echo exit 0 > tests/more.sh")], "Done."];
    const { turn, last } = await play(script);
    expect(turn.reason).toBe("answered");
    expect(last?.results.at(-1)).toMatchObject({ passed: true, changed: ["tests/more.sh"] });
    expect(await readFile(join(project, "tests/more.sh"), "utf8")).toBe("exit 0\n");
  });

  test("E12: files that a check writes are no changes", async () => {
    const checks = [{ command: `echo run >> log; ${TEST}` }];
    const { turn } = await play([[shell("echo 2 > number")], "Done."], { checks });
    expect(turn.reason).toBe("answered");
  });

  test("E12: a judge model decides last, with a bill of its own", async () => {
    const judge = scriptedModel([
      [call("finish_task", { result: { holds: false, reason: "It is rude." } })],
      [call("finish_task", { result: { holds: true, reason: "It is polite." } })],
    ]);
    const goal = workspaceGoal({
      checks: [{ judge: "The answer is polite." }],
      directory: project,
      copies,
      judge: { model: judge },
    });
    const session = Session.inMemory();
    const turn = await new Agent({ model: scriptedModel(["No.", "Please."]), goal }).send("Answer.", { session });
    expect(turn.text).toBe("Please.");
  });
});

test("E14: a goal with a command and a judge still knows the first tests after the judge has refused once", async () => {
  const verdict = (holds: boolean) => [call("finish_task", { result: { holds, reason: "So it is." } })];
  const goal = workspaceGoal({
    checks: [{ command: TEST }, { judge: "The answer is polite." }],
    directory: project,
    copies,
    unattended: true,
    judge: { model: scriptedModel([verdict(false), verdict(true)]) },
  });
  const script: Script = [[shell("echo 2 > number")], "No.", "Please."];
  const agent = new Agent({ model: scriptedModel(script), tools: workspaceTools({ root: project }), goal });
  expect(await agent.send("Make the number 2.")).toMatchObject({ reason: "answered", text: "Please." });
});

describe("the first state of tests", () => {
  test("E14: files that a stopped process moved aside are restored, also behind a link", async () => {
    const first = new FirstState(join(copies, "goal"), [TEST]);
    await first.keep(project);
    await rm(join(project, "tests"), { recursive: true });
    await mkdir(join(project, "lies"));
    await writeFile(join(project, "lies/number.sh"), "exit 0\n");
    await symlink("lies", join(project, "tests"));
    await writeFile(join(project, "vitest.config.ts"), "export default {};\n");
    const { changed = [] } = (await first.changes(project)) ?? {};
    expect(changed).toEqual(["tests", "tests/number.sh", "vitest.config.ts"]);
    // A process that is killed here runs nothing that follows.
    const stuck = Promise.withResolvers<void>();
    const seen = Promise.withResolvers<string>();
    const during = first.during(project, changed, async () => {
      seen.resolve(await readFile(join(project, "tests/number.sh"), "utf8"));
      await stuck.promise;
    });
    expect(await seen.promise).toContain("number is");
    await settleFirstStates(copies);
    expect(await readFile(join(project, "tests/number.sh"), "utf8")).toBe("exit 0\n");
    expect(await readFile(join(project, "vitest.config.ts"), "utf8")).toBe("export default {};\n");
    stuck.resolve();
    await during.catch(() => {});
  });

  test("E14: mode and deletion of a test are changes, and a file without influence is none", async () => {
    const first = new FirstState(join(copies, "goal"), [TEST]);
    await first.keep(project);
    expect(await first.changes(project)).toMatchObject({ changed: [] });
    await writeFile(join(project, "code.js"), "");
    expect(await first.changes(project)).toMatchObject({ changed: [] });
    await chmod(join(project, "tests/number.sh"), 0o755);
    expect(await first.changes(project)).toMatchObject({ changed: ["tests/number.sh"] });
    await rm(join(project, "tests/number.sh"));
    expect(await first.changes(project)).toMatchObject({ changed: ["tests/number.sh"] });
  });

  test("E13: the copies of a reached goal stay for a day, so that a restart can repeat the last check", async () => {
    const age = (days: number) => new Date(Date.now() - days * 24 * 3_600_000);
    await play([[shell("echo 2 > number")], "Done."]);
    const [goal = ""] = await readdir(copies);
    const reached = new FirstState(join(copies, goal), [TEST]);
    expect(await reached.changes(project)).toMatchObject({ changed: [] });
    const { mtimeMs } = await stat(join(copies, goal));
    await utimes(join(copies, goal), age(0), new Date(mtimeMs + age(1).getTime() - Date.now() - 1_000));
    await new FirstState(join(copies, "next"), [TEST]).keep(project);
    expect(await readdir(copies)).toEqual(["next"]);
  });
});

describe.runIf(process.geteuid?.() === 0)("a file that the program may not read", () => {
  const NOBODY = 65_534;

  test("E14: a goal begins anyway, and the file counts as changed when it can be read", async () => {
    const [file, folder] = [join(project, "tests/secret.sh"), join(project, "spec")];
    await mkdir(folder);
    await writeFile(join(folder, "more.sh"), "true\n");
    await writeFile(file, "true\n");
    for (const path of [file, folder]) await chmod(path, 0);
    for (let above = root; above !== dirname(tmpdir()); above = dirname(above)) await chmod(above, 0o755);
    await chmod(copies, 0o777);
    const first = new FirstState(join(copies, "goal"), [TEST]);
    const asNobody = async <Result>(run: () => Promise<Result>): Promise<Result> => {
      process.seteuid?.(NOBODY);
      return run().finally(() => process.seteuid?.(0));
    };
    await asNobody(() => first.keep(project));
    const uncopied = ["spec", "tests/secret.sh"];
    expect(await asNobody(() => first.changes(project))).toEqual({ changed: [], uncopied });
    await chmod(file, 0o644);
    await chmod(folder, 0o755);
    const changed = ["spec", "spec/more.sh", "tests/secret.sh"];
    expect(await asNobody(() => first.changes(project))).toEqual({ changed, uncopied });
  });
});

/** A path that the workspace can have, but that is too long behind the folder of copies. */
const LONG = `tests/${Array.from({ length: 13 }, () => "x".repeat(250)).join("/")}/more.sh`;

describe.runIf(process.platform === "linux")("a test that cannot be copied", () => {
  beforeEach(async () => {
    await mkdir(dirname(join(project, LONG)), { recursive: true });
    await writeFile(join(project, LONG), "true\n");
    copies = join(copies, ...Array.from({ length: 4 }, () => "y".repeat(250)));
  });

  test.each([true, false])(
    "E14: a goal begins anyway, and its result names the test (without a user: %s)",
    async (unattended) => {
      const { turn, last } = await play([[shell("echo 2 > number")], "Done."], { unattended });
      expect(turn.reason).toBe("answered");
      expect(last?.results.at(-1)).toEqual({
        what: expect.any(String),
        passed: true,
        why: `These files could not be copied when the goal began: ${LONG}, and did not change since.`,
      });
    },
  );

  test.each([
    ["changed", "echo more >> $f"],
    ["replaced by an equal file", "cp $f $f.new; rm $f; mv $f.new $f"],
    ["removed", "rm $f"],
    ["made readable", "chmod 600 $f"],
  ])("E14: if the test is %s, only a user can accept the end", async (_, command) => {
    const script: Script = [[shell(`echo 2 > number; f=${LONG}; ${command}`)], "Done.", "Done."];
    for (const unattended of [true, false]) {
      await rm(join(project, LONG), { force: true });
      await writeFile(join(project, LONG), "true\n", { mode: 0o644 });
      await writeFile(join(project, "number"), "1\n");
      const { turn, last } = await play(script, { unattended });
      expect(turn.reason).toBe(unattended ? "failed" : "answered");
      expect(last?.results.at(-1)).toMatchObject({
        passed: !unattended,
        changed: [LONG],
        why: expect.stringContaining("Their first content is not known."),
      });
    }
  });
});
