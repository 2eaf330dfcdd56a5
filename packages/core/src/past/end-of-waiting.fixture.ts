import { expect } from "vitest";
import { Agent } from "../agent/agent.ts";
import { resume, say } from "../agent/directive.ts";
import type { Event } from "../conversation/event.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool } from "../ports/tool.ts";
import type { Effects } from "../ports/tool-values.ts";
import type { Answer } from "../ports/verdict.ts";
import type { Limits } from "../run/limits.ts";
import { Session } from "../session/session.ts";
import { checkConversation, collect, type Scene, type ScriptedModel, scriptedModel } from "../testing/index.ts";
import { storeOf } from "../turn/store-of.fixture.ts";

/** The end of the asking process. */
export const ENDS = ["kill", "close", "leave"] as const;

export type End = (typeof ENDS)[number];

/** Started calls, by name and attempt. */
export class Started {
  readonly names: string[] = [];

  tool(name: string, effects: Effects, execute: Tool["execute"] = () => `${name} done`): Tool {
    return defineTool({
      name,
      description: "",
      input: { type: "object" },
      effects,
      execute: (input, context) => {
        this.names.push(name);
        return execute(input, context);
      },
    });
  }
}

export interface Waiting {
  readonly scenes: readonly Scene[];
  readonly tools: readonly Tool[];
  readonly asks?: readonly string[];
  readonly limits?: Limits;
  readonly mode?: "chat" | "task";
}

export function agentOf({ tools, asks = [], limits, mode }: Waiting, model: ScriptedModel): Agent {
  const permission = ({ tool }: { tool: Tool }) =>
    asks.includes(tool.name) ? ({ decision: "ask" } as const) : ({ decision: "allow" } as const);
  return new Agent({ model, tools, permission, ...(limits && { limits }), ...(mode && { mode }) });
}

/** Takes a turn until this many questions are open, then ends its process. The log remains, without later appends. */
export async function ended(waiting: Waiting, end: End, { questions = 1, before = async (_: Session) => {} } = {}) {
  const events: Event[] = [];
  const session = await Session.open(storeOf(events), "x");
  const agent = agentOf(waiting, scriptedModel(waiting.scenes));
  const feed = agent.chat(say("Go"), { session })[Symbol.asyncIterator]();
  while (session.openQuestions.length < questions) await feed.next();
  await before(session);
  const open = structuredClone(session.openQuestions);
  // The log lags behind the state.
  while (!open.every(({ id }) => JSON.stringify(events).includes(id))) await new Promise(setImmediate);
  if (end === "kill") {
    const left = structuredClone(events);
    await session.close();
    return { events: left, open };
  }
  if (end === "leave") await feed.return?.();
  await session.close();
  return { events, open };
}

/** Opens the remaining log, answers, and continues to the end of the turn. */
export async function goneOn(left: Event[], waiting: Waiting, scenes: readonly Scene[], answers: readonly Answer[]) {
  const session = await Session.open(storeOf(left), "x");
  for (const answer of answers) await session.answer(session.openQuestions[0]?.id ?? "", answer);
  const model = scriptedModel(scenes);
  const items = await collect(agentOf(waiting, model).chat(resume(), { session }));
  expect(checkConversation(session.state, left)).toEqual([]);
  return { session, model, items };
}
