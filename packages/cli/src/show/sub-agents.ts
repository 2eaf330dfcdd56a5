import { itemSentence } from "@banyan/client/display";
import { subAgentLabel } from "@banyan/client/words";
import type { ConversationState, FeedItem } from "@banyan/core";
import { callIn, type LiveRun, type StayingProcess } from "@banyan/core/conversation";
import { callBegin, callEndText } from "./call-line.ts";
import { plainLine } from "./plain-text.ts";
import type { Style } from "./style.ts";

/** Recognizes the feed items of sub-agents. */
export class SubAgentItems {
  readonly #runs = new Set<string>();

  get atWork(): number {
    return this.#runs.size;
  }

  forget(): void {
    this.#runs.clear();
  }

  /** Returns whether an item belongs to a sub-agent. Call once per item, in order, after the state has the item. */
  has(item: FeedItem, state: ConversationState): boolean {
    if (item.type === "run.started" && item.call !== undefined) this.#runs.add(item.run);
    if (item.type === "run.ended" && this.#runs.delete(item.run)) return true;
    if ("run" in item && typeof item.run === "string" && this.#runs.has(item.run)) return true;
    return "message" in item && state.messages.get(item.message)?.call !== undefined;
  }
}

/** Describes a sub-agent's last action, such as `agent 1: • read  a.txt … done`. Undefined for minor items. */
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
      const begun = callBegin(call, style, Math.max(40, columns - label.length - 2));
      return `${style.dim(`${plainLine(label)}:`)} ${begun}${callEndText(call, style)}`;
    }
    default: {
      const notice = subAgentNotice(item, state);
      return notice === undefined ? undefined : style.dim(notice);
    }
  }
}

/** Describes an event of a sub-agent's run, such as `agent 1: The provider is overloaded. ...`. */
export function subAgentNotice(item: FeedItem, state: ConversationState): string | undefined {
  const sentence = itemSentence(item);
  if (sentence === undefined) return undefined;
  const leaf = "run" in item && typeof item.run === "string" ? state.runs.get(item.run)?.leaf : undefined;
  return `${plainLine(subAgentLabel(state, leaf ?? "") ?? "a sub-agent")}: ${sentence}`;
}

/** Returns the running background commands, oldest first. */
export function runningProcesses({ processes }: Pick<ConversationState, "processes">): StayingProcess[] {
  return [...processes.values()].filter(({ outcome }) => outcome === undefined);
}

/** Returns the live turns on other branches than the branch of `run`. */
export function runsBeside(live: readonly LiveRun[], run: string | undefined): LiveRun[] {
  return live.filter(({ id, call }) => call === undefined && id !== run);
}
