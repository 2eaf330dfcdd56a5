import type { ConversationState } from "@banyan/core/conversation";
import type { Say } from "@banyan/core/shown";
import type { Command, CommandName, Result } from "@banyan/protocol";

/** The programs in which a user acts: beside the agent, at a server (`attach`), in an editor, on the page. */
export type ClientKind = "terminal" | "attach" | "editor" | "page";

/** The conversation and the message at which a user writes a line. */
export interface ActionPlace {
  readonly client: ClientKind;
  /** The conversation; empty before its first message. */
  readonly state: ConversationState;
  /** The message that the next one goes below. */
  readonly leaf: string | null;
  /** The run that works on this branch. */
  readonly run: string | undefined;
  /** The name of the agent. */
  readonly agent: string;
  /** How turns are taken. */
  readonly mode: "chat" | "task";
  /** Puts a phrase into the language of the user. */
  readonly say: Say;
}

/** Something that a user does by writing a slash and its name. The model never sees the line. */
export interface Action {
  /** Without the slash. */
  readonly name: string;
  /** Names that other programs have for it (T54). */
  readonly aliases?: readonly string[];
  /** The arguments, as the help shows them: everywhere, or beside the agent and elsewhere. An action without them refuses any. */
  readonly arguments?: string | { readonly terminal: string; readonly elsewhere?: string };
  /** The effect of the action, as a phrase. */
  readonly help: string;
  /** The place on the page that does the same without a command, as a phrase: the page's answer to the name alone. */
  readonly onPage?: string;
  readonly needs?: ActionNeeds;
  /** A prompt of this name that a user or a project brings takes its place. */
  readonly givesWay?: boolean;
  /** Reads its arguments. Throws `Refusal` when they are wrong. */
  read(argument: string, place: ActionPlace): Step;
}

/** Conditions for an action to be offered. */
export interface ActionNeeds {
  /** The clients that can do it; all when absent. */
  readonly clients?: readonly ClientKind[];
  /** The right to this command of the protocol. */
  readonly right?: CommandName;
  /** The right that its arguments need; without arguments it only shows. */
  readonly rightForArguments?: CommandName;
  /** Nothing works on the branch: `turn`, because it begins one; `prompt`, because a terminal writes the run there meanwhile. */
  readonly idle?: "turn" | "prompt";
}

/** The next step of a client. */
export type Step = MessageStep | CommandStep | TurnStep | View;

/** Tells the user something. */
export interface MessageStep {
  readonly type: "message";
  readonly lines: readonly string[];
  /** Problems that the user may not expect, a sentence each. */
  readonly problems?: readonly string[];
  /** Advice for the user's next step. */
  readonly advice?: string;
  readonly goOn?: GoOn;
  /** A view that a client shows beside the conversation. */
  readonly beside?: "compare";
}

/**
 * The place of the next messages: `below` a message, on the branch that got a new message at its `end`, or on the branch with
 * the latest message.
 */
export type GoOn = { readonly below: string } | { readonly end: string } | "latest";

/** Asks the server for a command of the protocol. `result` says what follows. Rejects with `ClientError`. */
export type CommandStep = {
  readonly [Name in CommandName]: {
    readonly type: "command";
    readonly command: Name;
    readonly input: CommandInput<Name>;
    /** The client adds the conversation, and begins one if there is none yet. */
    readonly isHere: boolean;
    readonly result: (result: Result<Name>) => Step | undefined;
  };
}[CommandName];

/** The fields of a command beside its id and its conversation. */
export type CommandInput<Name extends CommandName> = Omit<Command<Name>, "type" | "id" | "conversation">;

/** Begins a turn. */
export interface TurnStep {
  readonly type: "turn";
  readonly turn: "say" | "retry" | "resume";
  /** The text of the message; a retry without a text asks the same again. */
  readonly text?: string;
  /** The message that the turn is about; the end of the branch when absent. */
  readonly at?: string;
  readonly model?: string;
  /** The named agent that takes the turn. */
  readonly agent?: string;
  /** Somebody else wrote the text: nothing goes along that it names. */
  readonly asIs?: boolean;
}

/** Shows something, in the way of the client, or does what only a client can do. */
export type View =
  | { readonly [Name in PlainView]: { readonly type: "view"; readonly view: Name } }[PlainView]
  /** Goes on from a message. A user's own one comes back to be changed. */
  | { readonly type: "view"; readonly view: "go"; readonly message: string }
  /** Branches, by the messages that they end with. */
  | { readonly type: "view"; readonly view: "branches"; readonly leaves: readonly string[] }
  | { readonly type: "view"; readonly view: "compare"; readonly branches: Result<"branch.compare">["branches"] }
  | { readonly type: "view"; readonly view: "worktrees"; readonly worktrees: Result<"worktree.list">["worktrees"] }
  | { readonly type: "view"; readonly view: "mode"; readonly mode: ActionPlace["mode"] | undefined }
  | { readonly type: "view"; readonly view: "approval"; readonly mode: ApprovalMode | undefined }
  /** Writes the conversation to a file; without a name, to one named after the conversation. */
  | { readonly type: "view"; readonly view: "export"; readonly format: ExportFormat; readonly file: string }
  | { readonly type: "view"; readonly view: "share"; readonly share: ShareWish }
  /** Takes the model of a name, or one that the user chooses. */
  | { readonly type: "view"; readonly view: "model"; readonly name: string }
  /** Puts a text into the prompt, to be changed and sent. */
  | { readonly type: "view"; readonly view: "prompt"; readonly text: string; readonly help: string }
  | { readonly [Name in TextView]: { readonly type: "view"; readonly view: Name; readonly text: string } }[TextView];

/** The format of an exported conversation. */
export type ExportFormat = "html" | "json" | "markdown";

/** The wish of a user about links that show the conversation. A new link shows the branch if `isBranch`, for `seconds` or a week. */
export type ShareWish =
  | { readonly type: "make"; readonly isBranch: boolean; readonly seconds: number | undefined }
  | { readonly type: "list" }
  | { readonly type: "revoke"; readonly id: string };

/** The calls that run without asking. */
export type ApprovalMode = "plan" | "ask" | "edits" | "all";

type PlainView =
  | "context"
  | "findings"
  | "help"
  | "hooks"
  | "keys"
  | "leave"
  | "mcp"
  | "new"
  | "plan"
  | "processes"
  | "status"
  | "stop"
  | "title"
  | "transcript"
  | "tree"
  | "usage"
  | "waiting";

/** Views whose client reads what stands behind the name. */
type TextView = "agents" | "changes" | "config" | "conversations" | "copy" | "memory" | "undo";

/** The name of a view. */
export type ViewName = View["view"];

/** An argument that is wrong. Its message is a sentence for the user, in the language of the user. */
export class Refusal extends Error {}

export function message(...lines: readonly string[]): MessageStep {
  return { type: "message", lines };
}

export function view(name: PlainView): View {
  return { type: "view", view: name } as View;
}

export function textView(name: TextView, text: string): View {
  return { type: "view", view: name, text } as View;
}

/** A command about the conversation. */
export function perform<Name extends CommandName>(
  command: Name,
  input: CommandInput<Name>,
  result: (result: Result<Name>) => Step | undefined,
): CommandStep {
  return { type: "command", command, input, isHere: true, result } as unknown as CommandStep;
}

/** A command about the server. */
export function ask<Name extends CommandName>(
  command: Name,
  input: CommandInput<Name>,
  result: (result: Result<Name>) => Step | undefined,
): CommandStep {
  return { type: "command", command, input, isHere: false, result } as unknown as CommandStep;
}
