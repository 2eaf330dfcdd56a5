import { expect } from "vitest";
import { Agent, type AgentOptions } from "../agent/agent.ts";
import type { AssistantMessage, Call } from "../conversation/message.ts";
import type { Tool } from "../ports/tool.ts";
import { Session } from "../session/session.ts";
import { type Beat, scriptedModel } from "../testing/index.ts";

const OBJECT = { type: "object" } as const;

/** A tool without effects that accepts any arguments. */
export function tool(name: string, execute: Tool["execute"], more: Partial<Tool> = {}): Tool {
  return { name, description: name, input: OBJECT, effects: "none", execute, ...more };
}

/** Runs a step with these calls and a step with a text. Returns the ended calls. */
export async function callsOf(
  beats: readonly Beat[],
  tools: readonly Tool[],
  more: Partial<AgentOptions> = {},
): Promise<readonly Call[]> {
  const session = Session.inMemory();
  const model = scriptedModel([beats, "done"]);
  const turn = await new Agent({ model, tools, ...more }).send("go", { session });
  expect(turn.text).toBe("done");
  return firstResponse(session).calls;
}

export function firstResponse(session: Session): AssistantMessage {
  for (const message of session.state.messages.values()) if (message.role === "assistant") return message;
  throw new Error("There is no answer.");
}
