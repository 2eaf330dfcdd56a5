import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Session, textOf } from "@banyan/core";
import {
  call,
  checkConversation,
  fail,
  type Scene,
  type Script,
  scriptedModel,
  spend,
  stall,
  text,
} from "@banyan/core/testing";
import { workspaceTools } from "@banyan/tools/workspace";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Column } from "./attempt.ts";
import { casesFrom, type WrittenCases } from "./cases.ts";
import { type EvaluateOptions, evaluate } from "./evaluate.ts";
import { evaluationSentence, evaluationTable, junitReport } from "./report.ts";

let folder: string;
let session: Session;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "evaluate-"));
  session = Session.inMemory();
});
afterEach(async () => {
  await session.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A model that costs one cent per response. */
const CENT = { input: 10_000, output: 0 } as const;
const cent = (...beats: Exclude<Scene, string>): Scene => [...beats, spend({ input: 1 })];

/** A column whose agent writes files, with a new model per attempt. Counts the model's calls. */
function column(name: string, script: Script, asked: { times: number } = { times: 0 }): Column {
  return {
    name,
    open({ directory }) {
      const model = scriptedModel(
        (request, index) => {
          asked.times++;
          return typeof script === "function" ? script(request, index) : script[index];
        },
        { id: `scripted/${name}`, price: CENT },
      );
      return { agent: new Agent({ model, tools: workspaceTools({ root: directory }) }) };
    },
  };
}

type One = WrittenCases["cases"][number];
const chat = (name: string, ...expected: One["expect"]): One => ({
  name,
  say: `do ${name}`,
  mode: "chat",
  expect: expected,
});

function run(cases: readonly One[], columns: readonly Column[], options: Partial<EvaluateOptions> = {}) {
  const checked = casesFrom({ name: "ours", cases: [...cases] });
  return evaluate({ cases: checked, columns, session, directory: folder, ...options });
}

describe("C16: an evaluation", () => {
  test("tries each case in each column in its own folder, and reports results and costs", async () => {
    const good = column("good", [cent(call("write", { path: "a.txt", content: "hello\n" })), cent(text("done"))]);
    const bad = column("bad", [cent(text("nothing done"))]);
    const one = chat("hello", { file: "a.txt", equals: "hello" }, { lacks: "nothing" }, { command: "cat a.txt" });
    const evaluation = await run([one, chat("said", { matches: "done" })], [good, bad], { repetitions: 2 });
    expect(evaluation.attempts.map(({ case: name, column, status }) => `${name} ${column} ${status}`)).toEqual([
      ...["hello good passed", "hello bad failed", "hello good passed", "hello bad failed"],
      ...["said good passed", "said bad passed", "said good passed", "said bad passed"],
    ]);
    expect(evaluation.spent).toMatchObject({
      attempts: { cost: expect.closeTo(0.12) },
      beside: { cost: 0 },
      all: { cost: expect.closeTo(0.12) },
    });
    const [, failed] = evaluation.attempts;
    expect(failed?.result?.checks).toEqual([
      { holds: false, what: 'a.txt equals "hello"', why: "it is not there" },
      { holds: false, what: 'the answer lacks "nothing"', why: 'it contains "nothing"', holdsUntouched: true },
      {
        holds: false,
        what: "`cat a.txt` exits with 0",
        why: expect.stringMatching(/^it exited with 1; it printed .*No such file/),
      },
    ]);
    expect(evaluationTable(evaluation)).toEqual([
      ["", "good", "bad"],
      ["hello", expect.stringMatching(/^2\/2 · .* · 4 · \$0\.04$/), expect.stringMatching(/^0\/2 · .* · 2 · \$0\.02$/)],
      ["said", expect.stringMatching(/^2\/2/), expect.stringMatching(/^2\/2/)],
      ["all", expect.stringMatching(/^4\/4/), expect.stringMatching(/^2\/4/)],
    ]);
    expect(evaluationSentence(evaluation)).toBe("6 of 8 attempts passed, 2 failed; cost $0.12.");
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("makes each attempt a branch of one conversation, which ends with the result and can be continued", async () => {
    const { attempts } = await run([chat("a", { contains: "yes" })], [column("good", [cent(text("no"))])]);
    const [{ message, result } = {}] = attempts;
    const root = session.state.messages.get(message ?? "");
    expect([root?.parentId, root && textOf(root), root?.label]).toEqual([null, "do a", "a · good"]);
    const end = session.state.messages.get(`${message}-result`);
    expect(end?.label).toBe("failed");
    expect(end && textOf(end)).toContain('what: the answer contains "yes"');
    expect(existsSync(result?.directory ?? "")).toBe(true);
    const more = new Agent({ model: scriptedModel(["yes"]) });
    expect((await more.send("Why not?", { session, at: end?.id })).text).toBe("yes");
    // Users who open the conversation see the table.
    const report = [...session.state.messages.values()].find(({ id }) => id.startsWith("report-"));
    expect(report && textOf(report)).toContain("| a | 0/1");
  });

  test("repeats no finished attempt in its next run, and counts the same", async () => {
    const asked = { times: 0 };
    const columns = [column("good", [cent(text("yes"))], asked)];
    const cases = [chat("a", { contains: "yes" }), chat("b", { contains: "no" })];
    const { attempts, spent } = await run(cases, columns);
    const again = await run(cases, columns);
    expect(asked.times).toBe(2);
    expect(again.attempts).toEqual(attempts.map((attempt) => ({ ...attempt, isKept: true })));
    expect(again.spent).toEqual(spent);
    // Only a changed case runs again.
    await run([chat("a", { contains: "yes" }), chat("b", { contains: "yes" })], columns);
    expect(asked.times).toBe(3);
  });

  test("repeats an attempt that ended with an error in a fresh folder, and counts the first cost once", async () => {
    const write = cent(call("write", { path: "half.txt", content: "x" }));
    const broken = column("it", [write, [fail("authentication")]]);
    const cases = [chat("a", { file: "half.txt", absent: true })];
    const first = await run(cases, [broken]);
    expect(first.attempts).toMatchObject([{ status: "error", error: "scripted: authentication", isKept: false }]);
    expect(first.spent).toMatchObject({
      attempts: { cost: 0 },
      beside: { cost: expect.closeTo(0.01) },
      all: { cost: expect.closeTo(0.01) },
    });
    const second = await run(cases, [column("it", [cent(text("ok"))])]);
    expect(second.attempts).toMatchObject([{ status: "passed" }]);
    expect(second.spent).toMatchObject({
      attempts: { cost: expect.closeTo(0.01) },
      beside: { cost: expect.closeTo(0.01) },
      all: { cost: expect.closeTo(0.02) },
    });
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("applies its cost limit over all branches at once, and continues with a higher limit", async () => {
    const cases = Array.from({ length: 12 }, (_, index) => chat(`c${index}`, { contains: "done" }));
    const columns = [column("it", [cent(call("list", {})), cent(text("done"))])];
    const limited = await run(cases, columns, { limits: { cost: 0.105 }, atOnce: 6 });
    expect(limited.stopped).toEqual({ reason: "limit", why: expect.stringMatching(/^the limit of \$0\.1\d? for all/) });
    expect(session.state.cost).toBeGreaterThan(0.05);
    expect(session.state.cost).toBeLessThanOrEqual(0.105);
    expect(limited.attempts.filter(({ status }) => status === "open").length).toBeGreaterThan(6);
    const done = await run(cases, columns, { limits: { cost: 1 }, atOnce: 6 });
    expect(done.attempts.every(({ status }) => status === "passed")).toBe(true);
    expect(done.spent.attempts.cost).toBeCloseTo(0.24);
    expect(done.spent.all.cost).toBeCloseTo(session.state.cost ?? Number.NaN);
  });

  test("applies its time limit, and a stop leaves running attempts open", async () => {
    const columns = [column("it", [cent(stall())])];
    const cases = [chat("a", { contains: "x" }), chat("b", { contains: "x" })];
    const late = await run(cases, columns, { limits: { time: 100 } });
    expect(late.stopped).toEqual({ reason: "limit", why: "the limit of 0.1 s is reached" });
    const stop = new AbortController();
    const running = run(cases, columns, { signal: stop.signal });
    setTimeout(() => stop.abort(), 50);
    const { attempts, stopped } = await running;
    expect(stopped?.reason).toBe("interrupted");
    expect(attempts.map(({ status }) => status)).toEqual(["open", "open"]);
    expect(session.state.runs.size).toBe(0);
  });

  test("ends a check's command that hangs or floods, and says so", async () => {
    const { attempts } = await run(
      [
        chat(
          "a",
          { command: "sleep 60", seconds: 0.3 },
          { command: "yes", seconds: 0.3 },
          { command: "exit 3", exit: 3 },
        ),
      ],
      [column("it", [cent(text("ok"))])],
    );
    expect(attempts[0]?.result?.checks).toEqual([
      { holds: false, what: expect.anything(), why: "it did not end within 0.3 s and was stopped; it printed nothing" },
      { holds: false, what: expect.anything(), why: expect.stringMatching(/^it did not end .*; it printed "…/) },
      { holds: true, what: "`exit 3` exits with 3", holdsUntouched: true },
    ]);
  });

  test("L2: takes agents with typed results, and fails an attempt whose result does not match the schema", async () => {
    const output = z.object({ city: z.string(), begins: z.iso.date().transform((text) => new Date(text)) });
    const typed = (name: string, script: Script): Column => ({
      name,
      open: () => ({
        agent: new Agent({ model: scriptedModel(script, { id: `scripted/${name}`, price: CENT }), output }),
      }),
    });
    const rome = '{"city":"Rome","begins":"2026-11-29"}';
    const columns = [
      typed("right", [rome]),
      typed("late", ["Rome!", rome]),
      typed("wrong", ["Rome!", "Rome, I said."]),
    ];
    const { attempts } = await run([chat("trip", { contains: "Rome" })], columns);
    expect(attempts.map(({ column, status }) => [column, status])).toEqual([
      ["right", "passed"],
      ["late", "passed"],
      ["wrong", "failed"],
    ]);
    expect(attempts[2]?.result?.checks).toMatchObject([
      { holds: true },
      {
        holds: false,
        what: "the result matches the schema of the agent",
        why: expect.stringMatching(/^The response does not match/),
      },
    ]);
    // The next evaluation keeps the failed attempt, as any other.
    const again = await run([chat("trip", { contains: "Rome" })], columns);
    expect(again.attempts.map(({ status, isKept }) => [status, isKept])).toEqual([
      ["passed", true],
      ["passed", true],
      ["failed", true],
    ]);
  });

  test("asks a judge on a separate branch with a separate price, and an unclear reply is no verdict", async () => {
    const judged = chat("a", { judge: "It is polite.", files: ["a.txt"] });
    const one = { ...judged, files: { "a.txt": "Dear Sir" } };
    const columns = [column("it", [cent(text("Good evening"))])];
    const verdict = (holds: string | boolean) => cent(call("finish_task", { result: { holds, reason: "It greets." } }));
    const nonsense = scriptedModel([verdict("maybe"), verdict("perhaps")], { id: "judge/j", price: CENT });
    const without = await run([one], columns, { judge: nonsense });
    expect(without.attempts).toMatchObject([
      { status: "error", error: expect.stringMatching(/^The judge gave no verdict/) },
    ]);
    const judge = scriptedModel([verdict(true)], { id: "judge/j", price: CENT });
    const { attempts, spent } = await run([one], columns, { judge });
    expect(attempts[0]?.result?.checks).toEqual([
      { holds: true, what: "the judge says: It is polite.", why: "It greets." },
    ]);
    expect(spent).toMatchObject({
      attempts: { cost: expect.closeTo(0.01) },
      judging: { cost: expect.closeTo(0.01) },
      beside: { cost: expect.closeTo(0.03) },
    });
    const told = JSON.stringify(judge.requests[0]?.messages);
    for (const part of ["do a", "Good evening", "Dear Sir", "It is polite."]) expect(told).toContain(part);
  });

  test("copies the folder of a case without following links out of it", async () => {
    const from = mkdtempSync(join(folder, "from-"));
    writeFileSync(join(from, "a.txt"), "one");
    const outside = join(folder, "outside.txt");
    writeFileSync(outside, "mine");
    const { symlinkSync } = await import("node:fs");
    symlinkSync(outside, join(from, "link.txt"));
    const one = { ...chat("a", { file: "a.txt", equals: "one" }, { file: "b.txt", contains: "x" }), folder: from };
    const { attempts } = await run([{ ...one, files: { "link.txt": "theirs" } }], [column("it", [cent(text("ok"))])]);
    expect(attempts[0]?.result?.checks.map(({ holds }) => holds)).toEqual([true, false]);
    expect(readFileSync(outside, "utf8")).toBe("mine");
  });

  test("writes JUnit's format", async () => {
    const cases = [chat("a <b>", { contains: "yes" }), chat("c", { contains: "no" })];
    const evaluation = await run(cases, [column("it", [cent(text("yes & more"))])]);
    const xml = junitReport(evaluation);
    expect(xml).toContain('<testsuite name="it" tests="2" failures="1" errors="0"');
    expect(xml).toContain('<testcase name="a &lt;b&gt;" classname="it"');
    expect(xml).toContain(
      'message="the answer contains &quot;no&quot;">the answer contains &quot;no&quot;: it is &quot;yes &amp; more&quot;',
    );
  });

  test("is refused before it costs anything if it cannot apply a setting", async () => {
    const asked = { times: 0 };
    const it = column("it", ["x"], asked);
    await expect(run([chat("a", { judge: "Nice." })], [it])).rejects.toThrow(
      /^The case "a" needs a judge: name a model that judges/,
    );
    await expect(run([chat("a", { contains: "x" })], [])).rejects.toThrow(/^There is nothing to evaluate/);
    await expect(run([chat("a", { contains: "x" })], [it, it])).rejects.toThrow(/^Two columns have the name "it"/);
    await expect(run([chat("a", { contains: "x" })], [it], { atOnce: 0 })).rejects.toThrow(
      /^atOnce is 0; it must be a whole/,
    );
    expect(asked.times).toBe(0);
  });
});
