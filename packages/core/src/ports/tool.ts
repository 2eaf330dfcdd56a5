import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { QuestionField } from "../conversation/asked.ts";
import type { RunEnd } from "../conversation/event.ts";
import type {
  About,
  AssistantMessage,
  Draft,
  FileChange,
  Json,
  Message,
  Preview,
  SeenFile,
} from "../conversation/message.ts";
import { type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import type { ConversationState } from "../conversation/state.ts";
import type { Cost, Usage } from "../conversation/usage.ts";
import type { Permit } from "./human.ts";
import type { LoopDriver } from "./loop.ts";
import type { ModelDriver } from "./model.ts";

/**
 * Effects of running a tool. `none`: it only reads; calls run in parallel, and again after a crash. `idempotent`: it
 * changes something, and running it twice is harmless. `external`: a call runs alone, and is started automatically at
 * most once.
 */
export type Effects = "none" | "idempotent" | "external";

/**
 * The schema of a tool's arguments: a JSON Schema of an object, or a Standard Schema with a JSON Schema (zod, valibot,
 * arktype).
 */
export type InputSchema<Input> = JsonSchema | StandardSchemaV1<unknown, Input>;

/** A JSON Schema for an object of arguments. */
export interface JsonSchema {
  readonly type: "object";
  readonly [keyword: string]: unknown;
}

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
   * tells, so rules check all of them.
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

/** A file in the result of a call. */
export interface BroughtBytes {
  /** Such as `image/png`. */
  readonly mediaType: string;
  /** File name for users. */
  readonly name?: string | undefined;
  /** Bytes in base 64. */
  readonly data: string;
}

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
  draft(draft: Draft): void;
  /** Logs a change of a file. Resolves when it survives a power cut. */
  changed(change: FileChange): Promise<void>;
  /**
   * Registers a background process that outlives the call. Users see and can stop it in every client; it ends with the
   * session at the latest. If it ends by itself, the model gets the outcome with its next turn. Resolves with its name,
   * such as `p1`, when it is in the log. Rejects, and ends the process, if the session is closed.
   */
  stay(staying: Staying): Promise<string>;
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
  summarize(summary: string): Promise<Shortened>;
}

/** The context of a call without the data that one execution collects. */
export type OuterContext = Omit<ToolContext, "attach" | "saw">;

/**
 * A background process that outlives its call.
 * @example
 * defineTool({
 *   name: "tick",
 *   description: "Ticks.",
 *   input: { type: "object" },
 *   effects: "external",
 *   execute(_, { stay }) {
 *     const { promise, resolve } = Promise.withResolvers<{ outcome: string }>();
 *     const timer = setInterval(() => console.log("tick"), 1_000);
 *     const end = () => {
 *       clearInterval(timer);
 *       resolve({ outcome: "it was stopped" });
 *     };
 *     return stay({ title: "ticks", over: promise, end });
 *   },
 * });
 */
export interface Staying {
  /** Description for users in one line. */
  readonly title: string;
  /** Resolves when the process and all its parts have ended. Must not reject. */
  readonly over: Promise<StayedUntil>;
  /** Ends the process and all its parts: `over` resolves soon after. May be called more than once. */
  end(): void;
}

/** The end of a background process. */
export interface StayedUntil {
  /** The end of a sentence: `exit code 1`. */
  readonly outcome: string;
  /** The model knows the end already. Absent: the model gets the outcome with its next turn. */
  readonly known?: true | undefined;
}

/** The effect of a summary. */
export interface Shortened {
  /** Number of messages that the model no longer sees. */
  readonly messages: number;
  /** Approximate tokens of these messages, minus those of the summary. */
  readonly tokens: number;
}

/**
 * Receives the text of messages after the call's own, in stream order, before storage and clients. All methods except
 * `completed` are synchronous. An exception ends the following, and harms nothing else.
 */
export interface Follower {
  /** Receives a fragment of the model's text, cut anywhere. Must be quick, because the stream waits. */
  text?(delta: string, kind: "text" | "reasoning"): void;
  /**
   * The message ended cleanly and is in the log; its calls have not started. The following ends, unless the result
   * contains `again`.
   */
  completed?(message: AssistantMessage): Followed | undefined | void | Promise<Followed | undefined | void>;
  /**
   * The message broke off, was cut or interrupted, or the turn ended, so its text does not count. Called once. A
   * returned text goes to the model.
   */
  dropped?(reason: string): string | undefined | void;
  /** The text so far is withdrawn; the response begins again. */
  restarted?(): void;
}

/** The result of a follower. */
export interface Followed {
  /** A message of the tool to the model; the turn then continues. */
  readonly say?: string | undefined;
  /** An action requested by the message failed: the same message cannot finish a task. */
  readonly failed?: boolean | undefined;
  /** Follow the next message too. */
  readonly again?: boolean | undefined;
}

/**
 * A question to a user.
 * @example
 * defineTool({
 *   name: "deploy",
 *   description: "Deploys the program.",
 *   input: { type: "object" },
 *   effects: "external",
 *   execute: async (_, { ask }) => {
 *     const to = await ask({ text: "Where to?", choices: ["test", "live"], default: "test" });
 *     const choices = [{ label: "server" }, { label: "page", description: "what people see" }];
 *     const fields = [{ heading: "Parts", text: "What of it?", choices, several: true }];
 *     return ask({ text: `What is deployed to ${to}?`, fields });
 *   },
 * });
 */
export interface Question {
  readonly text: string;
  /** Suggested answers; any other answer is accepted too. */
  readonly choices?: readonly string[] | undefined;
  /**
   * 1 to 4 fields that are asked together, each with choices (one or several) and room for words. The answer is one
   * text with a line for each field, such as `Colour: red. In their own words: but dark`.
   */
  readonly fields?: readonly QuestionField[] | undefined;
  /** The answer if no user can be asked. */
  readonly default?: string | undefined;
}

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

/** The end of a sub-agent. */
export interface SubTaskEnd {
  /** `finished`: the task is done and `text` is its result. In all other cases `text` is the last text of the sub-agent. */
  readonly reason: RunEnd;
  readonly text: string;
  /** The reason of a failure, or the limit that ended it. */
  readonly problem: string | undefined;
  readonly steps: number;
  readonly usage: Usage;
  /** US dollars; `undefined` when unknown. */
  readonly cost: Cost;
}

const TOOL: OptionNames<Tool> = {
  name: true,
  description: true,
  input: true,
  effects: true,
  parallel: true,
  eager: true,
  files: true,
  folder: true,
  control: true,
  readsEarlier: true,
  offeredBy: true,
  offeredAs: true,
  asAsked: true,
  unlisted: true,
  brief: true,
  forwards: true,
  timeout: true,
  maxOutput: true,
  about: true,
  preview: true,
  execute: true,
};

/** Defines a tool whose input type is inferred from its schema. */
export function defineTool<Schema extends StandardSchemaV1>(
  tool: Omit<Tool, "input" | "execute" | "about" | "preview"> &
    Pick<Tool<StandardSchemaV1.InferOutput<Schema>>, "execute" | "about" | "preview"> & { readonly input: Schema },
): Tool;
export function defineTool(tool: Omit<Tool, "input"> & { readonly input: JsonSchema }): Tool;
export function defineTool(tool: object): Tool {
  refuseUnknown("a tool", tool, TOOL);
  return tool as Tool;
}

/** Checked arguments of a call, or the reason why they do not fit. */
export type Checked = { readonly ok: true; readonly input: Json } | { readonly ok: false; readonly problem: string };

/**
 * Thrown by a tool that had no effect: a command could not be started, or was refused. Users then see that the call did
 * not run, and the model reads "Not executed: " with the message.
 * @example throw new NotExecutedError("there is no shell on this system. Use the other tools.");
 */
export class NotExecutedError extends Error {
  override readonly name = "NotExecutedError";
}

/** Returns the beginning of a failed call's result for the model. */
export function howFailed(error: unknown): "Not executed" | "The tool failed" {
  return error instanceof NotExecutedError ? "Not executed" : "The tool failed";
}
