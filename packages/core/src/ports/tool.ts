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
 * What running a tool does to the world, which decides what may happen to it. `none`: it only looks; runs beside its
 * neighbours and again after a crash. `idempotent`: it changes something, and twice is as good as once. `external`:
 * it runs alone, and is started by itself at most once for an id.
 */
export type Effects = "none" | "idempotent" | "external";

/**
 * The arguments of a tool: a JSON Schema of an object, or any Standard Schema that can tell its JSON Schema (zod,
 * valibot, arktype).
 */
export type InputSchema<Input> = JsonSchema | StandardSchemaV1<unknown, Input>;

/** A JSON Schema that an object of arguments is held to. */
export interface JsonSchema {
  readonly type: "object";
  readonly [keyword: string]: unknown;
}

/**
 * Something that the model may call.
 *
 * `execute` gets arguments that fit `input`, once its call has been permitted and logged. What it returns is told to
 * the model: a string as it is, anything else as JSON. What it throws is told to the model as a failure; it never
 * harms the turn. It must end soon after `context.signal` aborts; 3 seconds later nobody waits for it any more.
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
  /** For the model: what it does and when to use it. */
  readonly description: string;
  /** What its arguments must look like; others never reach it. */
  readonly input: InputSchema<Input>;
  /** What running it does to the world: only `none` runs beside its neighbours. */
  readonly effects: Effects;
  /** May run beside its neighbours although it has effects. */
  readonly parallel?: boolean | undefined;
  /**
   * May begin as soon as its arguments are there, while the model still writes. Only for a tool with effects `none` that
   * uses nothing of its context but `signal`, `wholePath`, `attach` and `saw`: what it finds is thrown away when the message does not end cleanly.
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
   * What it tells of the files that its calls are about: `read`, what is in them; `write`, it changes them, and tells what
   * was there. Absent: neither, as of a tool that lists names. Rules on reading and writing hold for it (docs/security.md).
   */
  readonly files?: "read" | "write" | undefined;
  /**
   * It does nothing but steer the conversation: only a rule that denies it, or asks about it, by its
   * name holds it back.
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
   * Its calls take addresses `earlier:`, and read what they name with `context.wholePath`. A summary then tells the model the
   * name of the tool.
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
   * The server that offers it, where somebody else says what it does. Its arguments may do more than `about` knows of, so
   * rules look at all of them.
   * @example const foreign: Tool = { ...tool, name: "github__search", offeredBy: "github" };
   */
  readonly offeredBy?: string | undefined;
  /**
   * The name of the tool at the server `offeredBy`. Rules, hooks, users and telemetry then know the tool as
   * `mcp__<offeredBy>__<offeredAs>`, and rules compare both parts. Without it they know the tool by `name` alone.
   * @example const foreign: Tool = { ...tool, name: "mcp_github_search", offeredBy: "github", offeredAs: "search" };
   */
  readonly offeredAs?: string | undefined;
  /**
   * The caller runs the call as the caller asked for it, on its own side: an agent of another program. Nobody can change the
   * arguments, so a hook that changes them denies the call.
   * @example const theirs: Tool = { ...tool, name: "claude_execute", offeredBy: "claude", asAsked: true };
   */
  readonly asAsked?: boolean | undefined;
  /**
   * Not told to the model where another tool `forwards`: it is found by what that is said elsewhere, and called through it.
   * So thousands of tools take no room, and one that comes or goes changes nothing of what was sent before.
   * @example const rare: Tool = { ...tool, unlisted: true };
   */
  readonly unlisted?: boolean | undefined;
  /**
   * What it does, in few words, for models with a small window: these are told it in place of the description, and of the
   * arguments only names and types. Tools without it are found by other tools there.
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
   * Its calls `{ tool, input }` count as calls of the tool that they name, with that input: so they are checked, judged,
   * asked about, logged, shown and run. Only the model sees its own call as it wrote it. `execute` runs when there is no
   * tool of that name.
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
  /** Milliseconds; no limit when absent. */
  readonly timeout?: number | undefined;
  /** The bytes of output that the model is given (default 65,536); of more, head and tail are kept. */
  readonly maxOutput?: number | undefined;
  /**
   * What a call with these arguments is about: people are shown it beside the arguments, in every client, and rules of
   * permissions are held against it. It must be quick and look at nothing but the arguments; a call of which it throws is
   * about nothing in particular, and is asked about.
   */
  about?(input: Input): About;
  /**
   * The absolute path of the folder that a call of this branch works in. Users see it on the question, and clients find the
   * files of the call there. Absent for a tool that works in no folder of this machine.
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
   * What a call with these arguments would do, for a person who is about to be asked. It only looks. When it throws, the
   * person is told that it cannot be said, and why.
   */
  preview?(input: Input, context: PreviewContext): Preview | Promise<Preview>;
  /** Does it. What it returns, or the promise it returns resolves with, is told to the model; so is what it throws. */
  execute(input: Input, context: ToolContext): unknown;
}

/** What is known of a call before it runs. */
export type PreviewContext = Pick<ToolContext, "conversation" | "path" | "signal">;

/** A file that a call brings. */
export interface BroughtBytes {
  /** As in `image/png`. */
  readonly mediaType: string;
  /** What people call it. */
  readonly name?: string | undefined;
  /** Its bytes in base 64. */
  readonly data: string;
}

/** What a running call knows and can do. */
export interface ToolContext {
  /** The id of the call. */
  readonly call: string;
  /** 1 the first time. */
  readonly attempt: number;
  /** The same for every attempt of one call: hand it to a service that can tell a repetition. */
  readonly key: string;
  /** What a person saw of it before they allowed it. A tool that would do something else now must not do it. */
  readonly agreed?: Preview | undefined;
  /** Aborts when the call is cancelled or its time is up. */
  readonly signal: AbortSignal;
  /**
   * Aborts when a person, after `signal` did, has no patience: end at once, and ask nothing of what you have started.
   */
  readonly hurry: AbortSignal;
  /** The tree, read only. */
  readonly conversation: ConversationState;
  /** From the root to the message of this call. */
  readonly path: readonly Message[];
  /**
   * The same path with the messages that the session's `window` no longer holds, from the log. Rejects when a session
   * with a window keeps no log.
   */
  wholePath(): Promise<readonly Message[]>;
  /** 1 for the first step of the turn. */
  readonly step: number;
  /** The name of the agent. */
  readonly agent: string;
  /** The name of the client that began the turn (`client` of `agent.chat`), where it gave one. */
  readonly client?: string | undefined;
  /** Shows text to whoever watches while the call runs. Not told to the model. */
  progress(text: string): void;
  /**
   * Shows the model a file beside what is returned: a picture, a document, sound. `data` are its bytes in base 64. A model that
   * cannot see it is told that there is one. Throws a `RangeError` with the reason for one that cannot be shown: it is too large,
   * no base 64, or not what `mediaType` says. Nothing is shown of a call that fails.
   */
  attach(file: BroughtBytes): void;
  /**
   * Logs with the result which content of a file the call saw, or that the file was gone. A tool that replaces a whole file
   * compares the file with what its branch saw last.
   */
  saw(file: SeenFile): void;
  /** Brings in what a person said meanwhile: delivered like a message that steers. Resolves when it is in the log. */
  interject(text: string): Promise<void>;
  /**
   * Listens to what the model says next in this run, until that message has ended. A second follower of one call takes
   * the place of the first. Throws where nobody can listen: in the turn of a `LoopDriver`.
   */
  follow(follower: Follower): void;
  /** Shows a change that is not made yet, as it grows. Nothing of it is stored. */
  draft(draft: Draft): void;
  /** Logs that a file was changed. Resolves when that survives a power cut. */
  changed(change: FileChange): Promise<void>;
  /**
   * Hands over what the call began and what is to stay when it has its result: people see it in every client and can stop
   * it, it ends with the conversation's session at the latest, and the model is told with its next turn when it has ended by
   * itself. Resolves with what it is called, such as `p1`, when that is in the log. Rejects, and ends it, when the session
   * is closed.
   */
  stay(staying: Staying): Promise<string>;
  /** What the rules say now of this call, or of this call with other arguments. Asks nobody. */
  permit(input?: Json): Promise<Permit>;
  /**
   * Asks a person and resolves with what they answer; with the default where nobody can be asked. Rejects when there is
   * no default then, when the person declines, when the call is cancelled, and with a `RangeError` for fields that
   * nobody can be asked.
   */
  ask(question: Question): Promise<string>;
  /**
   * Hands a task to a sub-agent: a conversation of its own below this call, within what is left of the turn's limits.
   * Launched again by the same call (after a crash), it goes on where it was; one that had finished is not run again.
   * Rejects with what is wrong when it cannot begin; how it ends is in the result.
   */
  launch(task: SubTask): Promise<SubTaskEnd>;
  /**
   * Ends the task with a result once the other calls of this step have theirs. Throws when the turn is no task, or must
   * not end yet.
   */
  finish(result: Json, summary?: string): void;
  /**
   * Puts a summary in the place of what was said before this step, but for the last few messages, and says what that
   * frees. Rejects, and tells the feed (`context.not-shortened`), when nothing can be freed, with the reason.
   */
  summarize(summary: string): Promise<Shortened>;
}

/** What a call knows and can do, but for what one execution of it gathers. */
export type OuterContext = Omit<ToolContext, "attach" | "saw">;

/**
 * What a call began and what goes on when the call has its result.
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
  /** What people know it by: one line. */
  readonly title: string;
  /** Resolves when nothing is left of it. It must not reject. */
  readonly over: Promise<StayedUntil>;
  /** Ends it, and all that belongs to it: `over` resolves soon after. May be called more than once. */
  end(): void;
}

/** How something that stayed has ended. */
export interface StayedUntil {
  /** The end of a sentence: `exit code 1`. */
  readonly outcome: string;
  /** The model knows it already; otherwise it is told with its next turn. */
  readonly known?: true | undefined;
}

/** What a summary takes the place of. */
export interface Shortened {
  /** Messages that the model is shown no more. */
  readonly messages: number;
  /** Tokens that these took, less those of the summary; about. */
  readonly tokens: number;
}

/**
 * A call that listens to the messages after its own: in the order of the stream, before storage and clients. All of it
 * is called synchronously but `completed`. What it throws ends its listening, and harms nothing else.
 */
export interface Follower {
  /** What the model says, in fragments that may break anywhere. Keep it quick: the stream waits for it. */
  text?(delta: string, kind: "text" | "reasoning"): void;
  /**
   * The message ended cleanly and is in the log; its calls have not started. Listening ends with it, unless what is
   * returned says otherwise.
   */
  completed?(message: AssistantMessage): Followed | undefined | void | Promise<Followed | undefined | void>;
  /**
   * Nothing of what was said counts: it broke off, was cut or interrupted, or the turn ended. Called once; what it
   * returns is told to the model.
   */
  dropped?(reason: string): string | undefined | void;
  /** What was said so far was taken back; the response begins anew. */
  restarted?(): void;
}

/** What came of listening. */
export interface Followed {
  /** Told to the model as a message of the tool; the turn then goes on. */
  readonly say?: string | undefined;
  /** Something that the message asked for did not happen: a task cannot be finished by the same message. */
  readonly failed?: boolean | undefined;
  /** Listen to the next message too. */
  readonly again?: boolean | undefined;
}

/**
 * What a person is asked.
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
  /** Answers to choose from; another one may be given all the same. */
  readonly choices?: readonly string[] | undefined;
  /**
   * 1 to 4 things that are asked at once, each with choices, one or several of which may be chosen, and room for words. The
   * answer is one text: a line for each, as in `Colour: red. In their own words: but dark`.
   */
  readonly fields?: readonly QuestionField[] | undefined;
  /** The answer where nobody can be asked. */
  readonly default?: string | undefined;
}

/** What a sub-agent is to do, and how it differs from the agent that launches it. */
export interface SubTask {
  readonly task: string;
  /** What people and logs call it. Default: the name of the launching agent. */
  readonly name?: string | undefined;
  /** Stands in the place of the launching agent's instructions. */
  readonly instructions?: string | undefined;
  /** Default: the model of the launching agent. */
  readonly model?: ModelDriver | LoopDriver | undefined;
  /** Names of those of the launching agent's tools that it has. Default: all. */
  readonly tools?: readonly string[] | undefined;
  /** The name of the worktree that it works in, where the tools know of it. Default: where its launcher works. */
  readonly worktree?: string | undefined;
}

/** How a sub-agent ended. */
export interface SubTaskEnd {
  /** `finished`: its task is done, `text` is the result. Otherwise `text` is the last that it said. */
  readonly reason: RunEnd;
  readonly text: string;
  /** Why it failed, or which limit ended it. */
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

/** A tool whose input type is inferred from its schema. */
export function defineTool<Schema extends StandardSchemaV1>(
  tool: Omit<Tool, "input" | "execute" | "about" | "preview"> &
    Pick<Tool<StandardSchemaV1.InferOutput<Schema>>, "execute" | "about" | "preview"> & { readonly input: Schema },
): Tool;
export function defineTool(tool: Omit<Tool, "input"> & { readonly input: JsonSchema }): Tool;
export function defineTool(tool: object): Tool {
  refuseUnknown("a tool", tool, TOOL);
  return tool as Tool;
}

/** The arguments of a call as a tool gets them, or why they do not fit. */
export type Checked = { readonly ok: true; readonly input: Json } | { readonly ok: false; readonly problem: string };

/**
 * A tool throws it when it did nothing: a command could not be started, or was refused. Users are then told that the call did
 * not run, and the model reads "Not executed: " with the message.
 * @example throw new NotExecutedError("there is no shell on this system. Use the other tools.");
 */
export class NotExecutedError extends Error {
  override readonly name = "NotExecutedError";
}

/** How a tool failed, as the beginning of what the model is told. */
export function howFailed(error: unknown): "Not executed" | "The tool failed" {
  return error instanceof NotExecutedError ? "Not executed" : "The tool failed";
}
