import type { About, FileChange, Json } from "../conversation/message.ts";
import type { Price } from "../conversation/usage.ts";
import type { ModelSettings, ModelSink, PromptMessage, PromptResult, ToolSchema } from "./model.ts";
import type { Tool } from "./tool.ts";

/**
 * Runs whole turns in place of the step loop: a service with its own tools, or another agent behind a protocol. It
 * reports its actions, so that tree, feed, calls, usage and cost look the same.
 *
 * Contract of `run`:
 * - Order of reports: `begin`, the parts of the response, `complete`, the calls of that response, then the next `begin`.
 *   A started call may continue during later responses. The next `begin` cancels calls that were not started.
 * - It resolves at the end of the turn; the last response is that of the turn. It rejects with a `ModelError` when it
 *   cannot continue; earlier reports stay.
 * - A call that it runs itself gets `started` and `ended`. A call of one of our tools gets `execute`, and so does a call
 *   of its own that needs permission. A call without a result at the end of the turn is cancelled.
 * - When `signal` aborts (an interrupt, a limit), it stops soon. After 3 seconds the engine stops waiting and rejects
 *   further reports.
 */
export interface LoopDriver {
  /** Shown to users as the model of its responses. */
  readonly id: string;
  readonly family: string;
  readonly price?: Price | undefined;
  /**
   * It uses only its own tools. So it gets neither our tools nor those of a task, and its last response ends a task
   * whose result may be a text.
   */
  readonly ownTools?: boolean | undefined;
  run(turn: LoopTurn, sink: TurnSink, signal: AbortSignal): Promise<void>;
}

/** Input of a loop for one turn. */
export interface LoopTurn {
  readonly instructions: string;
  /** From the first message to the newest. */
  readonly messages: readonly PromptMessage[];
  /** Our tools, which it may call with `execute`. */
  readonly tools: readonly ToolSchema[];
  readonly settings: ModelSettings;
  /**
   * The conversation has also continued from the last response on another branch: the service's own memory may be about
   * that branch.
   */
  readonly branched: boolean;
  /** Id of the conversation. */
  readonly conversation: string;
  /** Name of the git worktree of the branch or sub-agent. Absent: the workspace. */
  readonly worktree?: string | undefined;
}

/** A call of a complete response. */
export interface ReportedCall {
  readonly id: string;
  readonly tool: string;
  /** Absent if the arguments are not JSON. */
  readonly input: Json | undefined;
}

/** Receives the reports of a loop about its turn. Reports after the end of the turn are rejected. */
export interface TurnSink {
  /** Begins a response and counts a step. Rejects at a limit of the turn: the loop must then end. */
  begin(): Promise<ModelSink>;
  /** Completes the response after its `finish`. Returns its calls, with ids that are unique in the conversation. */
  complete(): Promise<readonly ReportedCall[]>;
  /** The loop has started a call on its side; `about` is its subject. */
  started(call: string, about?: About): Promise<void>;
  /** Publishes output of a call while it runs on the loop's side. */
  progress(call: string, text: string): void;
  /** A call on the loop's side has its result. */
  ended(call: string, result: { readonly output: string; readonly failed: boolean }): Promise<void>;
  /**
   * The loop has carried out a call on its side without asking. `theirs`: its tool, whose description states the action
   * in one line. Rejects with a `ModelError` if a rule denies the call or demands a question: the loop must then end.
   */
  unasked(call: string, theirs: Tool, input: Json): Promise<void>;
  /** A call without a result has changed a file. Resolves when the change survives a power cut. */
  changed(call: string, change: FileChange): Promise<void>;
  /**
   * Runs one of our tools with all checks, permissions and log entries. Also for a call that the loop runs itself but
   * that needs permission: `theirs` is a tool of the call's name whose `execute` starts the call and resolves with its
   * result. An abort of `signal` cancels this call and its questions.
   */
  execute(call: string, theirs?: Tool, signal?: AbortSignal): Promise<PromptResult>;
  /** A user sent a message to the loop during the turn. Only between two responses. */
  interjected(text: string): Promise<void>;
}
