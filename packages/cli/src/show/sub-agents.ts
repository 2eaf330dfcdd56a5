import type { Call, ConversationState, FeedItem, Message } from "@banyan/core";
import { callIn, type LiveRun, type StayingProcess, textOf } from "@banyan/core/conversation";
import { toldItem } from "@banyan/core/shown";
import { callEnd, callHead } from "./call-line.ts";
import { oneLine } from "./plain-text.ts";
import type { Style } from "./style.ts";

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

/** Tells the items of a feed that are a sub-agent's from those of the agent that the person talks with. */
export class SubAgentItems {
  readonly #runs = new Set<string>();

  /** Runs of sub-agents that have not ended. */
  get atWork(): number {
    return this.#runs.size;
  }

  /** What was at work is not any more. */
  forget(): void {
    this.#runs.clear();
  }

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

/** `agent 1: • read  a.txt … done`: what a sub-agent has just done, on one line; nothing for what is not worth one. */
export function subAgentLine(
  item: FeedItem,
  state: ConversationState,
  style: Style,
  columns: number,
): string | undefined {
  switch (item.type) {
    case "call.completed":
    case "call.failed":
    case "call.denied":
    case "call.cancelled": {
      const call = callIn(state, item);
      const label = subAgentLabel(state, item.message);
      if (!call || label === undefined) return undefined;
      const head = callHead(call, style, Math.max(40, columns - label.length - 2));
      return `${style.dim(`${oneLine(label)}:`)} ${head} … ${callEnd(call, style)}`;
    }
    default: {
      const told = subAgentTold(item, state);
      return told === undefined ? undefined : style.dim(told);
    }
  }
}

/** `agent 1: The provider is overloaded. ...`: what is told of a sub-agent's run beside what it does. */
export function subAgentTold(item: FeedItem, state: ConversationState): string | undefined {
  const told = toldItem(item);
  if (told === undefined) return undefined;
  const leaf = "run" in item && typeof item.run === "string" ? state.runs.get(item.run)?.leaf : undefined;
  return `${oneLine(subAgentLabel(state, leaf ?? "") ?? "a sub-agent")}: ${told}`;
}

/** What calls began and what goes on beside the agent, in the background, the oldest first. */
export function runningProcesses({ processes }: Pick<ConversationState, "processes">): StayingProcess[] {
  return [...processes.values()].filter(({ outcome }) => outcome === undefined);
}
