import { errorMessage } from "../conversation/error-message.ts";
import type { DeltaSource } from "../conversation/feed-item.ts";
import { createId } from "../conversation/id.ts";
import type { AssistantMessage, Call, Message, UserMessage } from "../conversation/message.ts";
import type { EarlierUsage } from "../conversation/usage.ts";
import { orAborted } from "../model/alarm.ts";
import type { ResponseBounds } from "../model/response-size.ts";
import type { Goal } from "../ports/goal.ts";
import type { Guards } from "../ports/guards.ts";
import type { CallHooks, Permission } from "../ports/human.ts";
import type { Memory } from "../ports/memory.ts";
import type { ModelDriver, ModelError, ModelSettings, ToolChoice } from "../ports/model.ts";
import type { RateLimit } from "../ports/rate-limit.ts";
import type { LoopDriver, SubTask, TaskAgent, Tool } from "../ports/tool.ts";
import type { SubTaskEnd } from "../ports/tool-values.ts";
import type { FeedReader } from "../session/feed.ts";
import type { Session } from "../session/session.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";
import type { RunBranch } from "./branch.ts";
import type { Followers } from "./followers.ts";
import type { Budget, Limits } from "./limits.ts";
import type { Mode } from "./mode.ts";
import type { TurnProgress } from "./progress.ts";
import type { Repeats } from "./repeats.ts";
import type { TurnWork } from "./turn-work.ts";

/**
 * Settings for the retries of failed model calls, and for the timeout of model calls that send no data.
 * @example
 * const retry: RetrySettings = { attempts: 3, time: 60_000, delay: 200, maxDelay: 10_000, idle: 10 * 60_000, results: 3 };
 * new Agent({ model, retry });
 */
export interface RetrySettings {
  /** Maximum model calls for one response, the first included. Default: as many as `time` allows. */
  readonly attempts?: number | undefined;
  /** Milliseconds after the first failure in which further attempts can begin. Default 300,000. */
  readonly time?: number | undefined;
  /**
   * Milliseconds before the second attempt. Doubled for each further attempt, with a random change of up to a quarter.
   * A delay that the provider requests takes precedence, but no pause is shorter than this value. Default 1,000.
   */
  readonly delay?: number | undefined;
  /** Longest pause in milliseconds, unless the provider requests a longer pause. Default 60,000. */
  readonly maxDelay?: number | undefined;
  /** Milliseconds of silence after which a connection counts as broken. Default 120,000. */
  readonly idle?: number | undefined;
  /** Maximum results of a turn that are checked against the agent's `output`, the first included. Default 2. */
  readonly results?: number | undefined;
}

/**
 * Callbacks for programs that do not read the stream. They may return a promise. An error of a callback never harms the
 * turn; the feed reports it as `callback.failed`, once per turn and callback.
 * @example
 * new Agent({
 *   model,
 *   callbacks: {
 *     awaited: true,
 *     onMessage: ({ id }) => console.log("began", id),
 *     onCalls: (calls) => console.log(calls.map(({ tool }) => tool)),
 *     onCall: ({ tool, status }) => console.log(tool, status),
 *     onInterjection: (message) => console.log(textOf(message)),
 *     onModelError: ({ code, detail }) => console.error(code, detail),
 *     onAnswer: (message) => saved(message),
 *   },
 * });
 */
export interface Callbacks {
  /** True if the turn waits for the returned promises, until it is interrupted. Default `false`. */
  readonly awaited?: boolean | undefined;
  /** A response has begun. */
  onMessage?(message: AssistantMessage): unknown;
  /** A response asked for these calls. They are as the model wrote them, neither checked nor started. */
  onCalls?(calls: readonly Call[], message: AssistantMessage): unknown;
  /** A call has its result. */
  onCall?(call: Call, message: AssistantMessage): unknown;
  /** A message arrived during the turn. */
  onInterjection?(message: UserMessage): unknown;
  /** A model call failed, before a retry or finally. */
  onModelError?(error: ModelError): unknown;
  /** The response that ended the turn. */
  onAnswer?(message: AssistantMessage): unknown;
}

/**
 * Stores the text of a message as a file. Returns the path at which the agent's tools read the file.
 * @param at The conversation, the id of the message, and the worktree of the branch, if it has one.
 */
export type StoreText = (
  text: string,
  at: { readonly conversation: string; readonly message: string; readonly worktree: string | undefined },
) => Promise<string>;

/** Returns the names of the tools that the model gets in a step. Nothing: all tools. */
export type ToolsFor = (at: {
  readonly step: number;
  readonly messages: readonly Message[];
}) => readonly string[] | undefined | Promise<readonly string[] | undefined>;

export type CountTokens = (text: string) => number | Promise<number>;

/** Settings for compaction. Shares are parts of the model's context, from 0 to 1. */
export interface Compaction {
  /** True if summaries are made without a user's request. */
  readonly automatic: boolean;
  /** Name of the model that writes summaries. Absent: the model of the turn. */
  readonly model: string | undefined;
  /** The user's instructions for all summaries. */
  readonly instructions: string | undefined;
  /** True if summaries are made during the turn. Absent: only if the model's server takes several requests at once. */
  readonly background: boolean | undefined;
  /** Share of the context from which the model is reminded that it may shorten the conversation. */
  readonly hint: number;
  /** Share of the context from which the conversation is compacted before the next model call. */
  readonly threshold: number;
  /** Maximum tokens of a request and its response together; `undefined` if unknown. */
  readonly contextSize: number | undefined;
  readonly count: CountTokens;
  /** Set if the server has refused a request as too long. Of its token count and our own, the larger is then used. */
  readonly wasRefused?: true;
}

export interface TurnAgent {
  readonly name: string;
  /** A model that is called step by step, or a loop that runs whole turns. */
  readonly model: ModelDriver | LoopDriver;
  /** Returns this agent with another model, by name. Absent: the turn keeps its model. */
  readonly modelNamed: ((name: string) => Promise<TurnAgent>) | undefined;
  /** Names of the models that can still replace the agent's model in this turn. */
  readonly fallbacks: readonly string[];
  /** Instructions of the agent and its mode. */
  readonly instructions: { readonly text: string; readonly digest: string };
  /** Tools of the agent and its mode. */
  readonly toolbox: Toolbox;
  readonly toolChoice: ToolChoice;
  readonly toolsFor: ToolsFor | undefined;
  /** The agent's own options, without those of its mode and model: for sub-agents. */
  readonly own: { readonly instructions: string; readonly tools: readonly Tool[]; readonly settings: ModelSettings };
  /** A value for the tools only, which is never sent to the model and never stored. */
  readonly context: unknown;
  readonly mode: Mode;
  readonly taskMode: Mode;
  readonly goal: Goal | undefined;
  /** True if no user can be asked. */
  readonly unattended: boolean;
  readonly hooks: CallHooks;
  readonly guards: Guards | undefined;
  readonly compaction: Compaction | undefined;
  readonly storeText: StoreText | undefined;
  readonly launch: Launch;
  /** Returns another agent, prepared to work as a sub-agent of this agent. */
  readonly subAgent: (agent: TaskAgent) => TurnAgent;
  /** Returns another agent, prepared to continue a turn of this agent. */
  readonly handedTo: (agent: TaskAgent) => TurnAgent;
  /** Returns the agent to which hand-offs on a path have given the conversation. Absent without a hand-off. */
  readonly holderOn: (path: readonly Message[]) => TurnAgent | undefined;
  readonly settings: ModelSettings;
  readonly limits: Limits;
  readonly rateLimit: RateLimit | undefined;
  readonly retry: RetrySettings;
  readonly bounds: ResponseBounds;
  readonly memory: Readonly<{ store: Memory; limit: number; timeout: number; cites: boolean }> | undefined;
  readonly permission: Permission | undefined;
  readonly callbacks: Callbacks;
  /** Maximum number of calls of a response that run in parallel. */
  readonly callsAtOnce: number;
}

export type Launch = (run: TurnRun, call: SubAgentLaunch, task: SubTask) => Promise<SubTaskEnd>;

export interface SubAgentLaunch {
  readonly call: string;
  readonly signal: AbortSignal;
  /** True if the call can run again in another process. */
  readonly isRepeatable: boolean;
}

/**
 * A running turn, as seen by one of its parts. The object never changes: a part with less time or another model gets a
 * changed copy. State that changes is in `branch`, `budget`, `repeats`, `followers`, `begun` and `progress`.
 */
export interface TurnRun {
  readonly id: string;
  readonly session: Session;
  /** The agent as configured for this step. */
  readonly agent: TurnAgent;
  /** The client that began the turn, if known. */
  readonly client: string | undefined;
  readonly branch: RunBranch;
  /** The index on the branch's path at which the messages of this turn begin. */
  readonly from: number;
  readonly budget: Budget;
  readonly repeats: Repeats;
  /** Run, agent and depth, as labels for the deltas of the run. */
  readonly source: DeltaSource;
  /** Marks the items that this run publishes. */
  readonly origin: object;
  /** The reader of the run, which can slow the run down. */
  readonly reader: FeedReader | undefined;
  /** A signal that aborts when the run is interrupted, or when the time of the current part is up. */
  readonly signal: AbortSignal;
  /** Returns the signal that aborts when the run is interrupted again while it ends. */
  hurry(): AbortSignal;
  /** The launching call, for the run of a sub-agent. */
  readonly call: string | undefined;
  /** The run that waited for a user and whose turn this run continues. */
  readonly continues: string | undefined;
  /** Usage of the earlier turns with which this turn shares its limits. */
  readonly before: EarlierUsage | undefined;
  /** True if another process can continue the run. Its questions then stay open when this process ends. */
  readonly survives: boolean;
  readonly followers: Followers;
  /** Work that calls began and perhaps did not await. */
  readonly begun: TurnWork;
  readonly progress: TurnProgress;
}

export interface RunWithModel {
  readonly run: TurnRun;
  readonly model: ModelDriver;
}

/** Returns the turn with another model after a failure of its model, or nothing if there is no other model. */
export type FallbackModel = (error: ModelError) => Promise<RunWithModel | undefined>;

type CallbackName = Exclude<keyof Callbacks, "awaited">;

/** Calls a callback, if set. Returns a promise only if the turn must wait; the promise never rejects. */
export function notify<Name extends CallbackName>(
  run: TurnRun,
  name: Name,
  ...told: Parameters<NonNullable<Callbacks[Name]>>
): void | Promise<void> {
  const { callbacks } = run.agent;
  const callback = callbacks[name] as ((...told: unknown[]) => unknown) | undefined;
  if (!callback) return;
  const failed = (error: unknown) => {
    if (!run.progress.callbackFailed(name)) return;
    run.session.notify({ type: "callback.failed", callback: name, reason: errorMessage(error) }, run.origin);
  };
  try {
    const returned = callback.apply(callbacks, told);
    if (typeof (returned as PromiseLike<unknown> | undefined)?.then !== "function") return;
    const heard = Promise.resolve(returned).then(() => {}, failed);
    // An interruption or a timeout ends the wait, and the loop reacts to it.
    if (callbacks.awaited) return Promise.resolve(orAborted(heard, run.signal)).catch(() => {});
  } catch (error) {
    failed(error);
  }
}

/** Tells the user that a request was changed, or may be wrong; each fact once per open session. */
export function noticeOnce({ session, id: run, origin }: TurnRun, reason: string): void {
  if (session.leftOut.has(reason)) return;
  session.leftOut.add(reason);
  session.notify({ type: "request.changed", run, reason }, origin);
}

/** Adds a message for the model that no user wrote, such as a correction. */
export async function addModelNote(run: TurnRun, text: string): Promise<void> {
  const note = modelNote(run, text);
  await run.session.commit([note], { origin: run.origin });
  run.branch.extend(note.message);
}

export function modelNote({ id: run, branch }: TurnRun, text: string) {
  const added = { type: "message.added", message: createId(), parentId: branch.leaf, run, role: "user" } as const;
  return { ...added, author: "system", parts: [{ type: "text", text }] } as const;
}
