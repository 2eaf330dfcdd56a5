import type { Call, ConversationState, FeedItem, Message } from "@banyan/core";
import { type LiveRun, textOf } from "@banyan/core/conversation";

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
    const call = launchingCall(state, first.call);
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
  const name = launchingCall(state, call)?.about?.agent;
  return `agent ${number}${name === undefined ? "" : ` (${name})`}`;
}

/** Tells the items of a feed that are a sub-agent's from those of the agent that the person talks with. */
export class SubAgentItems {
  /** Runs of sub-agents that have not ended. */
  readonly #runs = new Set<string>();

  /** Whether an item is a sub-agent's; each is to be asked about once, in order. The state has it already. */
  has(item: FeedItem, state: ConversationState): boolean {
    if (item.type === "run.started" && item.call !== undefined) this.#runs.add(item.run);
    if (item.type === "run.ended" && this.#runs.delete(item.run)) return true;
    if ("run" in item && typeof item.run === "string" && this.#runs.has(item.run)) return true;
    return "message" in item && state.messages.get(item.message)?.call !== undefined;
  }
}

function firstMessages(state: ConversationState): Message[] {
  return [...state.messages.values()].filter(({ parentId, call }) => parentId === null && call !== undefined);
}

function launchingCall(state: ConversationState, id = ""): Call | undefined {
  const message = state.messages.get(state.calls.get(id) ?? "");
  return message?.role === "assistant" ? message.calls.find((call) => call.id === id) : undefined;
}
