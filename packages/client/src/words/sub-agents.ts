import {
  type Call,
  type ConversationState,
  callIn,
  type LiveRun,
  type Message,
  textOf,
} from "@banyan/core/conversation";

/** A sub-agent of a conversation. See {@link subAgentsOf}. */
export interface SubAgent {
  /** Number within the conversation, from 1, in order of launch. */
  readonly number: number;
  /** Name of the agent, if it has its own. */
  readonly name: string | undefined;
  /** The first message to the sub-agent. */
  readonly task: string;
  /** The call that launched the sub-agent. The status of this call is also the status of the sub-agent. */
  readonly call: Call;
  /** The live run of the sub-agent. Absent if the sub-agent is not working. */
  readonly run: LiveRun | undefined;
}

/**
 * Returns all sub-agents of a conversation, nested ones included, in order of launch.
 * @example console.log(`${subAgentsOf(session.state).length} sub-agents`);
 */
export function subAgentsOf(state: ConversationState): SubAgent[] {
  const runs = [...state.runs.values()];
  return firstMessages(state).flatMap((first, index) => {
    const call = callIn(state, { call: first.call ?? "" });
    if (!call) return [];
    const run = runs.find((live) => live.call === call.id);
    return [{ number: index + 1, name: call.about?.agent, task: textOf(first), call, run }];
  });
}

/**
 * Returns the name of a message's sub-agent, such as `agent 2 (reviewer)`; nothing for the user's own agent.
 * @example
 * for (const id of session.state.messages.keys()) console.log(subAgentLabel(session.state, id) ?? "main agent");
 */
export function subAgentLabel(state: ConversationState, message: string): string | undefined {
  const call = state.messages.get(message)?.call;
  if (call === undefined) return undefined;
  const number = firstMessages(state).findIndex((first) => first.call === call) + 1;
  const name = callIn(state, { call })?.about?.agent;
  return `agent ${number}${name === undefined ? "" : ` (${name})`}`;
}

function firstMessages(state: ConversationState): Message[] {
  return [...state.messages.values()].filter(({ parentId, call }) => parentId === null && call !== undefined);
}
