import { displayItem, failureName, type NoticeDisplay } from "@banyan/client/display";
import type { Call, ConversationState, FeedItem } from "@banyan/core";
import { callIn, toolOf } from "@banyan/core/conversation";
import { counted } from "@banyan/core/shown";
import { callSummary } from "../../../show/call-line.ts";
import { oneLine } from "../../../show/plain-text.ts";
import { SubAgentItems } from "../../../show/sub-agents.ts";

/** What the agent does at the moment, and since when. */
export interface Doing {
  readonly what: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Nothing goes on before the person does something. */
  readonly isWaiting: boolean;
  /** Sub-agents that are at work on it. */
  readonly agents: number;
  /** When it ends, in milliseconds since 1970, where that is known: it counts down. */
  readonly until?: number | undefined;
}

/** Columns that the name of a running call may take. */
const NAME = 200;

/** Follows what an agent does, from its feed (T25), and which items are about sub-agents. */
export class Activities {
  readonly #running = new Map<string, Call>();
  readonly #agents = new SubAgentItems();
  #run: string | undefined;
  #doing: Doing | undefined;
  /** What is done for the person; the last one counts. */
  readonly #own: Doing[] = [];
  #isStopping = false;

  get isBusy(): boolean {
    return this.#run !== undefined;
  }

  get doing(): Doing | undefined {
    return this.isBusy ? this.#doing : this.#own.at(-1);
  }

  /** Something is done for the person, until the answer is called. */
  own(what: string): () => void {
    const doing = { what: oneLine(what), since: Date.now(), isWaiting: false, agents: 0 };
    this.#own.push(doing);
    return () => {
      this.#own.splice(this.#own.indexOf(doing), 1);
    };
  }

  /** The person wants it to stop. */
  stop(): void {
    if (!this.isBusy) return;
    this.#isStopping = true;
    this.#set("stopping");
  }

  /** The state is another one now. Returns whether the agent worked and does not any more. */
  follow(state: ConversationState | undefined): boolean {
    if (this.#run === undefined || state?.runs.has(this.#run)) return false;
    this.#run = undefined;
    this.#running.clear();
    this.#agents.forget();
    return true;
  }

  /** What the agent does is not known without a connection, and is when it is back. */
  connected(isConnected: boolean, state: ConversationState): void {
    if (!this.isBusy) return;
    if (isConnected) this.#settle(state);
    else this.#set("not connected");
  }

  /** Takes an item; returns whether it is about a sub-agent, which the transcript passes over. */
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
        this.#set(`writing a call of ${oneLine(display.tool)}`);
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
        return this.#set(`${failureName(notice)}, attempt ${notice.attempt}`, { until: notice.nextAt });
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
    { isWaiting = false, agents = 0, since = Date.now(), until }: Partial<Omit<Doing, "what">> = {},
  ): void {
    if (this.#isStopping && what !== "stopping") return;
    if (this.#doing?.what !== what) this.#doing = { what, since, isWaiting, agents, until };
  }
}

function running(call: Call): string {
  const summary = callSummary(call, NAME);
  const tool = call.about?.command !== undefined && summary !== "" ? "" : `${oneLine(toolOf(call))} `;
  return `running ${tool}${summary}`.trimEnd();
}
