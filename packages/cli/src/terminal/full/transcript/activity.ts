import type { Call, ConversationState, FeedItem } from "@banyan/core";
import { callIn, toolOf } from "@banyan/core/conversation";
import type { ToldType, UntoldType } from "@banyan/core/shown";
import { counted, hitchName } from "@banyan/core/shown";
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

/** It does not change what the agent does, or what it does then is told by what follows. */
type ShownElsewhere =
  | ToldType
  | `call.${"pending" | "draft.delta" | "output.delta"}`
  | `message.${"added" | "completed" | "abandoned"}`
  | "memory.recalled"
  | "file.changed"
  | "input.delivered";

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
  note(item: FeedItem, state: ConversationState): boolean {
    if (this.#agents.has(item, state)) {
      this.#settle(state);
      return true;
    }
    switch (item.type) {
      case "run.started":
        this.#run = item.run;
        this.#isStopping = false;
        this.#set("waiting for the model");
        break;
      case "run.ended":
        if (item.run !== this.#run) break;
        this.#run = undefined;
        this.#running.clear();
        break;
      case "message.started":
        this.#set("waiting for the model");
        break;
      case "reasoning.delta":
        this.#set("thinking");
        break;
      case "context.shortening":
        this.#set("summing up the earlier conversation");
        break;
      case "context.not-shortened":
        this.#settle(state);
        break;
      case "text.delta":
        this.#set("writing");
        break;
      case "call.input.delta":
        this.#set(`writing a call of ${oneLine(item.tool)}`);
        break;
      case "model.retrying":
        this.#set(`${hitchName(item)}, attempt ${item.attempt}`, { until: item.nextAt });
        break;
      case "model.waiting":
        if (item.alive) this.#set("thinking, the connection is alive", { since: Date.now() - item.time });
        else this.#set("nothing from the model", { since: Date.now() - item.time });
        break;
      case "question.asked":
      case "question.answered":
      case "run.paused":
      case "run.continued":
        this.#settle(state);
        break;
      case "call.approval-requested":
      case "call.approval-resolved":
      case "call.executing":
      case "call.completed":
      case "call.failed":
      case "call.denied":
      case "call.cancelled":
        this.#noteCall(callIn(state, item), state);
        break;
      default:
        item.type satisfies UntoldType | ShownElsewhere;
    }
    return false;
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
