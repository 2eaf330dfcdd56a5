import { Agent, type AgentOptions } from "../agent/agent.ts";
import { launchAgent } from "../agent/control/launch-agent.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ModelRequest } from "../ports/model.ts";
import type { Session } from "../session/session.ts";
import { type Beat, call, scriptedModel } from "../testing/scripted-model.ts";

export const act = defineTool({
  name: "act",
  description: "Acts.",
  input: { type: "object" },
  effects: "none",
  execute: () => "done",
});

/** A call that launches a sub-agent. */
export const launch = (task: string, more: object = {}) =>
  call("launch_agent", { task, expected_output: "words", ...more });

/** Returns the text of the first user message of a request: the task of a sub-agent, or the message of a user. */
export function taskOf({ messages }: ModelRequest): string {
  const first = messages.find(({ role }) => role === "user");
  const [part] = first?.role === "user" ? first.parts : [];
  return part?.type === "text" ? (part.text.split("\n")[0] ?? "") : "";
}

/** Number of earlier responses in a request. */
const round = ({ messages }: ModelRequest) => messages.filter(({ role }) => role === "assistant").length;

/** An agent with sub-agents, whose model answers by task and by number of earlier responses. */
export function agentOf(
  scene: (task: string, round: number) => string | readonly Beat[],
  options: Partial<AgentOptions> = {},
) {
  const model = scriptedModel((request) => scene(taskOf(request), round(request)));
  return { model, agent: new Agent({ model, tools: [act, launchAgent()], compaction: false, ...options }) };
}

/** Returns the results of the calls in the user's own conversation. */
export function resultsIn(session: Session): string[] {
  const messages = [...session.state.messages.values()].filter(({ call: of }) => of === undefined);
  return messages.flatMap((message) =>
    message.role === "assistant" ? message.calls.map(({ output = "" }) => output) : [],
  );
}
