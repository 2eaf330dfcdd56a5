import { displayItem, failureName, type NoticeDisplay } from "@banyan/client/display";
import type { Call, ConversationState, FeedItem } from "@banyan/core";
import { callIn, toolNameOf } from "@banyan/core/conversation";
import { counted } from "@banyan/core/shown";
import { callSummary } from "../../../show/call-line.ts";
import { plainLine } from "../../../show/plain-text.ts";
import { SubAgentItems } from "../../../show/sub-agents.ts";

/** The work that the status line above the prompt describes. */
export interface CurrentActivity {
  readonly what: string;
  readonly since: number;
  /** True if work waits for the user. */
  readonly isWaiting: boolean;
  readonly agents: number;
  /** End time in milliseconds since 1970, for a countdown; absent if unknown. */
  readonly until?: number | undefined;
}

const NAME = 200;

/** Follows the agent's work in the feed (T25), and recognizes items of sub-agents. */
export class ActivityTracker {
  readonly #running = new Map<string, Call>();
  readonly #agents = new SubAgentItems();
  #run: string | undefined;
  #doing: CurrentActivity | undefined;
  /** Work that the user started. The last entry is shown. */
  readonly #own: CurrentActivity[] = [];
  #isStopping = false;

  get isBusy(): boolean {
    return this.#run !== undefined;
  }

  get doing(): CurrentActivity | undefined {
    return this.isBusy ? this.#doing : this.#own.at(-1);
  }

  /** Shows work that the user started, until the returned function is called. */
  own(what: string): () => void {
    const doing = { what: plainLine(what), since: Date.now(), isWaiting: false, agents: 0 };
    this.#own.push(doing);
    return () => {
      this.#own.splice(this.#own.indexOf(doing), 1);
    };
  }

  stop(): void {
    if (!this.isBusy) return;
    this.#isStopping = true;
    this.#set("stopping");
  }

  /** The state was replaced. Returns whether a shown run ended with that. */
  follow(state: ConversationState | undefined): boolean {
    if (this.#run === undefined || state?.runs.has(this.#run)) return false;
    this.#run = undefined;
    this.#running.clear();
    this.#agents.forget();
    return true;
  }

  /** Without a connection the agent's work is unknown. */
  connected(isConnected: boolean, state: ConversationState): void {
    if (!this.isBusy) return;
    if (isConnected) this.#settle(state);
    else this.#set("not connected");
  }

  /** Handles an item. Returns whether it belongs to a sub-agent, which the transcript omits. */
  note(item: FeedItem, state: ConversationState, display = displayItem(item)): boolean {
    if (this.#agents.has(item, state)) {
      this.#settle(state);
      return true;
    }
    switch (display?.type) {
      case "run-start":
        this.#run = display.run;
        this.#isStopping = false;
        this.#set("waiting for the model");
        break;
      case "run-end":
        if (display.run !== this.#run) break;
        this.#run = undefined;
        this.#running.clear();
        break;
      case "message-start":
        this.#set("waiting for the model");
        break;
      case "text":
        this.#set(display.kind === "text" ? "writing" : "thinking");
        break;
      case "call-input":
        this.#set(`writing a call of ${plainLine(display.tool)}`);
        break;
      case "notice":
        this.#noteNotice(display, state);
        break;
      case "question":
      case "answer":
        if (display.about === "call") this.#noteCall(callIn(state, display), state);
        else this.#settle(state);
        break;
      case "call":
        if (display.status === "executing") this.#noteCall(callIn(state, display), state);
        break;
      case "call-end":
        this.#noteCall(callIn(state, display), state);
        break;
      case "message":
      case "message-end":
      case "message-discard":
      case "call-output":
      case "call-draft":
      case "file-change":
      case "memory":
      case "delivery":
      case "goal":
      case "process":
      case undefined:
        break;
      default:
        display satisfies never;
    }
    return false;
  }

  #noteNotice({ notice }: NoticeDisplay, state: ConversationState): void {
    switch (notice.type) {
      case "context.shortening":
        return this.#set("compacting the conversation");
      case "context.not-shortened":
        return this.#settle(state);
      case "model.retrying":
        return this.#set(
          notice.attempt === 1 ? "waiting for the rate limit" : `${failureName(notice)}, attempt ${notice.attempt}`,
          { until: notice.nextAt },
        );
      case "model.waiting": {
        const since = Date.now() - notice.time;
        return this.#set(notice.alive ? "thinking, the connection is alive" : "nothing from the model", { since });
      }
    }
  }

  #noteCall(call: Call | undefined, state: ConversationState): void {
    if (!call) return;
    if (call.status === "executing") this.#running.set(call.id, call);
    else this.#running.delete(call.id);
    this.#settle(state);
  }

  #settle({ questions }: ConversationState): void {
    const [first, ...others] = this.#running.values();
    if (questions.size > 0) return this.#set("waiting for you", { isWaiting: true });
    if (!first) return this.#set("waiting for the model");
    const what = others.length > 0 ? `running ${others.length + 1} calls` : running(first);
    const agents = this.#agents.atWork;
    this.#set(agents > 0 ? `${what}, ${counted(agents, "sub-agent")}` : what, { agents });
  }

  #set(
    what: string,
    { isWaiting = false, agents = 0, since = Date.now(), until }: Partial<Omit<CurrentActivity, "what">> = {},
  ): void {
    if (this.#isStopping && what !== "stopping") return;
    if (this.#doing?.what !== what) this.#doing = { what, since, isWaiting, agents, until };
  }
}

function running(call: Call): string {
  const summary = callSummary(call, NAME);
  const tool = call.about?.command !== undefined && summary !== "" ? "" : `${plainLine(toolNameOf(call))} `;
  return `running ${tool}${summary}`.trimEnd();
}
