import type { About, ChangeDraft, FileChange, Message, Preview, SeenFile } from "../conversation/message.ts";
import type { Json } from "../conversation/part.ts";
import type { ConversationState } from "../conversation/state.ts";
import type { Price } from "../conversation/usage.ts";
import type { ModelDriver, ModelSettings, ModelSink, PromptMessage, PromptResult, ToolSchema } from "./model.ts";
import type {
  BackgroundWork,
  BroughtBytes,
  Effects,
  Follower,
  InputSchema,
  Question,
  ShortenedHistory,
  SubTaskEnd,
} from "./tool-values.ts";
import type { Permit } from "./verdict.ts";

// A tool may launch a loop, and a loop runs tools, so the two contracts are in one file.

/**
 * A tool that the model can call.
 *
 * `execute` gets arguments that fit `input`, after its call has been permitted and logged. Its result goes to the
 * model: a string unchanged, any other value as JSON. Its exception goes to the model as a failure and never harms the
 * turn. It must end soon after `context.signal` aborts; after 3 seconds the turn stops waiting.
 * @example
 * defineTool({
 *   name: "send_mail",
 *   description: "Sends a mail. Ask before you use it.",
 *   input: z.object({ to: z.string(), text: z.string() }),
 *   effects: "external",
 *   parallel: true,
 *   timeout: 30_000,
 *   maxOutput: 4_096,
 *   about: ({ to }) => ({ title: `mail to ${to}` }),
 *   preview: ({ text }) => ({ notes: [`It says: ${text}`] }),
 *   execute: ({ to, text }, { key, signal }) => mail(to, text, { key, signal }),
 * });
 */
export interface Tool<Input = unknown> {
  /** Letters, digits, `_` and `-`; at most 64. */
  readonly name: string;
  /** For the model: the tool's purpose and when to use it. */
  readonly description: string;
  /** Schema of the arguments; other arguments never reach the tool. */
  readonly input: InputSchema<Input>;
  /** Effects of a call. Only calls with `none` run in parallel by default. */
  readonly effects: Effects;
  /** Calls may run in parallel although they have effects. */
  readonly parallel?: boolean | undefined;
  /**
   * Calls may begin as soon as their arguments are complete, while the model still writes. For a tool with effects
   * `none` that uses only `signal`, `wholePath`, `attach` and `saw`: a message that does not end cleanly loses the
   * result.
   * @example
   * defineTool({
   *   name: "head",
   *   description: "Reads the first line of a file.",
   *   input: z.object({ path: z.string() }),
   *   effects: "none",
   *   eager: true,
   *   files: "read",
   *   about: ({ path }) => ({ paths: [{ path, access: "read" }] }),
   *   execute: async ({ path }) => (await readFile(path, "utf8")).split("\n", 1)[0],
   * });
   */
  readonly eager?: boolean | undefined;
  /**
   * Access to the files that calls are about: `read` returns their content; `write` changes them and reveals their old
   * content. Absent: neither, as for a tool that lists names. Rules on reading and writing apply (docs/security.md).
   */
  readonly files?: "read" | "write" | undefined;
  /**
   * The tool only controls the conversation. Only a rule with its name can deny it or demand a question.
   * @example
   * defineTool({
   *   name: "note",
   *   description: "Keeps a thought.",
   *   input: { type: "object" },
   *   effects: "none",
   *   control: true,
   *   execute: () => "kept",
   * });
   */
  readonly control?: boolean | undefined;
  /**
   * Calls accept `earlier:` addresses and read them with `context.wholePath`. A summary then names this tool to the
   * model.
   * @example
   * defineTool({
   *   name: "recollect",
   *   description: "Reads a message from before the summary.",
   *   input: z.object({ address: z.string() }),
   *   effects: "none",
   *   readsEarlier: true,
   *   execute: async ({ address }, { wholePath }) => readEarlier(await wholePath(), address),
   * });
   */
  readonly readsEarlier?: boolean | undefined;
  /**
   * The server that offers the tool, if its description comes from outside. Its arguments may do more than `about`
   * shows, so rules check all of them.
   * @example const foreign: Tool = { ...tool, name: "github__search", offeredBy: "github" };
   */
  readonly offeredBy?: string | undefined;
  /**
   * Name of the tool on the server `offeredBy`. Rules, hooks, users and telemetry then use
   * `mcp__<offeredBy>__<offeredAs>`, and rules compare both parts. Absent: they use `name`.
   * @example const foreign: Tool = { ...tool, name: "mcp_github_search", offeredBy: "github", offeredAs: "search" };
   */
  readonly offeredAs?: string | undefined;
  /**
   * The caller runs the call itself, as requested: an agent of another program. Its arguments cannot be changed, so a
   * hook that changes them denies the call.
   * @example const theirs: Tool = { ...tool, name: "claude_execute", offeredBy: "claude", asAsked: true };
   */
  readonly asAsked?: boolean | undefined;
  /**
   * Hidden from the model if another tool `forwards`: the model finds it by other texts and calls it through that tool.
   * So thousands of tools need no room, and changes of tools do not change earlier requests.
   * @example const rare: Tool = { ...tool, unlisted: true };
   */
  readonly unlisted?: boolean | undefined;
  /**
   * A short description for models with a small window, which then get only names and types of the arguments. Tools
   * without it are found through other tools there.
   * @example
   * defineTool({
   *   name: "clock",
   *   description: "Tells the time of day where the program runs, with its time zone.",
   *   brief: "Tells the time.",
   *   input: { type: "object" },
   *   effects: "none",
   *   execute: () => new Date().toString(),
   * });
   */
  readonly brief?: string | undefined;
  /**
   * Calls `{ tool, input }` count as calls of the named tool with that input: they are checked, judged, asked about,
   * logged, shown and run as such. Only the model sees its original call. `execute` runs if there is no tool of that
   * name.
   * @example
   * defineTool({
   *   name: "call_other",
   *   description: "Calls a tool that is not listed here.",
   *   input: z.object({ tool: z.string(), input: z.object({}).loose() }),
   *   effects: "none",
   *   forwards: true,
   *   execute: ({ tool }) => `There is no tool ${tool}.`,
   * });
   */
  readonly forwards?: boolean | undefined;
  /** Milliseconds; absent: no limit. */
  readonly timeout?: number | undefined;
  /** Maximum bytes of output for the model (default 65,536); head and tail of longer output are kept. */
  readonly maxOutput?: number | undefined;
  /**
   * Returns the subject of a call with these arguments. Every client shows it to users with the arguments, and
   * permission rules check it. Must be quick and use only the arguments. If it throws, the call has no subject and a
   * user is asked.
   */
  about?(input: Input): About;
  /**
   * Returns the absolute path of the folder in which a call of this branch works. Users see it with the question, and
   * clients find the call's files there. Absent: the tool works in no folder of this machine.
   * @example
   * defineTool({
   *   name: "build",
   *   description: "Builds the project.",
   *   input: { type: "object" },
   *   effects: "external",
   *   folder: () => "/home/me/project",
   *   execute: () => "It is built.",
   * });
   */
  folder?(context: PreviewContext): string | Promise<string>;
  /**
   * Predicts the effects of a call for a user who is about to decide. Must only read. If it throws, the user sees the
   * reason.
   */
  preview?(input: Input, context: PreviewContext): Preview | Promise<Preview>;
  /** Runs the call. The model gets the result, or the error if it throws or rejects. */
  execute(input: Input, context: ToolContext): unknown;
}

/** Context of a call before it runs. */
export type PreviewContext = Pick<ToolContext, "conversation" | "path" | "signal">;

/** Facts and actions for a running call. */
export interface ToolContext {
  /** Id of the call. */
  readonly call: string;
  /** 1 for the first start. */
  readonly attempt: number;
  /** The same for every attempt of one call: pass it to services that detect repetitions. */
  readonly key: string;
  /** The preview that a user saw before allowing the call. A tool that would now do something else must refuse. */
  readonly agreed?: Preview | undefined;
  /** Aborts when the call is cancelled or its time is up. */
  readonly signal: AbortSignal;
  /** Aborts when a user interrupts again after `signal`: end at once, without waiting for started work. */
  readonly hurry: AbortSignal;
  /** The conversation tree, read only. */
  readonly conversation: ConversationState;
  /** The path from the root to the message of this call. */
  readonly path: readonly Message[];
  /**
   * Returns the same path including the messages outside the session's `window`, from the log. Rejects if a session
   * with a window has no log.
   */
  wholePath(): Promise<readonly Message[]>;
  /** Number of the step in the turn, from 1. */
  readonly step: number;
  /** Name of the agent. */
  readonly agent: string;
  /** Name of the client that began the turn (`client` of `agent.chat`), if given. */
  readonly client?: string | undefined;
  /** Publishes text to readers while the call runs. The model does not get it. */
  progress(text: string): void;
  /**
   * Adds a file to the result: an image, a document, sound. A model that cannot see the file gets a note about it.
   * Throws `RangeError` with the reason for a file that is too large, not base 64, or not of its `mediaType`. Files of
   * a failed call are dropped.
   */
  attach(file: BroughtBytes): void;
  /**
   * Records the content of a file that the call saw, or that the file was missing. A tool that replaces whole files
   * compares the file with the content last seen on its branch.
   */
  saw(file: SeenFile): void;
  /** Sends a user's message to the turn, delivered as steering. Resolves when the message is in the log. */
  interject(text: string): Promise<void>;
  /**
   * Follows the model's next message in this run, until its end. A second follower of a call replaces the first. Throws
   * in the turn of a `LoopDriver`, which cannot be followed.
   */
  follow(follower: Follower): void;
  /** Publishes a planned change while it grows. Not stored. */
  draft(draft: ChangeDraft): void;
  /** Logs a change of a file. Resolves when it survives a power cut. */
  changed(change: FileChange): Promise<void>;
  /**
   * Registers a background process that outlives the call. Users see and can stop it in every client; it ends with the
   * session at the latest. If it ends by itself, the model gets the outcome with its next turn. Resolves with its name,
   * such as `p1`, when it is in the log. Rejects, and ends the process, if the session is closed.
   */
  stay(staying: BackgroundWork): Promise<string>;
  /** Returns the rules' current decision about this call, or about other arguments. Asks no user. */
  permit(input?: Json): Promise<Permit>;
  /**
   * Asks a user and resolves with the answer, or with the default if no user can be asked. Rejects if there is no
   * default, if the user declines, if the call is cancelled, and with `RangeError` for invalid fields.
   */
  ask(question: Question): Promise<string>;
  /**
   * Gives a task to a sub-agent: a conversation below this call, within the remaining limits of the turn. A sub-agent
   * launched again by the same call (after a crash) continues; a finished one does not run again. Rejects if it cannot
   * begin; the result tells how it ended.
   */
  launch(task: SubTask): Promise<SubTaskEnd>;
  /**
   * Ends the task with a result after the other calls of this step. Throws if the turn is no task, or must not end yet.
   */
  finish(result: Json, summary?: string): void;
  /**
   * Replaces the messages before this step, except the last few, by a summary, and returns what that frees. Rejects
   * with the reason if nothing can be freed, and publishes `context.not-shortened`.
   */
  summarize(summary: string): Promise<ShortenedHistory>;
}

/** The context of a call without the data that one execution collects. */
export type OuterContext = Omit<ToolContext, "attach" | "saw">;

/** The task of a sub-agent, and its differences from the launching agent. */
export interface SubTask {
  readonly task: string;
  /** Name for users and logs. Default: the name of the launching agent. */
  readonly name?: string | undefined;
  /** Replaces the launching agent's instructions. */
  readonly instructions?: string | undefined;
  /** Default: the model of the launching agent. */
  readonly model?: ModelDriver | LoopDriver | undefined;
  /** Names of the launching agent's tools that the sub-agent gets. Default: all. */
  readonly tools?: readonly string[] | undefined;
  /** Name of the worktree, if the tools support worktrees. Default: that of the launcher. */
  readonly worktree?: string | undefined;
}

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
