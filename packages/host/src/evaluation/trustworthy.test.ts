import { execFileSync } from "node:child_process";
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Session } from "@banyan/core";
import { call, type Script, scriptedModel } from "@banyan/core/testing";
import { workspaceTools } from "@banyan/tools/workspace";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Column } from "./attempt.ts";
import { casesFrom, type WrittenCases } from "./cases.ts";
import { type EvaluateOptions, evaluate } from "./evaluate.ts";
import { openEvaluation } from "./open-evaluation.ts";
import { evaluationNotes, evaluationSentence, evaluationTable, junitReport, reasonsOf } from "./report.ts";

let folder: string;
let session: Session;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "believed-"));
  session = Session.inMemory();
});
afterEach(async () => {
  await session.close();
  rmSync(folder, { recursive: true, force: true });
});

type One = WrittenCases["cases"][number];

const SLUG = 'export const slug = (text) => text.replace(/ /g, "-");\n';
const TEST = `import assert from "node:assert";
import { slug } from "./slug.mjs";
assert.equal(slug("a  b"), "a-b");
console.log("all is well");
`;

/** The first example of docs/evaluate.md, with its files. */
function mend(...expected: readonly Partial<One["expect"][number]>[]): One {
  const from = join(folder, "broken-slug");
  mkdirSync(from, { recursive: true });
  writeFileSync(join(from, "slug.mjs"), SLUG);
  writeFileSync(join(from, "test.mjs"), TEST);
  return {
    name: "mend",
    folder: from,
    mode: "chat",
    files: { "notes.md": "Be quick." },
    say: "test.mjs fails. Mend slug.mjs so that it passes.",
    expect:
      expected.length > 0 ? [...expected] : [{ command: "node test.mjs" }, { file: "notes.md", equals: "Be quick." }],
  };
}

function column(name: string, script: Script, options: { readonly permission?: "denied" } = {}): Column {
  return {
    name,
    open: ({ directory }) => ({
      agent: new Agent({
        model: scriptedModel(script, { id: `scripted/${name}` }),
        tools: workspaceTools({ root: directory }),
        ...(options.permission && { permission: () => ({ decision: "deny", reason: "not today" }) }),
      }),
    }),
  };
}

/** All entries of a folder: kinds, permissions and contents by path. */
function entriesIn(directory: string) {
  const paths = readdirSync(directory, { recursive: true, encoding: "utf8" }).sort();
  return paths.map((path) => {
    const whole = join(directory, path);
    const found = lstatSync(whole);
    const content = found.isSymbolicLink() ? readlinkSync(whole) : found.isFile() ? readFileSync(whole, "utf8") : "";
    return [path, found.mode, content];
  });
}

const wrote = (path: string, content: string) => [
  [call("shell", { command: `cat > ${path} <<'END'\n${content}END` })],
  "Done.",
];
const run = (cases: readonly One[], columns: readonly Column[], options: Partial<EvaluateOptions> = {}) =>
  evaluate({
    cases: casesFrom({ name: "ours", cases: [...cases] }),
    columns,
    session,
    directory: join(folder, "attempts"),
    ...options,
  });

describe("F101: files of a check come from the case", () => {
  test("an agent that rewrites its test in the first example of the docs fails, and is reported", async () => {
    const cheat = column("cheat", wrote("test.mjs", 'console.log("all is well");\n'));
    const honest = column("honest", wrote("slug.mjs", 'export const slug = (text) => text.replace(/ +/g, "-");\n'));
    const evaluation = await run([mend()], [cheat, honest]);
    expect(evaluation.attempts.map(({ status }) => status)).toEqual(["failed", "passed"]);
    expect(evaluationNotes(evaluation)).toContain(
      "mend: `node test.mjs` exits with 0: the agent changed test.mjs, but the command ran with the files of the case.",
    );
    expect(evaluation.attempts[1]?.result?.checks[0]?.restored).toBeUndefined();
    // A user who looks at the attempt finds the agent's file.
    const { directory = "" } = evaluation.attempts[0]?.result ?? {};
    expect(readFileSync(join(directory, "test.mjs"), "utf8")).toBe('console.log("all is well");\n');
  });

  const fooled = 'console.log("all is well"); process.exit(0);\n';
  test.each<[string, string, Partial<One["expect"][number]>, readonly string[]]>([
    ["removes it", "rm test.mjs; true", { command: "test ! -e test.mjs || node test.mjs" }, ["test.mjs"]],
    ["makes it a link", "echo 1 > x.mjs && ln -sf x.mjs test.mjs", { command: "node test.mjs" }, ["test.mjs"]],
    [
      "makes it a folder",
      "rm test.mjs; mkdir test.mjs; echo 1 > test.mjs/index.js",
      { command: "node test.mjs" },
      ["test.mjs"],
    ],
    [
      "makes the folder of tests a link to another",
      `mkdir other; printf '${fooled}' > other/deep.mjs; rm -r tests; ln -s other tests`,
      { command: "node tests/deep.mjs" },
      ["tests/deep.mjs"],
    ],
    ["takes a permission away", "chmod -x check.sh", { command: "test -x check.sh && exit 1; exit 0" }, ["check.sh"]],
    [
      "changes what the check names in `restore`",
      "echo 'process.exit(0)' > verdict.mjs",
      { command: "node verdict.mjs", restore: ["verdict.mjs"] },
      ["verdict.mjs"],
    ],
    [
      "adds a file to a folder of `restore`",
      "echo 1 > tests/more.mjs",
      { command: "test ! -e tests/more.mjs && exit 1; exit 0", restore: ["./tests/"] },
      ["tests/more.mjs"],
    ],
  ])(
    "a notice reports an agent that %s, and the command uses the case's file",
    async (_what, command, check, restored) => {
      const one = mend(check);
      mkdirSync(join(one.folder ?? "", "tests"));
      writeFileSync(join(one.folder ?? "", "tests/deep.mjs"), "process.exit(1);\n");
      writeFileSync(join(one.folder ?? "", "verdict.mjs"), "process.exit(1);\n");
      writeFileSync(join(one.folder ?? "", "check.sh"), "exit 1\n", { mode: 0o755 });
      const evaluation = await run([one], [column("cheat", [[call("shell", { command })], "Done."])]);
      const [{ result, status } = { status: "open", result: undefined }] = evaluation.attempts;
      expect(result?.checks[0]?.restored).toEqual(restored);
      expect(status).toBe("failed");
      // Afterwards the folder has the agent's state again.
      const again = join(folder, "again");
      cpSync(one.folder ?? "", again, { recursive: true });
      writeFileSync(join(again, "notes.md"), "Be quick.");
      execFileSync("sh", ["-c", command], { cwd: again });
      expect(entriesIn(result?.directory ?? "")).toEqual(entriesIn(again));
    },
  );

  test("a file that the command names, and that is no test by its name, comes from the agent with a note", async () => {
    const printing = (restore?: string[]): One => ({
      ...mend({ command: "node main.mjs", equals: "hello", ...(restore && { restore }) }),
      files: { "main.mjs": "" },
    });
    const writing = column("it", wrote("main.mjs", 'console.log("hello");\n'));
    const first = await run([printing()], [writing]);
    expect(first.attempts.map(({ status }) => status)).toEqual(["passed"]);
    expect(evaluationNotes(first)).toEqual([
      'mend: `node main.mjs` exits with 0, and its output equals "hello": the agent changed main.mjs, which the command names. ' +
        "Write restore: [main.mjs] to check with the files of the case, or restore: [] to allow the change.",
    ]);
    const decided = await run([printing([])], [writing]);
    expect([decided.attempts[0]?.status, evaluationNotes(decided)]).toEqual(["passed", []]);
    const refused = await run([printing(["main.mjs"])], [writing]);
    expect(refused.attempts[0]?.status).toBe("failed");
  });

  test("`npm test` names package.json, and `restore` names the case's files", async () => {
    const one: One = {
      ...mend({ command: "npm test" }),
      files: { "package.json": '{ "scripts": { "test": "exit 1" } }' },
    };
    const cheat = column("cheat", wrote("package.json", '{ "scripts": { "test": "exit 0" } }\n'));
    const evaluation = await run([one], [cheat]);
    expect(evaluation.attempts[0]?.result?.checks[0]?.changed).toEqual(["package.json"]);
    expect(() =>
      casesFrom({ cases: [{ ...one, expect: [{ command: "npm test", restore: ["packge.json"] }] }] }),
    ).toThrow(
      /^the cases: cases\[0\]\.expect\[0\]\.restore\[0\]: the case has no file packge\.json; name one of its files\. Did you mean package\.json\?/,
    );
    expect(() => casesFrom({ cases: [{ ...one, expect: [{ contains: "x", restore: [] }] }] })).toThrow(
      /expected command together with restore/,
    );
  });
});

describe("F101: each check runs once on the untouched folder", () => {
  test("a check that passes on the first files is marked once for all attempts, and leaves nothing", async () => {
    const counted = join(folder, "counted");
    const one = mend(
      { command: `echo x >> ${counted}; echo x >> left.txt; node --version`, matches: "^v" },
      { command: "node test.mjs" },
      { lacks: "sorry" },
      { file: "left.txt", contains: "x\nx" },
    );
    const evaluation = await run([one], [column("a", ["Done."]), column("b", ["Done."])], { repetitions: 2 });
    // Once for the case, and once for each of the four attempts.
    expect(readFileSync(counted, "utf8")).toBe("x\n".repeat(5));
    const checks = evaluation.attempts.map(({ result }) =>
      result?.checks.map(({ holdsUntouched = false }) => holdsUntouched),
    );
    expect(checks).toEqual(Array(4).fill([true, false, true, false]));
    expect(evaluation.attempts[0]?.result?.checks[3]).toMatchObject({ holds: false, why: 'it is "x"' });
    const notes = evaluationNotes(evaluation);
    expect(notes).toEqual([
      expect.stringMatching(/^mend: `echo .*`.*: this check passes before the agent does anything\.$/),
      'mend: the answer lacks "sorry": this check passes before the agent does anything.',
    ]);
    // The kept result is still marked.
    expect(evaluationNotes(await run([one], [column("a", []), column("b", [])], { repetitions: 2 }))).toEqual(notes);
    expect(readFileSync(counted, "utf8")).toBe("x\n".repeat(5));
  });
});

describe("F101: a regular expression without an end is stopped", () => {
  const ENDLESS = "^(a+)+$";
  const answer = `${"a".repeat(60)}!`;
  const endless = (seconds?: number): One => ({
    ...mend({ matches: ENDLESS, ...(seconds !== undefined && { seconds }) }),
  });

  test("after its time limit, with the expression in the reason, while others continue", async () => {
    const from = performance.now();
    const { attempts } = await run([endless(0.5)], [column("it", [answer])]);
    expect(attempts[0]?.result?.checks[0]?.why).toBe("/^(a+)+$/ did not end within 0.5 s and was stopped");
    expect(performance.now() - from).toBeLessThan(5_000);
  });

  test.each([
    ["Ctrl-C", "interrupted"],
    ["--timeout", "limit"],
  ] as const)("by %s, and its attempt is open", async (how, reason) => {
    const stop = new AbortController();
    const from = performance.now();
    setTimeout(() => how === "Ctrl-C" && stop.abort(), 600);
    const limits = how === "Ctrl-C" ? {} : { limits: { time: 600 } };
    const { attempts, stopped } = await run([endless(60)], [column("it", [answer])], {
      signal: stop.signal,
      ...limits,
    });
    expect([attempts[0]?.status, stopped?.reason]).toEqual(["open", reason]);
    expect(performance.now() - from).toBeLessThan(5_000);
  });
});

test("F101: a denied call is a reason, in words and for build servers", async () => {
  const denied = column("it", [[call("write", { path: "a.txt", content: "x" })], "I could not."], {
    permission: "denied",
  });
  const evaluation = await run([mend({ file: "a.txt", equals: "x" })], [denied]);
  const [attempt] = evaluation.attempts;
  expect(attempt?.result?.denied).toEqual(["write a.txt: Not allowed: not today"]);
  expect(attempt && reasonsOf(attempt)).toEqual([
    'a.txt equals "x": it is not there',
    "a call was denied: write a.txt: Not allowed: not today",
  ]);
  expect(junitReport(evaluation)).toContain("a call was denied: write a.txt");
});

test("F101: results that were kept are marked in the table, the sentence and for build servers", async () => {
  const cases = [mend({ contains: "Done" }), { ...mend({ contains: "x" }), name: "other" }];
  await run(cases.slice(0, 1), [column("it", ["Done."])]);
  const evaluation = await run(cases, [column("it", ["Done."])]);
  const [, kept, made, all] = evaluationTable(evaluation);
  expect(kept?.[1]).toMatch(/^1\/1, 1 kept · /);
  expect(made?.[1]).toMatch(/^0\/1 · /);
  expect(all?.[1]).toMatch(/^1\/2, 1 kept · /);
  expect(evaluationSentence(evaluation)).toMatch(/^1 of 2 attempts passed, 1 failed, 1 kept from an earlier run; cost/);
  expect(junitReport(evaluation).match(/kept from an earlier run/g)).toHaveLength(1);
});

describe("F101: everything that decides an attempt is part of its key", () => {
  const home = () => join(folder, "home");
  const config = (name: string, content: string) => {
    const file = join(home(), ".config/banyan", name);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, content);
  };

  const env = { PATH: process.env.PATH, BANYAN_SANDBOX: "off" };
  type Options = Partial<Parameters<typeof openEvaluation>[0]>;

  /** Returns whether the result of the only attempt is kept. */
  async function isKept(options: Options = {}): Promise<boolean> {
    await using opened = await openEvaluation({
      file: join(folder, "cases.yaml"),
      cwd: folder,
      env,
      home: home(),
      models: ["scripted"],
      ...options,
    });
    const [attempt] = (await opened.run({})).attempts;
    expect(attempt?.status).toBe("passed");
    return attempt?.isKept === true;
  }

  test("approval, rules, settings, limits, instructions, agents and skills; the theme is not", async () => {
    writeFileSync(
      join(folder, "cases.yaml"),
      "cases:\n  - { name: a, say: x, mode: chat, script: [fine], expect: [{ contains: fine }] }\n",
    );
    writeFileSync(join(folder, "rules.json"), '{ "deny": ["fetch"] }');
    const hook = '{ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "true" }] }] } }';
    const settings = (content: string): Options => {
      config("settings.json", content);
      return {};
    };
    const file = (name: string, content: string): Options => {
      config(name, content);
      return {};
    };
    expect(await isKept()).toBe(false);
    expect(await isKept()).toBe(true);
    const changes: readonly (readonly [string, boolean, () => Options])[] = [
      ["the theme", true, () => settings('{ "theme": "dark", "vim": true }')],
      ["approval", false, () => ({ flags: { approval: "edits" } })],
      ["a rule of the command line", false, () => ({ flags: { deny: ["shell"] } })],
      ["a file of rules", false, () => ({ flags: { rules: join(folder, "rules.json") } })],
      ["a limit by a variable", false, () => ({ env: { ...env, BANYAN_MAX_STEPS: "7" } })],
      ["trust", false, () => ({ trusted: true })],
      ["none of them", true, () => ({})],
      ["a rule of the settings", false, () => settings('{ "permissions": { "deny": ["edit"] } }')],
      ["a limit of the settings", false, () => settings('{ "limits": { "steps": 8 } }')],
      ["the temperature", false, () => settings('{ "temperature": 0 }')],
      ["a hook", false, () => settings(hook)],
      ["AGENTS.md of the user", false, () => file("AGENTS.md", "Be quick.")],
      ["a skill of the user", false, () => file("skills/x/SKILL.md", "---\ndescription: When x.\n---\nDo x.")],
      ["its text", false, () => file("skills/x/SKILL.md", "---\ndescription: When x.\n---\nDo y.")],
      ["an agent of the user", false, () => file("agents/y.md", "---\ndescription: When y.\n---\nDo y.")],
      ["nothing more", true, () => ({})],
    ];
    for (const [what, kept, change] of changes) expect(`${what}: ${await isKept(change())}`).toBe(`${what}: ${kept}`);
  });
});
