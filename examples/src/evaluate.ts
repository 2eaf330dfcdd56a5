// An evaluation: two agents of your own are tried on the same cases, each attempt on a branch of one conversation.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Session } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { type AttemptContext, casesFrom, evaluate } from "@banyan/host/evaluation";
import { workspaceTools } from "@banyan/tools/workspace";

const directory = await mkdtemp(join(tmpdir(), "evaluate-"));
const cases = casesFrom({
  name: "notes",
  cases: [
    {
      name: "shopping list",
      say: "Add milk to the shopping list.",
      mode: "chat",
      files: { "list.txt": "bread\n" },
      expect: [
        { file: "list.txt", contains: "milk" },
        { file: "list.txt", contains: "bread" },
      ],
    },
  ],
});

const careful = () => scriptedModel([[call("write", { path: "list.txt", content: "bread\nmilk\n" })], "Added."]);
const hasty = () => scriptedModel([[call("write", { path: "list.txt", content: "milk\n" })], "Added."]);
const column = (name: string, model: typeof careful) => ({
  name,
  open: ({ directory }: AttemptContext) => ({
    agent: new Agent({ model: model(), tools: workspaceTools({ root: directory }) }),
  }),
});

const session = Session.inMemory();
const columns = [column("careful", careful), column("hasty", hasty)];
const { attempts } = await evaluate({ cases, columns, session, directory });
for (const { case: name, column, status, result } of attempts) {
  console.log(`${name}, ${column}: ${status}`);
  for (const { holds, what, why } of result?.checks ?? []) if (!holds) console.log(`  ${what}: ${why}`);
}
const again = await evaluate({ cases, columns, session, directory });
console.log(`new attempts: ${again.attempts.filter(({ isKept }) => !isKept).length}`);
await rm(directory, { recursive: true });
