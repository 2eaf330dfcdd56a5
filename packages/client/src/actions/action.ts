import type { ConversationState } from "@banyan/core/conversation";
import type { Say } from "@banyan/core/shown";
import type { ApprovalMode, Command, CommandName, Result } from "@banyan/protocol";

/**
 * The client program of a user: a terminal in which the agent itself runs, a terminal that is connected to a server
 * (`attach`), an editor, or the page.
 */
export type ClientKind = "terminal" | "attach" | "editor" | "page";

/** The conversation and the message at which a user writes a line. */
export interface ActionContext {
  readonly client: ClientKind;
  /** The state of the conversation. Empty before the first message. */
  readonly state: ConversationState;
  /** The parent of the next message. */
  readonly leaf: string | null;
  /** The run that works on this branch. */
  readonly run: string | undefined;
  readonly agent: string;
  /** Mode of the next turns. */
  readonly mode: "chat" | "task";
  readonly say: Say;
}

/** An action that a user starts with a slash and a name, such as `/model`. The model never sees this line. */
export interface Action {
  /** Without the slash. */
  readonly name: string;
  /** The names that other programs use for this action (T54). */
  readonly aliases?: readonly string[];
  /**
   * Arguments as the help shows them: one text for all clients, or one for terminals and one for other clients. Absent:
   * the action rejects arguments.
   */
  readonly arguments?: string | { readonly terminal: string; readonly elsewhere?: string };
  readonly help: string;
  /** How to perform the action on the page. The page shows this advice for a line that has only the name. */
  readonly onPage?: string;
  readonly needs?: ActionNeeds;
  /** True if a prompt with this name, from a user or a project, replaces the action. */
  readonly givesWay?: boolean;
  /** Reads the arguments. Throws `ActionRefusal` for wrong arguments. */
  read(argument: string, context: ActionContext): ActionStep;
}

/** Conditions under which an action is offered. */
export interface ActionNeeds {
  /** Clients that offer this action. Absent: all clients. */
  readonly clients?: readonly ClientKind[];
  /** The user needs the right to send this protocol command. */
  readonly right?: CommandName;
  /** The command whose right a user needs to give arguments. Without arguments, the action only shows something. */
  readonly rightForArguments?: CommandName;
  /**
   * Set if no run may work on the branch. `turn`: the action begins a turn. `prompt`: a terminal prints the run in the
   * prompt.
   */
  readonly idle?: "turn" | "prompt";
}

/** The next step of a client. */
export type ActionStep = MessageStep | CommandStep | TurnStep | ViewStep;

/** Shows a message to the user. */
export interface MessageStep {
  readonly type: "message";
  readonly lines: readonly string[];
  /** Unexpected problems, one sentence each. */
  readonly problems?: readonly string[];
  readonly advice?: string;
  /** Undone file changes. A client that has enough room shows the lines of the changes. */
  readonly undone?: Result<"file.rewind">["changes"];
  readonly goOn?: BranchTarget;
  /** A view that the client opens next to the conversation. */
  readonly beside?: "compare";
}

/** Where the next messages go: `below` a message, on the branch that ends at `end`, or on the latest branch. */
export type BranchTarget = { readonly below: string } | { readonly end: string } | "latest";

/** Sends a protocol command. `result` returns the next step. Rejects with `ClientError`. */
export type CommandStep = {
  readonly [Name in CommandName]: {
    readonly type: "command";
    readonly command: Name;
    readonly input: CommandInput<Name>;
    /** The client adds the conversation's id, and first creates the conversation if necessary. */
    readonly isHere: boolean;
    readonly result: (result: Result<Name>) => ActionStep | undefined;
  };
}[CommandName];

/** The fields of a command except its id and its conversation. */
export type CommandInput<Name extends CommandName> = Omit<Command<Name>, "type" | "id" | "conversation">;

/** Begins a turn. */
export interface TurnStep {
  readonly type: "turn";
  readonly turn: "say" | "retry" | "resume";
  /** Text of the message. A retry without a text asks the same question again. */
  readonly text?: string;
  /** The message from which the turn continues. Absent: the end of the branch. */
  readonly at?: string;
  readonly model?: string;
  readonly agent?: string;
  /** True if the user did not write the text. Files that are named in the text are then not attached. */
  readonly asIs?: boolean;
  /** The conditions for the end of the turn, as in `turn.say`. */
  readonly goal?: readonly string[];
}

/** Opens a view of the client, or performs an action that only a client can perform. */
export type ViewStep =
  | { readonly [Name in PlainView]: { readonly type: "view"; readonly view: Name } }[PlainView]
  /** Continues from a message. A user's own message returns to the prompt for editing. */
  | { readonly type: "view"; readonly view: "go"; readonly message: string }
  /** Branches, by their last messages. */
  | { readonly type: "view"; readonly view: "branches"; readonly leaves: readonly string[] }
  /** Lists the changed files, or the change of the file `text`, since an earlier state. */
  | { readonly type: "view"; readonly view: "changes"; readonly since: ChangesSince; readonly text: string }
  | { readonly type: "view"; readonly view: "compare"; readonly branches: Result<"branch.compare">["branches"] }
  | { readonly type: "view"; readonly view: "worktrees"; readonly worktrees: Result<"worktree.list">["worktrees"] }
  | { readonly type: "view"; readonly view: "mode"; readonly mode: ActionContext["mode"] | undefined }
  | { readonly type: "view"; readonly view: "approval"; readonly mode: ApprovalMode | undefined }
  /** Writes the conversation to a file. Without a name, the file is named after the conversation. */
  | { readonly type: "view"; readonly view: "export"; readonly format: ExportFormat; readonly file: string }
  | { readonly type: "view"; readonly view: "share"; readonly share: ShareRequest }
  /** Uses the named model, or lets the user choose. */
  | { readonly type: "view"; readonly view: "model"; readonly name: string }
  /** Puts a text into the prompt for editing. */
  | { readonly type: "view"; readonly view: "prompt"; readonly text: string; readonly help: string }
  | { readonly [Name in TextView]: { readonly type: "view"; readonly view: Name; readonly text: string } }[TextView];

/**
 * The state with which the files are compared: before the last turn that changed files, before the conversation, or at
 * git's last commit.
 */
export type ChangesSince = "turn" | "conversation" | "git";

/** Format of an exported conversation. */
export type ExportFormat = "html" | "json" | "markdown";

/**
 * A request about share links. With `isBranch`, a new link shows only the branch. A new link ends after `seconds`, or
 * after a week.
 */
export type ShareRequest =
  | { readonly type: "make"; readonly isBranch: boolean; readonly seconds: number | undefined }
  | { readonly type: "list" }
  | { readonly type: "revoke"; readonly id: string };

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

/** Views whose client interprets the text after the name. */
type TextView = "agents" | "config" | "conversations" | "copy" | "memory" | "undo";

/** Name of a view. */
export type ViewName = ViewStep["view"];

/** Error of a wrong argument. The message is a sentence in the user's language. */
export class ActionRefusal extends Error {}

export function message(...lines: readonly string[]): MessageStep {
  return { type: "message", lines };
}

export function view(name: PlainView): ViewStep {
  return { type: "view", view: name } as ViewStep;
}

export function textView(name: TextView, text: string): ViewStep {
  return { type: "view", view: name, text } as ViewStep;
}

export function conversationCommand<Name extends CommandName>(
  command: Name,
  input: CommandInput<Name>,
  result: (result: Result<Name>) => ActionStep | undefined,
): CommandStep {
  return { type: "command", command, input, isHere: true, result } as unknown as CommandStep;
}

export function serverCommand<Name extends CommandName>(
  command: Name,
  input: CommandInput<Name>,
  result: (result: Result<Name>) => ActionStep | undefined,
): CommandStep {
  return { type: "command", command, input, isHere: false, result } as unknown as CommandStep;
}
