import type { About, FileChange, Json } from "../conversation/message.ts";
import type { Price } from "../conversation/usage.ts";
import type { ModelSettings, ModelSink, PromptMessage, PromptResult, ToolSchema } from "./model.ts";
import type { Tool } from "./tool.ts";

/**
 * Runs whole turns in the place of the step loop: a service that runs tools on its side, or another agent behind a
 * protocol. It reports what happens, so that tree, feed, call states, usage and cost look the same.
 *
 * Contract of `run`:
 * - It reports in order: `begin`, the parts of the response, `complete`, the calls of that response, then the next `begin`.
 *   A call that was started may go on beside the next responses; of the others, the next `begin` cancels what is left.
 * - It resolves when the turn is over; the last response is the turn's. It rejects with a `ModelError` when it cannot go
 *   on; what was reported stands.
 * - A call that it runs on its side gets `started` and `ended`; one of the tools that it was handed gets `execute`, and so
 *   does one of its own that it asks leave for. A call that has no result when the turn ends is cancelled.
 * - When `signal` aborts (an interrupt, a limit), it stops soon; 3 seconds later nobody waits for it any more, and what
 *   it still reports is refused.
 */
export interface LoopDriver {
  /** What stands as the model of its responses, for people. */
  readonly id: string;
  readonly family: string;
  readonly price?: Price | undefined;
  /**
   * It works with tools of its own alone. So it is handed none of ours, nor told of those of a task, and its last response
   * ends a task whose result may be a text.
   */
  readonly ownTools?: boolean | undefined;
  run(turn: LoopTurn, sink: TurnSink, signal: AbortSignal): Promise<void>;
}

/** What a loop is given to run a turn. */
export interface LoopTurn {
  readonly instructions: string;
  /** From the first message to the newest. */
  readonly messages: readonly PromptMessage[];
  /** Tools of ours that it may call with `execute`. */
  readonly tools: readonly ToolSchema[];
  readonly settings: ModelSettings;
  /**
   * The conversation has gone on from the last response of `messages` on another branch too: what a service remembers of
   * it may be about that branch.
   */
  readonly branched: boolean;
  /** The id of the conversation. */
  readonly conversation: string;
  /** The name of the git worktree that the branch works in, or the sub-agent; absent for the workspace. */
  readonly worktree?: string | undefined;
}

/** A call of a response that is complete. */
export interface ReportedCall {
  readonly id: string;
  readonly tool: string;
  /** Absent when the arguments are not JSON. */
  readonly input: Json | undefined;
}

/** How a loop reports its turn. Whatever comes after the turn has ended is refused with an error. */
export interface TurnSink {
  /** Begins a response and counts a step. Rejects when a limit of the turn is reached: then the loop must end. */
  begin(): Promise<ModelSink>;
  /** The response is whole, its `finish` pushed. Returns its calls, with ids that are unique in the conversation. */
  complete(): Promise<readonly ReportedCall[]>;
  /** The loop has started a call on its side, which is about this. */
  started(call: string, about?: About): Promise<void>;
  /** Shows what a call on its side says while it runs. */
  progress(call: string, text: string): void;
  /** A call on its side has its result. */
  ended(call: string, result: { readonly output: string; readonly failed: boolean }): Promise<void>;
  /**
   * The loop has carried out a call on its side, and did not ask leave for it. `theirs` is its tool, whose description says in one
   * line what was done. Rejects with a `ModelError` when a rule denies or asks about it: then the loop must end.
   */
  unasked(call: string, theirs: Tool, input: Json): Promise<void>;
  /** A call, which has no result yet, has changed a file. Resolves when that survives a power cut. */
  changed(call: string, change: FileChange): Promise<void>;
  /**
   * Runs a tool of ours: checked, permitted and logged like any other call. So is a call that the loop runs on its side but
   * asks leave for, with `theirs`: a tool of the call's name whose `execute` lets it begin, and resolves with what came of it.
   * When `signal` aborts, that one call is cancelled, and nobody is asked about it any more.
   */
  execute(call: string, theirs?: Tool, signal?: AbortSignal): Promise<PromptResult>;
  /** A person said something to the loop while it ran. Between two responses only. */
  interjected(text: string): Promise<void>;
}
