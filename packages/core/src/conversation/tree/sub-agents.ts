import type { Call, Message } from "../message.ts";
import { textOf } from "../message.ts";
import type { ConversationState, LiveRun } from "../state.ts";
import { callIn } from "./call-state.ts";

/** A sub-agent of a conversation: what a call launched. */
export interface SubAgent {
  /** Counts those of the conversation, from 1, in the order in which they began. */
  readonly number: number;
  /** Of the agent, if it has one of its own. */
  readonly name: string | undefined;
  /** What it was told first. */
  readonly task: string;
  /** The call that launched it: its status is how the sub-agent stands. */
  readonly call: Call;
  /** Its run, while it works. */
  readonly run: LiveRun | undefined;
}

/** All sub-agents of a conversation, those of sub-agents too, in the order in which they began. */
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
 * `agent 2`, `agent 2 (reviewer)`: which sub-agent a message is from, in words; nothing when it is from the agent that
 * the person talks with.
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
