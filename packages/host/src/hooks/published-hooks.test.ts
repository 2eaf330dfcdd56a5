import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Agent, type Permission, Session, say } from "@banyan/core";
import { call, collect, fail, type Scene, scriptedModel } from "@banyan/core/testing";
import { workspaceTools } from "@banyan/tools/workspace";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { redactor } from "../redaction/redactor.ts";
import { hookEntries, hookNotices } from "./entries.ts";
import { Hooks } from "./hooks.ts";
import { type PublishedHook, publishedConditions, publishedHooks } from "./published-hooks.fixture.ts";

const hasJq = spawnSync("jq", ["--version"]).status === 0;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "banyan-published-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Plays a turn with the hooks of an example. Commands need approval, and no user can be asked. */
async function play({
  hooks: written,
  files = {},
  calls = [],
  answers = 1,
  prompt = "Go.",
}: Omit<PublishedHook, "source" | "right">) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    chmodSync(join(folder, path), 0o755);
  }
  const entries = hookEntries.parse(written);
  const env = { ...process.env, PATH: `${join(folder, "bin")}:${process.env.PATH}` };
  const hooks = new Hooks({ entries, directory: folder, env, redact: redactor({ env: {} }), mode: () => "ask" });
  const session = Session.inMemory();
  hooks.follow(session);
  const scenes: Scene[] = [...calls.map(({ tool, input }) => [call(tool, input)]), ...Array(answers).fill("Done.")];
  const model = scriptedModel([...scenes, [fail("invalid-request", { status: 400 })]]);
  const permission: Permission = ({ input }) =>
    JSON.stringify(input).includes("touch") ? { decision: "ask" } : { decision: "allow" };
  const agent = new Agent({
    model,
    permission,
    unattended: true,
    tools: workspaceTools({ root: folder }),
    hooks: hooks.calls,
    onTurn: hooks.onTurn,
    retry: { attempts: 1 },
  });
  const parts = await hooks.prompt(session, [{ type: "text", text: prompt }]);
  await collect(agent.chat(say(parts), { session }));
  await session.close();
  await hooks.close();
  const statuses = [...session.state.messages.values()].flatMap((message) =>
    message.role === "assistant" ? message.calls.map(({ status }) => status) : [],
  );
  return {
    statuses,
    told: JSON.stringify(model.requests.at(-1)?.messages),
    asked: model.asked,
    notices: hookNotices(entries),
  };
}

describe.skipIf(!hasJq)(
  `F104: hooks of Claude Code's documentation do what it says${hasJq ? "" : " (left out: jq)"}`,
  () => {
    test.each(Object.entries(publishedHooks))("%s", async (_, { right, ...example }) => {
      const { statuses, told, asked, notices } = await play(example);
      if (right.statuses) expect(statuses).toEqual(right.statuses);
      for (const text of right.told ?? []) expect(told).toContain(text);
      for (const [path, content] of Object.entries(right.files ?? {})) {
        const file = join(folder, path);
        expect(existsSync(file) ? readFileSync(file, "utf8") : null, path).toBe(content);
      }
      if (right.asked !== undefined) expect(asked).toBe(right.asked);
      expect(notices).toEqual(right.notices ?? []);
    });
  },
);

test.each(publishedConditions.rows)(
  "F104: a hook with the condition %s: for %s it runs: %s",
  async (rule, text, runs) => {
    const hooks = {
      PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", if: rule, command: "touch ran.txt; exit 2" }] }],
    };
    await play({ hooks, calls: [{ tool: "shell", input: { command: text } }] });
    expect(existsSync(join(folder, "ran.txt"))).toBe(runs);
  },
);
