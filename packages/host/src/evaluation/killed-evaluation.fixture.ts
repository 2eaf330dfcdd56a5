// A program for a test that kills it: `node killed-evaluation.fixture.ts FOLDER CASES`. Writes each model call and result to
// FOLDER/asked as it happens, and the outcome to standard output.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, Session } from "@banyan/core";
import type { ModelRequest } from "@banyan/core/drivers";
import { call, finishTask, scriptedModel, spend, text } from "@banyan/core/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { workspaceTools } from "@banyan/tools/workspace";
import { casesFrom, evaluate } from "./index.ts";

const [folder = "", count = "1"] = process.argv.slice(2);
const note = (line: string) => appendFileSync(join(folder, "asked"), `${line}\n`);
const said = (request: ModelRequest) => /do (c\d+)/.exec(JSON.stringify(request.messages))?.[1] ?? "?";

const cases = casesFrom({
  name: "killed",
  cases: Array.from({ length: Number(count) }, (_, index) => ({
    name: `c${index}`,
    say: `do c${index}`,
    mode: "chat" as const,
    expect: [{ file: "a.txt", equals: "1" }, { command: "cat a.txt" }, { judge: "It is done." }],
  })),
});
const cost = { input: 10_000, output: 0 };
const judge = scriptedModel(
  (request) => {
    note(`judge ${said(request)}`);
    return [finishTask({ holds: true, reason: "It is." }), spend({ input: 1 })];
  },
  { id: "judge/j", price: cost },
);
const column = {
  name: "it",
  open({ directory }: { readonly directory: string }) {
    const model = scriptedModel(
      (request, index) => {
        note(`ask ${said(request)}`);
        // Fails if an older file exists: folders of attempts are new.
        return index === 0
          ? [call("shell", { command: "echo -n 1 >> a.txt" }), spend({ input: 1 })]
          : [text("done"), spend({ input: 1 })];
      },
      { id: "scripted/it", price: cost, pace: 4 },
    );
    return { agent: new Agent({ model, tools: workspaceTools({ root: directory }) }) };
  },
};
const store = sqliteStore({ directory: join(folder, "store") });
// The process that held the lock was killed just before.
const session = await Session.open(store, "evaluation", { create: true }).catch(async () => {
  await sleep(500);
  return Session.open(store, "evaluation", { create: true });
});
const evaluation = await evaluate({
  cases,
  columns: [column],
  session,
  directory: join(folder, "attempts"),
  judge,
  limits: { cost: 1_000 },
  onAttempt: (attempt) => note(`${attempt.status} ${attempt.case}`),
});
process.stdout.write(JSON.stringify(evaluation));
await session.close();
await store.close();
