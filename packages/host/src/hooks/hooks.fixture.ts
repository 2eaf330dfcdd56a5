import { itemSentence } from "@banyan/client/display";
import { Agent, type Permission, Session, say } from "@banyan/core";
import { call, collect, scriptedModel } from "@banyan/core/testing";
import { workspaceTools } from "@banyan/tools/workspace";
import { redactor } from "../redaction/redactor.ts";
import type { HookEntries } from "./entries.ts";
import { Hooks } from "./hooks.ts";

/** Runs a turn with one call and hooks. Returns the call, the input of the hooks, and the messages. */
export async function turn(
  root: string,
  entries: HookEntries,
  tool: string,
  input: object,
  { permission, answers = ["Done."] }: { permission?: Permission; answers?: string[] } = {},
) {
  const hooks = new Hooks({
    entries,
    directory: root,
    env: process.env,
    redact: redactor({ env: {} }),
    mode: () => "ask",
  });
  const session = Session.inMemory();
  hooks.follow(session);
  const model = scriptedModel([[call(tool, input as never, "a call")], ...answers]);
  const agent = new Agent({
    model,
    tools: workspaceTools({ root }),
    unattended: true,
    hooks: hooks.calls,
    onTurn: hooks.onTurn,
    ...(permission && { permission }),
  });
  const problems: string[] = [];
  session.listen({
    items: (items) => {
      for (const item of items) if (item.type === "callback.failed") problems.push(itemSentence(item) ?? "");
    },
    ended() {},
  });
  await collect(agent.chat(say("Go."), { session }));
  await session.close();
  await hooks.close();
  const asked = [...session.state.messages.values()].flatMap((message) =>
    message.role === "assistant" ? message.calls : [],
  );
  return { call: asked[0], problems, requests: model.requests, session };
}
