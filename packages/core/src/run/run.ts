import type { DeltaSource } from "../conversation/feed-item.ts";
import { createId } from "../conversation/id.ts";
import type { AssistantMessage, Call, UserMessage } from "../conversation/message.ts";
import { deliver, inputsFor } from "../conversation/tree/inbox.ts";
import type { SpentBefore } from "../conversation/usage.ts";
import { orAborted } from "../model/alarm.ts";
import type { ResponseBounds } from "../model/response-size.ts";
import type { CallHooks, Permission } from "../ports/human.ts";
import type { LoopDriver } from "../ports/loop.ts";
import type { Memory } from "../ports/memory.ts";
import type { ModelDriver, ModelError, ModelSettings } from "../ports/model.ts";
import type { SubTask, SubTaskEnd, Tool } from "../ports/tool.ts";
import type { FeedReader } from "../session/feed.ts";
import type { Session } from "../session/session.ts";
import { messageOf } from "../toolbox/execute.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";
import type { Begun } from "./begun.ts";
import type { Branch } from "./branch.ts";
import type { Followers } from "./followers.ts";
import type { Budget, Limits } from "./limits.ts";
import type { Mode } from "./mode.ts";
import type { Progress } from "./progress.ts";
import type { Repeats } from "./repeats.ts";

/** How a model call that failed is asked again, while nothing of its response was acted on, and when it counts as failed. */
export interface RetrySettings {
  /**
   * Model calls for one response, the first included. Default: as many as `time` has room for.
   * @example new Agent({ model, retry: { attempts: 1 } });
   */
  readonly attempts?: number | undefined;
  /**
   * Milliseconds from the first failure after which no further attempt begins. Default 300,000.
   * @example new Agent({ model, retry: { time: 60_000 } });
   */
  readonly time?: number | undefined;
  /**
   * Milliseconds before the second attempt, doubled for each further one, give or take a quarter. What a provider asks
   * for comes first; no pause is shorter than this. Default 1,000.
   * @example new Agent({ model, retry: { delay: 200 } });
   */
  readonly delay?: number | undefined;
  /**
   * The longest pause in milliseconds, where the provider asks for none. Default 60,000.
   * @example new Agent({ model, retry: { maxDelay: 10_000 } });
   */
  readonly maxDelay?: number | undefined;
  /**
   * Milliseconds without a sign of life after which a connection counts as broken. Default 120,000.
   * @example new Agent({ model, retry: { idle: 10 * 60_000 } });
   */
  readonly idle?: number | undefined;
}

/**
 * What a library user can be told besides the feed. All are optional, and may return a promise. What one throws or rejects
 * never harms the turn; the feed tells it as `callback.failed`, once in a turn for each.
 */
export interface Callbacks {
  /**
   * Whether the turn waits for the promises that they return, until it is interrupted. Default `false`.
   * @example new Agent({ model, callbacks: { awaited: true, onAnswer: (message) => saved(message) } });
   */
  readonly awaited?: boolean | undefined;
  /**
   * A response has begun.
   * @example new Agent({ model, callbacks: { onMessage: ({ id }) => console.log("began", id) } });
   */
  onMessage?(message: AssistantMessage): unknown;
  /**
   * A response asked for these calls, which are as it asked for them: nothing is known of any, and none has started.
   * @example new Agent({ model, callbacks: { onCalls: (calls) => console.log(calls.map(({ tool }) => tool)) } });
   */
  onCalls?(calls: readonly Call[], message: AssistantMessage): unknown;
  /**
   * A call has its result.
   * @example new Agent({ model, callbacks: { onCall: ({ tool, status }) => console.log(tool, status) } });
   */
  onCall?(call: Call, message: AssistantMessage): unknown;
  /**
   * A message came in while the turn ran.
   * @example new Agent({ model, callbacks: { onInterjection: (message) => console.log(textOf(message)) } });
   */
  onInterjection?(message: UserMessage): unknown;
  /**
   * A model call failed, whether or not it is tried again.
   * @example new Agent({ model, callbacks: { onModelError: ({ code, detail }) => console.error(code, detail) } });
   */
  onModelError?(error: ModelError): unknown;
  /**
   * The response that ended the turn.
   * @example new Agent({ model, callbacks: { onAnswer: (message) => console.log(textOf(message)) } });
   */
  onAnswer?(message: AssistantMessage): unknown;
}

/**
 * Stores the text of a message as a file. Returns the path at which the agent's tools read the file.
 *
 * @param at The conversation, the id of the message, and the worktree of the branch, if it has one.
 */
export type StoreText = (
  text: string,
  at: { readonly conversation: string; readonly message: string; readonly worktree: string | undefined },
) => Promise<string>;

/** Tokens of a text. */
export type CountTokens = (text: string) => number | Promise<number>;

/** When and how a conversation is made shorter, as parts of the model's context. */
export interface Compaction {
  /** Summaries are made without a user who asks for them. */
  readonly automatic: boolean;
  /** The name of the model that writes summaries; that of the turn when absent. */
  readonly model: string | undefined;
  /** The user's words for all summaries. */
  readonly instructions: string | undefined;
  /** Summaries are made while turns go on. Absent: as the model's server allows. */
  readonly background: boolean | undefined;
  /** From here on the model is reminded that it may shorten the conversation. */
  readonly hint: number;
  /** From here on it is shortened before the next model call. */
  readonly threshold: number;
  /**
   * Tokens that a request and its response can have together; where it is unknown, only the provider can say that it is
   * too much.
   */
  readonly contextSize: number | undefined;
  readonly count: CountTokens;
  /** The server has refused a request as too long: of its counts and our own, the larger one counts. */
  readonly wasRefused?: true;
}

/** An agent, made ready to take turns. */
export interface TurnAgent {
  readonly name: string;
  /** What writes its messages: a model, asked step by step, or a loop that runs whole turns. */
  readonly model: ModelDriver | LoopDriver;
  /** The same with the model of a name; absent where a turn keeps its model. */
  readonly modelNamed: ((name: string) => Promise<TurnAgent>) | undefined;
  /** The models that may still stand in for its own in this turn, by their names. */
  readonly fallbacks: readonly string[];
  /** Those of its mode included. */
  readonly instructions: { readonly text: string; readonly digest: string };
  /** Its own, and the tools of its mode. */
  readonly toolbox: Toolbox;
  /** What it was given, without what its mode and its model bring: for sub-agents. */
  readonly own: { readonly instructions: string; readonly tools: readonly Tool[]; readonly settings: ModelSettings };
  readonly mode: Mode;
  /** What its sub-agents work in. */
  readonly taskMode: Mode;
  /** Nobody can be asked. */
  readonly unattended: boolean;
  readonly hooks: CallHooks;
  readonly compaction: Compaction | undefined;
  readonly storeText: StoreText | undefined;
  /** Runs its sub-agents. */
  readonly launch: Launch;
  readonly settings: ModelSettings;
  readonly limits: Limits;
  readonly retry: RetrySettings;
  readonly bounds: ResponseBounds;
  readonly memory: { readonly store: Memory; readonly limit: number; readonly timeout: number } | undefined;
  readonly permission: Permission | undefined;
  readonly callbacks: Callbacks;
  /** Calls of a response that run at once. */
  readonly callsAtOnce: number;
}

/** Runs a sub-agent for a call of a run. */
export type Launch = (run: TurnRun, call: Launching, task: SubTask) => Promise<SubTaskEnd>;

/** The call that launches, and what ends its sub-agent. */
export interface Launching {
  readonly call: string;
  readonly signal: AbortSignal;
  /** Whether the call can run again in another process. */
  readonly isRepeatable: boolean;
}

/**
 * One turn under way, as one part of it has it. It never changes: a part that has less time, or another model, is handed a
 * run of its own, with another `signal` or `agent` and the rest shared. What changes while the turn goes on is for an
 * object to say: `branch`, `budget`, `repeats`, `followers`, `begun`, `progress`.
 */
export interface TurnRun {
  readonly id: string;
  readonly session: Session;
  /** As it works in this step. */
  readonly agent: TurnAgent;
  /** What began the turn, if it says so. */
  readonly client: string | undefined;
  readonly branch: Branch;
  /** Where on the branch's path the messages of this turn begin. */
  readonly from: number;
  readonly budget: Budget;
  readonly repeats: Repeats;
  /** Whose voice what it streams is. */
  readonly source: DeltaSource;
  /** Marks what this run publishes. */
  readonly origin: object;
  /** Who reads the run and can make it wait. */
  readonly reader: FeedReader | undefined;
  /** Aborts when the run is interrupted, or, within a part that has its time, when that is up. */
  readonly signal: AbortSignal;
  /** Aborts when it is interrupted once more while it ends. */
  readonly hurry: AbortSignal;
  /** The call that launched it, when it is the run of a sub-agent. */
  readonly call: string | undefined;
  /** The run that waited for a user, and whose turn this run continues. */
  readonly continues: string | undefined;
  /** Usage of the earlier turns whose limits this turn shares. */
  readonly before: SpentBefore | undefined;
  /** Another process can go on with it: its questions stay open when this process ends. */
  readonly survives: boolean;
  readonly followers: Followers;
  /** What its calls began and may not have waited for. */
  readonly begun: Begun;
  readonly progress: Progress;
}

/** A run, and the model that it asks: the one of its agent. */
export interface Asking {
  readonly run: TurnRun;
  readonly model: ModelDriver;
}

/** How a turn goes on with another model where its own stays out, if it does. */
export type StandIn = (error: ModelError) => Promise<Asking | undefined>;

/** The message of this id, which the caller knows to be a response. */
export function assistantMessage(session: Session, id: string): AssistantMessage {
  const message = session.state.messages.get(id);
  if (message?.role !== "assistant") throw new Error(`Message ${id} is not an answer of this conversation.`);
  return message;
}

/** A callback, without those that only say how they are called. */
type CallbackName = Exclude<keyof Callbacks, "awaited">;

/** Calls a callback, if there is one; returns a promise only where it is to be waited for, which never rejects. */
export function tell<Name extends CallbackName>(
  run: TurnRun,
  name: Name,
  ...told: Parameters<NonNullable<Callbacks[Name]>>
): void | Promise<void> {
  const { callbacks } = run.agent;
  const callback = callbacks[name] as ((...told: unknown[]) => unknown) | undefined;
  if (!callback) return;
  const failed = (error: unknown) => {
    if (!run.progress.callbackFailed(name)) return;
    run.session.notify({ type: "callback.failed", callback: name, reason: messageOf(error) }, run.origin);
  };
  try {
    const returned = callback.apply(callbacks, told);
    if (typeof (returned as PromiseLike<unknown> | undefined)?.then !== "function") return;
    const heard = Promise.resolve(returned).then(() => {}, failed);
    // Interrupted, or out of time, it is waited for no more: whoever loops sees that.
    if (callbacks.awaited) return Promise.resolve(orAborted(heard, run.signal)).catch(() => {});
  } catch (error) {
    failed(error);
  }
}

/** Tells the user what was changed in a request, or is odd about it: once while the session is open. */
export function tellOnce({ session, id: run, origin }: TurnRun, reason: string): void {
  if (session.leftOut.has(reason)) return;
  session.leftOut.add(reason);
  session.notify({ type: "request.changed", run, reason }, origin);
}

/** Delivers what steers the run, at the end of its branch; returns whether there was anything. */
export async function deliverSteering(run: TurnRun): Promise<boolean> {
  const { session, branch, origin, id } = run;
  const inputs = inputsFor(session.state, id).filter(({ delivery }) => delivery === "steer");
  if (inputs.length === 0) return false;
  await session.commit(deliver(inputs, branch.leaf, id), { durable: true, origin });
  for (const input of inputs) {
    const message = branch.extend(input.id);
    if (message.role === "user") await tell(run, "onInterjection", message);
  }
  return true;
}

/** Says something to the model that no person said. */
export async function tellModel({ id: run, session, branch, origin }: TurnRun, text: string): Promise<void> {
  const message = createId();
  const added = { type: "message.added", message, parentId: branch.leaf, run, role: "user" } as const;
  await session.commit([{ ...added, author: "system", parts: [{ type: "text", text }] }], { origin });
  branch.extend(message);
}
