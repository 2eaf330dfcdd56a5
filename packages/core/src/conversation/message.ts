import type { OfferedTool } from "./offered-tool.ts";
import type { Cost, Usage } from "./usage.ts";

/** Anything that JSON can hold. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/**
 * What a provider wants to see again with a part (a reasoning signature, an item id), under the provider's name.
 * Kept as it came; only the driver of that provider reads it.
 */
export type ProviderData = Readonly<Record<string, Readonly<Record<string, Json>>>>;

/** What is said, as a rule in Markdown. */
export interface TextPart {
  readonly type: "text";
  readonly text: string;
  readonly provider?: ProviderData;
}

/** What a model thought before it said or called something, as far as its provider shows it. */
export interface ReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
  readonly provider?: ProviderData;
}

/** Where a call stands among the other parts of its message; the call itself is in `calls`. */
export interface CallPart {
  readonly type: "call";
  /** The id of the call. */
  readonly call: string;
  readonly provider?: ProviderData;
}

/** A file in a message: its bytes in base 64, or an address. */
export interface FilePart {
  readonly type: "file";
  /** As in `image/png`. */
  readonly mediaType: string;
  /** What people call it. */
  readonly name?: string | undefined;
  /** Its bytes in base 64, without `data:` before them. */
  readonly data?: string | undefined;
  /** Where the provider finds it, when there is no `data`. */
  readonly url?: string | undefined;
}

/** A file that a call brought, with its output: a picture, a document, sound. */
export interface BroughtFile extends FilePart {
  /** Of its bytes in base 64, as the log names them. */
  readonly digest: string;
}

/** A source that the provider cites. */
export interface SourcePart {
  readonly type: "source";
  readonly url: string;
  readonly title?: string;
}

/**
 * Something that the provider did on its side while it wrote the message: a call of a tool that it ran, or the result. It is
 * never run here, and goes back to the provider as it came.
 */
export interface ProviderPart {
  readonly type: "provider";
  /** What it is, in a few words for people. */
  readonly text: string;
  /** Under the provider's name; for its driver alone. */
  readonly provider: ProviderData;
}

/** What an assistant message can hold. */
export type Part = TextPart | ReasoningPart | CallPart | FilePart | SourcePart | ProviderPart;

/** What a user message can hold. */
export type UserPart = TextPart | FilePart;

/** Who wrote a user message: a person, a tool (an edit's outcome) or the system (a correction, a limit). */
export type Author = "user" | "tool" | "system";

/**
 * Why a response ended. `stop`: the model was done. `calls`: it waits for results. `length`: cut by the output limit.
 * `filtered`: refused, or cut by the provider's filter. `paused`: the provider set its own work down, and goes on in the
 * next response. `interrupted`: by a person. `error`: the stream broke.
 */
export type Finish = "stop" | "calls" | "length" | "filtered" | "paused" | "interrupted" | "error";

/**
 * ```
 * pending ──▶ executing ──▶ completed | failed
 *    │   ╲        ╰───────▶ cancelled
 *    │    ╲▶ approval-requested ──▶ executing | denied | cancelled
 *    ╰────▶ failed | denied | cancelled
 * ```
 */
export type CallStatus =
  | "pending"
  | "approval-requested"
  | "executing"
  | "completed"
  | "failed"
  | "denied"
  | "cancelled";

/** A tool call. Its status and result live here, in the message that asked for it. */
export interface Call {
  readonly id: string;
  readonly tool: string;
  /** What the model wrote, word for word; of what it wrote to a tool that forwards, the arguments of this one. */
  readonly inputText: string;
  /** The tool that the model called, when that is one that forwards to this. */
  readonly via?: string;
  /**
   * The arguments as they were checked: what is judged, shown and run. Of a call that came to nothing before that, what the
   * model wrote. Absent while they stream and when they are not JSON.
   */
  readonly input?: Json;
  /** What the call is about, as its tool says. */
  readonly about?: About;
  /** The arguments that ran, when a person changed them before approving. */
  readonly executedInput?: Json;
  readonly status: CallStatus;
  /** How often it was started; 0 before the first time. */
  readonly attempt: number;
  /** What a person said of it; absent when nobody was asked, or while nobody has answered. */
  readonly approved?: boolean;
  /** What the tool has said so far while it runs: the tail, at most 64 Ki characters. Empties when the call ends. */
  readonly progress: string;
  /** What the model is told; present once the call has ended, and then final. */
  readonly output?: string;
  /** Files that the model is shown with it, where it can see them. Without `data` where nobody here was told the bytes. */
  readonly files?: readonly BroughtFile[];
  /** Changes that the call is about to make, as far as the model has written them. */
  readonly drafts?: readonly Draft[];
  /** Files that the call has changed, in order. */
  readonly changes?: readonly FileChange[];
  /** Files that the call has read, or found changed by what it ran; present once the call has ended. */
  readonly seen?: readonly SeenFile[];
  /** Milliseconds since 1970. */
  readonly startedAt?: number;
  readonly endedAt?: number;
}

/**
 * What a call is about, as its tool says of the arguments: for people, and for whoever judges it. Nothing else tells what
 * an argument means, least of all its name.
 */
export interface About {
  /** The MCP server that offers the tool, and the name of the tool there. */
  readonly offered?: OfferedTool;
  /** In a few words, for one line. */
  readonly title?: string;
  /** The absolute path of the folder that the call works in (`Tool.folder`). */
  readonly folder?: string;
  /** The program text that it runs. */
  readonly command?: string;
  /** Files and folders that it reads or writes, as the arguments name them. */
  readonly paths?: readonly { readonly path: string; readonly access: "read" | "write" }[];
  /** The address that it asks. */
  readonly url?: string;
  /** What the caller does not tell of the call: the command, the files, or what the call does at all. */
  readonly untold?: "command" | "files" | "act";
  /** The names of the arguments that hold text which goes from a file, and text which comes into it. */
  readonly change?: { readonly goes?: string; readonly comes: string };
  /** It only looks, and this is what it looks at, in words: one of it, and several. Such calls may be folded into one line. */
  readonly looksAt?: { readonly one: string; readonly several: string };
  /** The named agent that it hands a task to. */
  readonly agent?: string;
  /** It ends a task: the name of the argument that holds what came of that. */
  readonly result?: string;
  /** The plan as it is from this call on, whole, once the call has completed. */
  readonly plan?: readonly PlanStep[];
  /** The plan is handed in: where approval is `plan`, a person decides whether it is carried out. */
  readonly handsIn?: boolean;
}

/** One thing that the agent means to do. */
export interface PlanStep {
  /** What is to be done, in a line. */
  readonly title: string;
  readonly status: "pending" | "in_progress" | "completed";
}

/** What a call began stays when the call has its result, until it ends by itself, is stopped, or the session closes. */
export type ProcessEvent =
  | {
      readonly type: "process.started";
      readonly message: string;
      readonly call: string;
      /** What people and the model call it: `p1`, `p2`, and so on. */
      readonly process: string;
      /** What it is: one line. */
      readonly title: string;
    }
  | {
      readonly type: "process.ended";
      readonly process: string;
      /** How: the end of a sentence, such as `exit code 1`. */
      readonly outcome: string;
      /** The model knows: it has stopped it itself, or its call says so. */
      readonly known?: true;
    };

/** Text of a streaming part that the log does not have yet. */
export interface CheckpointPart {
  readonly index: number;
  readonly type: "text" | "reasoning";
  /** Where in the part the text begins, in UTF-16 units. */
  readonly offset: number;
  readonly text: string;
}

/** What a call would do, worked out before a person is asked. */
export interface Preview {
  /** What would become of files. */
  readonly changes?: readonly FileChange[];
  /** Sentences that a person should know before they decide. */
  readonly notes?: readonly string[];
}

/** A change of a file that the model is writing: not made yet. */
export interface Draft {
  /** Counts the changes of one call, from 0. */
  readonly index: number;
  readonly path: string;
  /** The lines that it replaces, counted from 1; `end` is the first one behind them. Absent: the whole file. */
  readonly start?: number;
  readonly end?: number;
  /** The new text: what came since, when it is shown; all so far, in a state. */
  readonly text: string;
}

/** A file that a call changed. Digests are the SHA-256 of its bytes in hexadecimal. */
export interface FileChange {
  /** Relative to the workspace. */
  readonly path: string;
  readonly kind: "created" | "changed" | "deleted";
  /** `null` for a file that was not there. */
  readonly before: string | null;
  /** `null` for a file that is not there any more. */
  readonly after: string | null;
  /** Lines. */
  readonly added: number;
  readonly removed: number;
  /** A unified diff, cut at 64 KiB; empty for a binary file. */
  readonly diff: string;
  /**
   * The modes before and after in octal digits, as git writes them ("100755", "120000" for a link); `null` for no file.
   * Absent when the change left the mode alone. The content of a link is its target.
   */
  readonly mode?: { readonly before: string | null; readonly after: string | null } | undefined;
}

/** A file as a branch saw it. */
export interface SeenFile {
  /** Relative to the workspace. */
  readonly path: string;
  /** The SHA-256 of its bytes in hexadecimal; `null` for a file that was not there. */
  readonly digest: string | null;
}

interface MessageBase {
  readonly id: string;
  /** `null` for a root. */
  readonly parentId: string | null;
  /** The call whose sub-agent the message belongs to; absent in the conversation with the person. */
  readonly call?: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** A name that a person gave it. */
  readonly label?: string | undefined;
  readonly starred?: boolean;
  /** A person removed it, and with it all below. */
  readonly removed?: boolean;
  /**
   * Why the message cannot be read (F77): one sentence. Its parts are empty, and no request holds it; the log keeps what
   * was written.
   */
  readonly unreadable?: string;
}

/** Something that memory put in front of the model. */
export interface Recalled {
  readonly text: string;
  /** Where it is from, for people: a conversation, a file, a date. Not for the model. */
  readonly source: string;
  /** What it is, who said it, and when (milliseconds since 1970): that the model is told. */
  readonly kind?: "said" | "fact" | "summary";
  readonly role?: "user" | "assistant";
  readonly at?: number;
  /** The conversation that it is from, and the message there, for who wants to go there; not for the model. */
  readonly conversation?: string;
  readonly message?: string;
  /** A person does not want it used: the model is not told it, and it is not recalled on this branch again. */
  readonly dismissed?: true;
}

/** What an agent is told: by a person, or in their stead by a tool or the system. */
export interface UserMessage extends MessageBase {
  readonly role: "user";
  readonly author: Author;
  readonly parts: readonly UserPart[];
  /** What memory added for this message. */
  readonly recalled?: readonly Recalled[];
  /** The name of the worktree in which all below it works, so that it has files of its own. */
  readonly worktree?: string;
}

/** A model's response to the path above it, with the calls that it asked for. */
export interface AssistantMessage extends MessageBase {
  readonly role: "assistant";
  /** The run that wrote it. */
  readonly run: string;
  /** `provider/model`. */
  readonly model: string;
  /** Grows while the message streams; final once `finish` is there. */
  readonly parts: readonly Part[];
  /** In the order in which the model asked. */
  readonly calls: readonly Call[];
  /** Absent while the message streams. */
  readonly finish?: Finish;
  /** What went wrong, when `finish` is `error`; what the provider says about it, if anything, when it is `filtered`. */
  readonly error?: string;
  readonly usage?: Usage;
  readonly cost?: Cost;
}

/** A user message that a summary covers and whose words the model is still shown. */
export interface KeptMessage {
  /** The id of the message. */
  readonly message: string;
  /** UTF-16 units of its words that are shown, when these are cut in the middle. */
  readonly characters?: number;
}

/** A call above a summary whose result the model is no longer shown whole. */
export interface ShortenedResult {
  /** The id of the call. */
  readonly call: string;
  /** The text that the model is shown in the place of the result, without the files. */
  readonly text: string;
}

/** A user message above a summary that was too large for the model. */
export interface SetAsideMessage {
  /** The id of the message. */
  readonly message: string;
  /** The text that the model is shown in the place of the message. */
  readonly text: string;
}

/** The effect of a summary on the next request. */
export interface CompactionResult {
  /** Messages that the model is shown no more. */
  readonly messages: number;
  /** Tokens of the next request without the summary, about. */
  readonly before: number;
  /** Tokens of the next request with the summary, about. */
  readonly after: number;
  /** Tokens of the model's context, if that is known. */
  readonly size?: number;
}

/**
 * Stands for everything on its path up to and including `covers`. Without `covers` it stands for nothing: it only shortens
 * results and messages, and its text is for users.
 */
export interface SummaryMessage extends MessageBase {
  readonly role: "summary";
  readonly parts: readonly TextPart[];
  readonly covers?: string;
  /** Calls above it whose results the model is shown shortened from here on, and messages that it is not shown. */
  readonly shortened?: readonly (ShortenedResult | SetAsideMessage)[];
  /** The covered user messages whose words the model is still shown, in the order of the path. */
  readonly kept?: readonly KeptMessage[];
  /** The number of covered user messages whose words the model is not shown. */
  readonly leftOut?: number;
  /** The state of the branch when the summary was written, as a text for the model. */
  readonly state?: string;
  /** The effect of the summary on the next request, for users. */
  readonly compaction?: CompactionResult;
  /** A note of the program behind the summary: the work continues, and how the model reads the covered messages. */
  readonly note?: string;
  /** Of the model call that wrote it; absent when a tool call of a response did. */
  readonly usage?: Usage;
  readonly cost?: Cost;
}

/** A node of the conversation tree. */
export type Message = UserMessage | AssistantMessage | SummaryMessage;

/** Whether a call has its result, so that nothing about it can change any more. */
export function isEnded(status: CallStatus): boolean {
  return status === "completed" || status === "failed" || status === "denied" || status === "cancelled";
}

/** Whether nothing about the message can change any more. */
export function isSettled(message: Message): boolean {
  if (message.role !== "assistant") return true;
  return message.finish !== undefined && message.calls.every((call) => isEnded(call.status));
}

/** Whether a person said it, and no tool and not the system in their stead. */
export function isPersons(message: Message): message is UserMessage {
  return message.role === "user" && message.author === "user";
}

/** The text of a message, without reasoning. What a person sent as several texts stands in paragraphs of their own. */
export function textOf(message: Message): string {
  const between = message.role === "user" ? "\n\n" : "";
  let text = "";
  for (const part of message.parts) if (part.type === "text") text += (text && between) + part.text;
  return text;
}

/** What a person typed of a message, without what went along with it; of any other message all of its text. */
export function typedText(message: Message): string {
  if (!isPersons(message)) return textOf(message);
  return message.parts.find((part) => part.type === "text")?.text ?? "";
}

/** A call that the model has begun to write. */
export function newCall(id: string, tool: string): Call {
  return { id, tool, inputText: "", status: "pending", attempt: 0, progress: "" };
}
