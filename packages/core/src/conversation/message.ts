import type { OfferedTool } from "./offered-tool.ts";
import { OptionError } from "./option-names.ts";
import type { BroughtFile, Json, Part, TextPart, UserPart } from "./part.ts";
import type { CacheMiss, Cost, Usage } from "./usage.ts";

/**
 * Author of a user message: a user, a tool (the outcome of an edit), or the system (a correction, a limit).
 * See {@link isUserMessage}.
 */
export type Author = "user" | "tool" | "system";

/**
 * Reason for the end of a response. `stop`: the model was done. `calls`: the model waits for results. `length`: the
 * output limit cut it. `filtered`: the provider's filter refused or cut it. `paused`: the provider continues in the next
 * response. `interrupted`: a user interrupted it. `error`: the stream broke. See {@link lastAssistantMessage}.
 */
export type Finish = "stop" | "calls" | "length" | "filtered" | "paused" | "interrupted" | "error";

/**
 * The status of a call.
 * ```
 * pending ──▶ executing ──▶ completed | failed
 *    │   ╲        ╰───────▶ cancelled
 *    │    ╲▶ approval-requested ──▶ executing | denied | cancelled
 *    ╰────▶ failed | denied | cancelled
 * ```
 * See {@link isEnded}.
 */
export type CallStatus =
  | "pending"
  | "approval-requested"
  | "executing"
  | "completed"
  | "failed"
  | "denied"
  | "cancelled";

/** A tool call with its status and result. The message that asked for the call contains it. See {@link callIn}. */
export interface Call {
  readonly id: string;
  readonly tool: string;
  /** The arguments as the model wrote them. For a forwarded call: only the arguments of this tool. */
  readonly inputText: string;
  /** Set if the model called a tool that forwarded the call: the name of that tool. */
  readonly via?: string;
  /**
   * The arguments after their check, for rules, users and the tool. For a call that failed before its check, the model's
   * arguments. Absent while they stream, and if they are not JSON.
   */
  readonly input?: Json | undefined;
  readonly about?: About;
  /** The arguments that ran, if a user changed them before approving. */
  readonly executedInput?: Json;
  readonly status: CallStatus;
  /** Number of starts; 0 before the first. */
  readonly attempt: number;
  /** The user's decision. Absent if no user was asked, or while the question is open. */
  readonly approved?: boolean;
  /** The last 64 Ki characters of the running tool's output. Empty after the end of the call. */
  readonly progress: string;
  /** The result for users and the model, once the call has ended. */
  readonly output?: string;
  /** The result for models, if it differs (`Tool.toModelOutput`). */
  readonly modelOutput?: string;
  /** Files of the result, for models that can see them. `data` is absent if this process does not have the bytes. */
  readonly files?: readonly BroughtFile[];
  /** Changes that the call is about to make, as far as the model has written them. */
  readonly drafts?: readonly ChangeDraft[];
  /** Files that the call has changed, in order. */
  readonly changes?: readonly FileChange[];
  /** Files that the call read, or that its command changed. Present once the call has ended. */
  readonly seen?: readonly SeenFile[];
  /** Number of changed files that are not in `changes`. Absent if there are none, and until the call has ended. */
  readonly changedFiles?: number;
  /** Time of the start. Both times are milliseconds since 1970. */
  readonly startedAt?: number;
  readonly endedAt?: number;
}

/**
 * A tool's description of a call, for users and for rules: the file, command or address that the call is about. Clients
 * and rules read this description, because each tool names its arguments differently. See {@link Tool}.
 */
export interface About {
  readonly offered?: OfferedTool;
  /** A short title, shown on one line. */
  readonly title?: string;
  /** Absolute path of the folder in which the call works (`Tool.folder`). */
  readonly folder?: string;
  /** The program text that the call runs. */
  readonly command?: string;
  /** Files and folders that the call reads or writes, as named in the arguments. */
  readonly paths?: readonly { readonly path: string; readonly access: "read" | "write" }[];
  /** The address that the call requests. */
  readonly url?: string;
  /** The part of the call that its arguments do not show: the command, the files, or all of it. */
  readonly untold?: "command" | "files" | "act";
  /** Names of two arguments: one has the text that is removed from a file, the other the text that is added. */
  readonly change?: { readonly goes?: string; readonly comes: string };
  /**
   * For a call that only reads: the word for what the call reads, such as `file`, in singular and plural. Clients can
   * fold such calls into one line.
   */
  readonly looksAt?: { readonly one: string; readonly several: string };
  /** The named agent that gets a task from the call. */
  readonly agent?: string;
  /** For a call that ends a task: the name of the argument that contains the result. */
  readonly result?: string;
  /** The whole plan, once the call has completed. */
  readonly plan?: readonly PlanStep[];
  /** Set if the call hands in a plan. With approval `plan`, a user decides whether the agent carries it out. */
  readonly handsIn?: boolean;
}

/** A step of an agent's plan. See {@link shownPlan}. */
export interface PlanStep {
  /** The action, in one line. */
  readonly title: string;
  readonly status: "pending" | "in_progress" | "completed";
}

/** A background process that a call started. It can outlive the call, but not the session. See {@link isEvent}. */
export type ProcessEvent =
  | {
      readonly type: "process.started";
      readonly message: string;
      readonly call: string;
      /** Name for users and the model, such as `p1`. If a process of this name runs, only its title changes. */
      readonly process: string;
      readonly title: string;
    }
  | {
      readonly type: "process.ended";
      readonly process: string;
      /** How the process ended, as the end of a sentence, such as `exit code 1`. */
      readonly outcome: string;
      /** Set if the model already knows of the end: it stopped the process, or a call's result reported the end. */
      readonly known?: true;
    };

/** Text that a response has received since the last checkpoint in the log. See {@link isEvent}. */
export interface CheckpointPart {
  readonly index: number;
  readonly type: "text" | "reasoning";
  /** Offset of the text in the part, in UTF-16 units. */
  readonly offset: number;
  readonly text: string;
}

/** Predicted effects of a call, worked out before a user is asked. See {@link Tool}. */
export interface Preview {
  readonly changes?: readonly FileChange[];
  /** Warnings that a user should read before deciding, each as a sentence. */
  readonly notes?: readonly string[];
  /** The limits of the call's program, in one line without a full stop, such as `Outside the sandbox`. */
  readonly confinement?: string;
}

/** A change of a file that the model is still writing. See {@link callIn}. */
export interface ChangeDraft {
  /** Number of the change within its call, from 0. */
  readonly index: number;
  readonly path: string;
  /** Replaced lines, from 1; `end` is the first line after them. Absent: the whole file. */
  readonly start?: number;
  readonly end?: number;
  /** New text. In a delta: the new characters. In a state: all characters so far. */
  readonly text: string;
  /** New problems of the file with the complete changes so far, as lines. */
  readonly problems?: readonly string[];
}

/** A file that a call changed. Digests are the SHA-256 of its bytes in hexadecimal. See {@link callIn}. */
export interface FileChange {
  /** Relative to the workspace. */
  readonly path: string;
  readonly kind: "created" | "changed" | "deleted";
  /** Digest before the change; `null` if the file did not exist. */
  readonly before: string | null;
  /** Digest after the change; `null` if the file does not exist any more. */
  readonly after: string | null;
  /** Numbers of lines. */
  readonly added: number;
  readonly removed: number;
  /** A unified diff, cut at 64 KiB; empty for a binary file. */
  readonly diff: string;
  /**
   * File modes before and after the change, in octal digits as in git ("100755", "120000" for a symbolic link). `null`
   * for no file. Absent if the mode did not change. The content of a symbolic link is the path to which it points.
   */
  readonly mode?: { readonly before: string | null; readonly after: string | null } | undefined;
  /** The formatter that made this change, after the call had changed the file. */
  readonly formatter?: string;
}

/** The content of a file when a call on the branch last read or wrote it. See {@link loggingSeenFiles}. */
export interface SeenFile {
  /** Relative to the workspace. */
  readonly path: string;
  /** SHA-256 of the bytes in hexadecimal; Digest before the change; `null` if the file did not exist. */
  readonly digest: string | null;
}

interface MessageBase {
  readonly id: string;
  /** `null` for a root. */
  readonly parentId: string | null;
  /** The launching call, for a message of a sub-agent. */
  readonly call?: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** A name given by a user. */
  readonly label?: string | undefined;
  readonly starred?: boolean;
  /** Set if a user removed the message. This also removes all messages below it. */
  readonly removed?: boolean;
  /**
   * The reason why the message cannot be read, in one sentence (F77). Its parts are empty, and requests leave the
   * message out; the log keeps the original.
   */
  readonly unreadable?: string;
}

/** An entry that memory recalled for the model. See {@link isUserMessage}. */
export interface RecalledMemory {
  readonly text: string;
  /** Origin for users: a conversation, a file, a date. Not shown to the model. */
  readonly source: string;
  /** Kind, speaker and time of the entry (milliseconds since 1970). The model sees them. */
  readonly kind?: "said" | "fact" | "summary";
  readonly role?: "user" | "assistant";
  readonly at?: number;
  /** The conversation and message of origin, as a link for users. Not shown to the model. */
  readonly conversation?: string;
  readonly message?: string;
  /** Mark with which a response cites the entry, such as `m3`. Set with `memory.cite`. */
  readonly mark?: string;
  /** Set if a user dismissed the entry: the model does not see it, and this branch does not recall it again. */
  readonly dismissed?: true;
}

/** A message to an agent, by a user, a tool or the system. See {@link isUserMessage}. */
export interface UserMessage extends MessageBase {
  readonly role: "user";
  readonly author: Author;
  readonly parts: readonly UserPart[];
  readonly recalled?: readonly RecalledMemory[];
  /** Name of a worktree with files of its own. All messages below this message use it. */
  readonly worktree?: string;
}

/** A model's response, with its calls. See {@link lastAssistantMessage}. */
export interface AssistantMessage extends MessageBase {
  readonly role: "assistant";
  readonly run: string;
  /** `provider/model`. */
  readonly model: string;
  /** The parts so far. They grow while the message streams, and are final once `finish` is set. */
  readonly parts: readonly Part[];
  /** The calls, in the order in which the model wrote them. */
  readonly calls: readonly Call[];
  /** Reason for the end of the response. Absent while the message streams. */
  readonly finish?: Finish;
  /** For `finish: "error"`, the error. For `finish: "filtered"`, the provider's explanation, if there is one. */
  readonly error?: string;
  readonly usage?: Usage;
  readonly cost?: Cost;
  readonly cacheMiss?: CacheMiss;
}

/** A user message that a summary covers. The model still sees the words of the message. See {@link pathTo}. */
export interface KeptMessage {
  readonly message: string;
  /** Length of the words that the model sees, in UTF-16 units. Set if the words are cut in the middle. */
  readonly characters?: number;
}

/** A call whose result the model sees only in shortened form after a summary. See {@link pathTo}. */
export interface ShortenedResult {
  readonly call: string;
  /** The text that replaces the result for the model, without files. */
  readonly text: string;
}

/** A user message that was too large for the model, and the text that replaces it. See {@link pathTo}. */
export interface SetAsideMessage {
  readonly message: string;
  /** The text that replaces the message for the model. */
  readonly text: string;
}

/**
 * The effect of a summary: the number of messages that the model no longer sees, and the tokens of the next request
 * before and after it. See {@link compactedLine}.
 */
export interface CompactionResult {
  /** Number of messages that the model no longer sees. */
  readonly messages: number;
  /** Approximate tokens of the next request without the summary. */
  readonly before: number;
  /** Approximate tokens of the next request with the summary. */
  readonly after: number;
  /** Tokens of the model's context, if known. */
  readonly size?: number;
}

/**
 * A summary. For the model it replaces all messages on its path up to and including `covers`. A summary without
 * `covers` only shortens results and messages, and only users read its text. See {@link pathTo}.
 */
export interface SummaryMessage extends MessageBase {
  readonly role: "summary";
  readonly parts: readonly TextPart[];
  readonly covers?: string;
  /** Earlier calls whose results the model sees shortened, and earlier messages that it sees replaced. */
  readonly shortened?: readonly (ShortenedResult | SetAsideMessage)[];
  /** Covered user messages whose words the model still sees, in path order. */
  readonly kept?: readonly KeptMessage[];
  /** Number of covered user messages whose words the model no longer sees. */
  readonly leftOut?: number;
  /** State of the branch when the summary was written, as a text for the model. */
  readonly state?: string;
  readonly compaction?: CompactionResult;
  /** A note that follows the summary. It tells the model to continue the work, and how to read covered messages. */
  readonly note?: string;
  /** Usage of the model call that wrote the summary. Absent if the model wrote it in a tool call. */
  readonly usage?: Usage;
  readonly cost?: Cost;
}

/** A node of the conversation tree. See {@link textOf}. */
export type Message = UserMessage | AssistantMessage | SummaryMessage;

/**
 * True if a call has its result and cannot change any more.
 * @example isEnded("denied") // true
 */
export function isEnded(status: CallStatus): boolean {
  return status === "completed" || status === "failed" || status === "denied" || status === "cancelled";
}

/**
 * True if the message cannot change any more.
 * @example const settled = pathTo(session.state, session.state.leaf).filter(isSettled);
 */
export function isSettled(message: Message): boolean {
  if (message.role !== "assistant") return true;
  return message.finish !== undefined && message.calls.every((call) => isEnded(call.status));
}

/**
 * True if a user wrote the message, and not a tool or the system.
 * @example const questions = [...session.state.messages.values()].filter(isUserMessage);
 */
export function isUserMessage(message: Message): message is UserMessage {
  return message.role === "user" && message.author === "user";
}

/**
 * Returns the text of a message, without reasoning. Several texts of a user become separate paragraphs.
 * @example for (const message of session.state.messages.values()) console.log(message.role, textOf(message));
 */
export function textOf(message: Message): string {
  if (!Array.isArray(message?.parts))
    throw new OptionError("message of textOf must be a message, with a list of parts.");
  const between = message.role === "user" ? "\n\n" : "";
  let text = "";
  for (const part of message.parts) if (part.type === "text") text += (text && between) + part.text;
  return text;
}

/**
 * Returns the text that a user typed, without attachments. For a message from another author, returns all its text.
 * @example const typed = pathTo(session.state, session.state.leaf).map(typedText);
 */
export function typedText(message: Message): string {
  if (!isUserMessage(message)) return textOf(message);
  return message.parts.find((part) => part.type === "text")?.text ?? "";
}

/** Returns the result of an ended call as models see it. If a user changed the arguments, the text says so. */
export function shownOutput(call: Call): string {
  const { executedInput } = call;
  const output = outputForModel(call);
  return executedInput === undefined
    ? output
    : `(The user changed the arguments to ${JSON.stringify(executedInput)}.)\n${output}`;
}

/** Returns the result of a call for models. */
export function outputForModel({ output = "", modelOutput = output }: Call): string {
  return modelOutput;
}

/** Returns a call that the model has begun to write, still without arguments. */
export function newCall(id: string, tool: string): Call {
  return { id, tool, inputText: "", status: "pending", attempt: 0, progress: "" };
}
