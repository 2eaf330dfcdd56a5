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

declare const CONTEXT: unique symbol;

/** A type without a value: only agents whose `context` is a `Context` accept the tool. */
interface NeedsContext<in Context> {
  readonly [CONTEXT]?: (context: Context) => void;
}

/**
 * A tool that the model can call. `execute` gets checked arguments, after the call has been permitted and logged. The
 * result goes to the model: a string unchanged, any other value as JSON. An exception goes to the model too, and the
 * turn continues. `execute` must end soon after `context.signal` aborts; after 3 seconds the turn stops waiting.
 * @example
 * defineTool({
 *   name: "send_mail",
 *   description: "Sends a mail. Ask before you use it.",
 *   brief: "Sends a mail.",
 *   input: z.object({ to: z.string(), text: z.string() }),
 *   effects: "external",
 *   parallel: true,
 *   timeout: 30_000,
 *   maxOutput: 4_096,
 *   about: ({ to }) => ({ title: `mail to ${to}` }),
 *   folder: () => homedir(),
 *   preview: ({ text }) => ({ notes: [`It says: ${text}`] }),
 *   execute: ({ to, text }, { key, signal }) => mail(to, text, { key, signal }),
 * });
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
 * @example
 * defineTool({
 *   name: "orders",
 *   description: "Lists the orders of a customer.",
 *   input: z.object({ customer: z.string() }),
 *   effects: "none",
 *   execute: async ({ customer }) => (await readFile(`${customer}.csv`, "utf8")).split("\n"),
 *   toModelOutput: (orders) => `${orders.length} orders. The user sees them as a table.`,
 * });
 * @example
 * defineTool({
 *   name: "recollect",
 *   description: "Reads a message from before the summary.",
 *   input: z.object({ address: z.string() }),
 *   effects: "none",
 *   control: true,
 *   readsEarlier: true,
 *   execute: async ({ address }, { wholePath }) => readEarlier(await wholePath(), address),
 * });
 * @example
 * const whoAmI = defineTool({
 *   name: "who_am_i",
 *   description: "Names the user.",
 *   input: z.object({}),
 *   effects: "none",
 *   execute: (_, { context }: ToolContext<{ userId: string }>) => context.userId,
 * });
 * new Agent({ model, tools: [whoAmI], context: { userId: "ada" } });
 * @example
 * const rare: Tool = { ...tool, name: "mcp_github_search", offeredBy: "github", offeredAs: "search", unlisted: true };
 * const theirs: Tool = { ...tool, name: "claude_execute", offeredBy: "claude", asAsked: true };
 * defineTool({
 *   name: "call_other",
 *   description: "Calls a tool that is not listed here.",
 *   input: z.object({ tool: z.string(), input: z.object({}).loose() }),
 *   effects: "none",
 *   forwards: true,
 *   execute: ({ tool }) => `There is no tool ${tool}.`,
 * });
 * @example
 * defineTool({
 *   name: "to_writer",
 *   description: "Hands the conversation over to a writer.",
 *   input: z.object({ genre: z.string() }),
 *   effects: "idempotent",
 *   handsTo: () => new Agent({ name: "writer", model }),
 *   execute: ({ genre }) => `The writer continues, with a ${genre}.`,
 * });
 */
export interface Tool<Input = unknown, Output = unknown, in Context = unknown> extends NeedsContext<Context> {
  /** Letters, digits, `_` and `-`; at most 64. */
  readonly name: string;
  /** Description for the model: the tool's purpose and when to use the tool. */
  readonly description: string;
  /** Schema of the arguments. Arguments that do not match never reach the tool. */
  readonly input: InputSchema<Input>;
  /** The tool's effects. By default, only calls with the effects `none` run in parallel. */
  readonly effects: Effects;
  /** True if calls may run in parallel although they have effects. */
  readonly parallel?: boolean | undefined;
  /**
   * True if calls can begin as soon as their arguments are complete, while the model still writes. Only for a tool with
   * effects `none` that uses only `signal`, `wholePath`, `attach` and `saw`, because the result is lost if the message
   * does not end cleanly.
   */
  readonly eager?: boolean | undefined;
  /**
   * Access to the files that calls are about. `read` returns their content. `write` changes them, and can show their
   * old content. Absent: neither, as for a tool that lists names. Rules on reading and writing apply
   * (docs/security.md).
   */
  readonly files?: "read" | "write" | undefined;
  /** True if the tool only controls the conversation. Only a rule that names it can deny or question a call. */
  readonly control?: boolean | undefined;
  /** True if calls accept `earlier:` addresses and read them with `context.wholePath`. Summaries mention this tool. */
  readonly readsEarlier?: boolean | undefined;
  /**
   * The server that offers the tool, if the tool's description comes from outside. The arguments can do more than
   * `about` shows, so rules check all of them.
   */
  readonly offeredBy?: string | undefined;
  /**
   * Name of the tool on the server `offeredBy`. Rules, hooks, users and telemetry then use the name
   * `mcp__<offeredBy>__<offeredAs>`, and rules compare both parts. Absent: they use `name`.
   */
  readonly offeredAs?: string | undefined;
  /** Set if an agent of another program runs the call with its own arguments. A hook that changes them denies it. */
  readonly asAsked?: boolean | undefined;
  /**
   * True to hide the tool from the model if another tool `forwards`. The model then finds the hidden tool by other
   * texts, and calls it through the forwarding tool. Thousands of hidden tools need no room in requests, and changes of
   * them leave earlier requests unchanged.
   */
  readonly unlisted?: boolean | undefined;
  /**
   * A short description for models with a small window. Such models get only names and types of the arguments. They
   * reach a tool without a short description only through other tools.
   */
  readonly brief?: string | undefined;
  /**
   * True if a call `{ tool, input }` counts as a call of the named tool with that input. The call is checked, judged,
   * logged, shown and run as a call of that tool. Only the model sees its original call. `execute` runs if no tool has
   * that name.
   */
  readonly forwards?: boolean | undefined;
  /** Returns the agent that continues the turn in the same conversation after a completed call (`handOff`). */
  readonly handsTo?: (() => TaskAgent) | undefined;
  /** Milliseconds. Default: no limit. */
  readonly timeout?: number | undefined;
  /** Maximum bytes of output for the model (default 65,536). A longer output is cut in the middle. */
  readonly maxOutput?: number | undefined;
  /**
   * Returns the subject of a call with these arguments, for users and permission rules. Must be quick and use only the
   * arguments. If it throws, the call has no subject and a user is asked.
   */
  about?(input: Input): About;
  /**
   * Returns the absolute path of the folder in which a call of this branch works. Users see it with the question, and
   * clients find the call's files there. Absent: the tool works in no folder of this machine.
   */
  folder?(context: PreviewContext<Context>): string | Promise<string>;
  /** Predicts the effects of a call for a user. Must only read. If it throws, the user sees the reason. */
  preview?(input: Input, context: PreviewContext<Context>): Preview | Promise<Preview>;
  /** Runs the call. The model gets the result, or the error if it throws or rejects. */
  execute(input: Input, context: ToolContext<Context>): Output | Promise<Output>;
  /**
   * Returns the text that the model gets in place of the result of a completed call. Users, hooks and the log have the
   * result. The log also keeps the text, so later requests have the same text. Called once, after `execute`. If the
   * function throws, the model gets only the error. Write `toModelOutput` below `execute`, so that the compiler knows
   * the type of the result.
   */
  // `defineTool` gives the parameter its type. With `Output` here, a copy of a tool could not change its `execute`.
  toModelOutput?(output: never, input: Input): string | Promise<string>;
}

/** The names of the fields of a tool. */
export type ToolField = Exclude<keyof Tool, typeof CONTEXT>;

/** The context that a tool gets before a call runs, to describe or preview the call. See {@link Tool}. */
export type PreviewContext<Context = unknown> = Pick<
  ToolContext<Context>,
  "context" | "conversation" | "path" | "signal"
>;

/** The interface of a running call, for the function `execute` of its tool. See {@link Tool}. */
export interface ToolContext<Context = unknown> {
  /** The option `context` of the agent. Sub-agents have the context of their parent. The log does not contain it. */
  readonly context: Context;
  readonly call: string;
  /** 1 for the first start. */
  readonly attempt: number;
  /** A key that is the same for every attempt of one call. Pass the key to services that detect repetitions. */
  readonly key: string;
  /** The preview that a user saw before allowing the call. A tool that would now do something else must refuse. */
  readonly agreed?: Preview | undefined;
  /** Aborts when the call is cancelled or its time is up. */
  readonly signal: AbortSignal;
  /**
   * Aborts when a user interrupts again after `signal` has aborted. End at once then, without waiting for started work.
   */
  readonly hurry: AbortSignal;
  /** The conversation tree, read only. */
  readonly conversation: ConversationState;
  /** The path from the root to the message of this call. */
  readonly path: readonly Message[];
  /** Like `path`, with the messages outside the session's `window`. Rejects if such a session has no log. */
  wholePath(): Promise<readonly Message[]>;
  /** Number of the step in the turn, from 1. */
  readonly step: number;
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
  /** Records the number of files that the call changed without `changed`. Users see the number in the call's line. */
  changedFiles(count: number): void;
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
   * default, if the user declines, if the call is cancelled, and with `RangeError` for invalid fields. With `life`, a
   * background process asks: its question outlives the call and the turn, until the signal aborts or the session ends.
   */
  ask(question: Question, life?: AbortSignal): Promise<string>;
  /**
   * Gives a task to a sub-agent: a conversation below this call, within the remaining limits of the turn. If the call
   * is repeated after a crash, its sub-agent continues, and a finished sub-agent does not run again. Rejects if the
   * sub-agent cannot begin.
   */
  launch(task: SubTask): Promise<SubTaskEnd>;
  /** Ends the task after the other calls of this step. Throws if the turn is no task, or must not end yet. */
  finish(result: Json, summary?: string): void;
  /**
   * Replaces the messages before this step, except the last few, by a summary, and returns what that frees. Rejects
   * with the reason if nothing can be freed, and publishes `context.not-shortened`.
   */
  summarize(summary: string): Promise<ShortenedHistory>;
}

/** The context of a call, without the functions that add to its outcome. */
export type OuterContext = Omit<ToolContext, "attach" | "saw" | "changedFiles">;

/** An agent that can work for another agent, such as an `Agent`. */
export interface TaskAgent {
  readonly name: string;
}

/** The task of a sub-agent, and the options in which it differs from the launching agent. */
export interface SubTask {
  readonly task: string;
  /** Name for users and logs. Default: the name of `agent`, or of the launching agent. */
  readonly name?: string | undefined;
  /** An agent with its own options. Absent: the launching agent, changed by the options below. */
  readonly agent?: TaskAgent | undefined;
  /** Instructions of the sub-agent. Default: those of the launching agent. */
  readonly instructions?: string | undefined;
  /** Model of the sub-agent. Default: that of the launching agent. */
  readonly model?: ModelDriver | LoopDriver | undefined;
  /** Names of the launching agent's tools that the sub-agent gets. Default: all. */
  readonly tools?: readonly string[] | undefined;
  /** Name of the worktree, if the tools support worktrees. Default: the worktree of the launching agent. */
  readonly worktree?: string | undefined;
}

/**
 * Runs whole turns in place of the step loop: a service with its own tools, or another agent behind a protocol. The
 * driver reports its actions, so that tree, feed, calls, usage and cost look the same. Contract of `run`:
 * - Order of reports: `begin`, the parts of the response, `complete`, the calls of that response, then the next
 * `begin`. A started call may continue during later responses. The next `begin` cancels calls that were not started.
 * - It resolves at the end of the turn; its last response is the response of the turn. It rejects with a `ModelError`
 * when it cannot continue; earlier reports stay.
 * - A call that the loop runs itself gets `started` and `ended`. A call of one of our tools gets `execute`, and so does
 * a call of the loop that needs permission. A call without a result at the end of the turn is cancelled.
 * - When `signal` aborts (an interrupt, a limit), it stops soon. After 3 seconds the engine stops waiting and rejects
 * further reports. See {@link acpAgent}.
 */
export interface LoopDriver {
  /** The name that users see as the model of the loop's responses. */
  readonly id: string;
  readonly family: string;
  readonly price?: Price | undefined;
  /** True if the loop gets no tools of the agent or of a task. Its last response is then the result of a task. */
  readonly ownTools?: boolean | undefined;
  run(turn: LoopTurn, sink: TurnSink, signal: AbortSignal): Promise<void>;
}

/** The input of a `LoopDriver` for one turn. See {@link acpAgent}. */
export interface LoopTurn {
  readonly instructions: string;
  /** The messages of the branch, from the first to the newest. */
  readonly messages: readonly PromptMessage[];
  /** The agent's tools, which the loop may call with `execute`. */
  readonly tools: readonly ToolSchema[];
  readonly settings: ModelSettings;
  /** True if another branch has also continued from the last response. */
  readonly branched: boolean;
  readonly conversation: string;
  /** Name of the git worktree of the branch or sub-agent. Absent: the workspace. */
  readonly worktree?: string | undefined;
}

/** A tool call in a response that a `LoopDriver` has reported completely. See {@link acpAgent}. */
export interface ReportedCall {
  readonly id: string;
  readonly tool: string;
  /** The arguments. Absent if they are not JSON. */
  readonly input: Json | undefined;
}

/**
 * Receives the reports of a `LoopDriver` about its turn. Rejects reports that come after the end of the turn. See
 * {@link acpAgent}.
 */
export interface TurnSink {
  /**
   * Begins a response and counts a step. Resolves when the agent's rate limit has room for a model call. Rejects at a
   * limit of the turn: the loop must then end.
   */
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
   * Runs one of our tools with all checks, permissions and log entries. Also for a call of the loop that needs
   * permission: `theirs` is then a tool whose `execute` starts the call and resolves with its result. An abort of
   * `signal` cancels this call and its questions.
   */
  execute(call: string, theirs?: Tool, signal?: AbortSignal): Promise<PromptResult>;
  /** A user sent a message to the loop during the turn. Only between two responses. */
  interjected(text: string): Promise<void>;
}
