import type { ActionUser, BranchTarget, CommandStep } from "@banyan/client/actions";
import type { ConversationState, Directive } from "@banyan/core";
import type {
  ApprovalMode,
  CallChanges,
  ContextPart,
  Host,
  KnownModel,
  ProviderStatus,
  RestorationResult,
} from "@banyan/host";
import type { Result, Share } from "@banyan/protocol";
import type { PromptDirective, TalkSession } from "../chat/session/talk-session.ts";
import type { Style } from "../show/style.ts";
import type { KeyRow } from "../terminal/full/keys/key-bindings.ts";
import type { PickerOptions } from "../terminal/full/views/picker.ts";
import type { CopyOutcome } from "../terminal/questions/clipboard.ts";

/** Links by which others can view a conversation in a browser. */
export interface ShareLinks {
  /** Creates a link. The server returns the link's address only here. */
  create(shown: { readonly leaf?: string; readonly seconds?: number }): Promise<{ share: Share; address: string }>;
  list(): Promise<readonly Share[]>;
  revoke(id: string): Promise<unknown>;
}

/** The next step of the chat after a slash command: it shows the prompt again, begins a turn, or ends. */
export type AfterCommand =
  | { readonly type: "ask" }
  | {
      readonly type: "turn";
      readonly directive: Directive | PromptDirective;
      /** The message that the turn continues or revises. Default: the user's place in the conversation. */
      readonly at?: string;
      readonly model?: string;
      readonly agent?: string;
      /** True if the user did not write the text. Files that the text names are then not attached. */
      readonly asIs?: boolean;
      /** The conditions for the end of the turn. */
      readonly goal?: readonly string[];
    }
  | { readonly type: "leave" };

/** The parts of the next model request, for `/context`. */
export interface ContextOverview {
  readonly parts: readonly ContextPart[];
  /** Context size of the model in tokens; absent if unknown. */
  readonly size?: number | undefined;
}

/** The models that a chat can use, in this process or on a server. */
export interface ModelSelection {
  readonly current: KnownModel;
  /** How long a chosen model stays chosen, as the end of a sentence. */
  readonly scope: string;
  /** The user's own names for models, if known. */
  readonly aliases?: Readonly<Record<string, string>>;
  listProviders(): Promise<
    readonly Pick<ProviderStatus, "defaultModel" | "models" | "name" | "price" | "reason" | "usable">[]
  >;
  listModels(provider: string): Promise<readonly KnownModel[]>;
  /** Uses another model from the next step on, and records that in the conversation. */
  use(name: string): Promise<void>;
}

/** The functions of the user's terminal or editor that slash commands use. */
export interface CommandScreen {
  readonly style: Style;
  readonly columns: number;
  /** The effective key bindings; absent in a plain terminal. */
  readonly keys?: readonly KeyRow[] | undefined;
  /** Puts a text, without control characters, into the user's clipboard. */
  copy(text: string): Promise<CopyOutcome>;
  /** Puts a text into the prompt for editing. Absent without a prompt. */
  readonly typeIn?: ((text: string) => void) | undefined;
  /** Lets the user pick something from a list. Resolves with undefined without a choice. */
  pick<T>(list: PickerOptions<T>): Promise<T | undefined>;
  /** Lets the user choose a message in the tree. This function and the next two are absent in a plain terminal. */
  readonly pickMessage?: (() => Promise<string | undefined>) | undefined;
  /** Shows the sub-agents, at least one, until the user goes back. */
  readonly viewAgents?: (() => Promise<void>) | undefined;
  /** Shows the branch from its beginning until the user goes back. */
  readonly viewBranch?: (() => Promise<void>) | undefined;
}

export interface TurnChoices {
  readonly mode: "chat" | "task";
  useMode(mode: "chat" | "task"): void;
  readonly approval: ApprovalMode;
  readonly offeredModes: readonly ApprovalMode[];
  /** Changes the approval mode, and prints a notice. */
  useApproval(mode: ApprovalMode): Promise<void>;
}

/** The functions of a conversation that slash commands use. A command reaches the model only through a turn. */
export interface ConversationContext {
  readonly agent: string;
  /** The state of the conversation; empty before the first message. */
  readonly state: ConversationState;
  readonly user: ActionUser;
  /** Id of the live run; undefined while the agent waits for the user. */
  readonly run: string | undefined;
  /** True if the connection is lost. The state is then the last one before the loss. */
  readonly isAway?: boolean;
  readonly leaf: string | null;
  readonly models: ModelSelection;
  /** Lists the prompts of files and MCP servers. Waits up to `wait` milliseconds for servers that are starting. */
  prompts(wait: number): Promise<Result<"prompt.list">["prompts"]>;
  /** Resolves with the parts of the next model request on the user's branch. */
  sentHere(): Promise<ContextOverview>;
  readonly turns: TurnChoices;
  /**
   * Returns the conversation as a file. HTML and Markdown contain only the user's branch. A conversation must exist.
   */
  exported(format: "html" | "json" | "markdown"): Promise<{ readonly name: string; readonly text: string }>;
  /** Folder of this machine to which the user's file names are relative. */
  readonly directory: string;
  /** Links to this conversation, if its server offers them. */
  readonly shares: ShareLinks;
  readonly screen: CommandScreen;
  write(...lines: readonly string[]): void;
  /** Continues from another message. A message of the user returns to the prompt, to be changed and sent again. */
  goTo(message: string): Promise<void>;
  /** Restores files to their content before a call changed them. The model is told with the next message. */
  undo(call: CallChanges): Promise<RestorationResult>;
  /** Sends a protocol command, for this conversation or in general. Rejects with `ClientError`. */
  ask(step: Pick<CommandStep, "command" | "input" | "isHere">): Promise<unknown>;
  goOn(target: BranchTarget): void;
  readonly own?: OwnContext | undefined;
}

/** Further functions for slash commands, present only if the agent runs in this process. */
export interface OwnContext {
  readonly host: Host;
  readonly session: TalkSession | undefined;
  open(): Promise<TalkSession>;
  /**
   * Leaves the conversation for another one, by its id or title. The user chooses if there is no name or several
   * conversations match. Does nothing without a choice.
   */
  enter(named: string | undefined): Promise<void>;
  /** Leaves the conversation for a new one. Returns the old id, if that conversation has messages. */
  begin(): Promise<string | undefined>;
}

export const ASK: AfterCommand = { type: "ask" };
