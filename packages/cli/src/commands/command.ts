import type { ActionUser, CommandStep, NextPlace } from "@banyan/client/actions";
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

/** The links of a server to a conversation. */
export interface ShareLinks {
  /** Creates a link. The server returns its address only here. */
  create(shown: { readonly leaf?: string; readonly seconds?: number }): Promise<{ share: Share; address: string }>;
  /** Valid links to this conversation. */
  list(): Promise<readonly Share[]>;
  /** Revokes a link. */
  revoke(id: string): Promise<unknown>;
}

/** The next step after a command: another prompt, a turn, or the end of the chat. */
export type AfterCommand =
  | { readonly type: "ask" }
  | {
      readonly type: "turn";
      readonly directive: Directive | PromptDirective;
      /** Message that the turn concerns. Default: the user's place. */
      readonly at?: string;
      /** Model of this turn. Default: the current model. */
      readonly model?: string;
      /** Named agent that takes the turn. */
      readonly agent?: string;
      /** Another author wrote the text, so files that it names are not attached. */
      readonly asIs?: boolean;
    }
  | { readonly type: "leave" };

/** The context that the model gets. */
export interface ContextOverview {
  readonly parts: readonly ContextPart[];
  /** Context size of the model in tokens; absent if unknown. */
  readonly size?: number | undefined;
}

/** The models that a chat can use, here or at a server. */
export interface ModelSelection {
  /** The current model. */
  readonly current: KnownModel;
  /** Scope of a choice beyond the next message: the end of a sentence. */
  readonly scope: string;
  /** The user's own names for models, if known. */
  readonly aliases?: Readonly<Record<string, string>>;
  listProviders(): Promise<
    readonly Pick<ProviderStatus, "defaultModel" | "models" | "name" | "price" | "reason" | "usable">[]
  >;
  /** The known models of a provider. */
  listModels(provider: string): Promise<readonly KnownModel[]>;
  /** Uses another model from the next step on, and records that in the conversation. */
  use(name: string): Promise<void>;
}

/** The user's screen, as a command uses it. */
export interface CommandScreen {
  readonly style: Style;
  readonly columns: number;
  /** The effective key bindings; absent in a plain terminal. */
  readonly keys?: readonly KeyRow[] | undefined;
  /** Puts a text into the user's clipboard, without control characters for the terminal. */
  copy(text: string): Promise<CopyOutcome>;
  /** Puts a text into the prompt, to be edited. Absent without a prompt. */
  readonly typeIn?: ((text: string) => void) | undefined;
  /** Lets the user pick something from a list; resolves with nothing when the user picks nothing. */
  pick<T>(list: PickerOptions<T>): Promise<T | undefined>;
  /** Lets the user choose a message in the tree; absent in a terminal that does not redraw. */
  readonly pickMessage?: (() => Promise<string | undefined>) | undefined;
  /** Shows the sub-agents, at least one, until the user goes back; absent in a terminal that does not redraw. */
  readonly viewAgents?: (() => Promise<void>) | undefined;
  /** Shows the branch from its beginning until the user goes back; absent in a terminal that does not redraw. */
  readonly viewBranch?: (() => Promise<void>) | undefined;
}

/** How the next turns are taken. */
export interface TurnChoices {
  readonly mode: "chat" | "task";
  useMode(mode: "chat" | "task"): void;
  /** Approval mode: which calls run without asking. */
  readonly approval: ApprovalMode;
  /** Takes another approval mode, and says so. */
  useApproval(mode: ApprovalMode): Promise<void>;
}

/** Context of a command in a conversation, here or at a server. A command reaches the model only through a turn. */
export interface ConversationContext {
  /** Display name of the agent. */
  readonly agent: string;
  /** The tree; empty before the first message. */
  readonly state: ConversationState;
  /** The user's client and rights. */
  readonly user: ActionUser;
  /** The run that is under way; none while the user is asked. */
  readonly run: string | undefined;
  /** The connection is lost: the state is that of the moment when it was lost. */
  readonly isAway?: boolean;
  /** Parent of the next message. */
  readonly leaf: string | null;
  readonly models: ModelSelection;
  /**
   * Lists the prompts of files and MCP servers, for users who may send them. Waits at most `wait` milliseconds for servers that
   * are still starting.
   */
  prompts(wait: number): Promise<Result<"prompt.list">["prompts"]>;
  /** Resolves with the parts of the request that the model gets on the user's branch. */
  sentHere(): Promise<ContextOverview>;
  readonly turns: TurnChoices;
  /** The conversation as a file: in a format for one branch, the user's branch. A conversation must exist. */
  exported(format: "html" | "json" | "markdown"): Promise<{ readonly name: string; readonly text: string }>;
  /** The folder of this machine to which the user's file names are relative. */
  readonly directory: string;
  /** Links to this conversation, if its server offers them. */
  readonly shares: ShareLinks;
  readonly screen: CommandScreen;
  /** Prints lines of plain text. */
  write(...lines: readonly string[]): void;
  /** Continues from another message. A message of the user goes back into the prompt, to be changed and sent again. */
  goTo(message: string): Promise<void>;
  /** Restores files to their content before a call changed them. The model is told with the next message. */
  undo(call: CallChanges): Promise<RestorationResult>;
  /** Sends a protocol command, for this conversation or in general. Rejects with `ClientError`. */
  ask(step: Pick<CommandStep, "command" | "input" | "isHere">): Promise<unknown>;
  /** Sets the parent of the next message. */
  goOn(place: NextPlace): void;
  /** Additional context if the agent runs in this process. */
  readonly own?: OwnContext | undefined;
}

/** Context of a command in a chat with an agent of this process. */
export interface OwnContext {
  readonly host: Host;
  /** The conversation; undefined before it begins. */
  readonly session: TalkSession | undefined;
  /** The conversation, begun if there is none yet. */
  open(): Promise<TalkSession>;
  /**
   * Leaves the conversation for another one, by its id or title. Without a name, or if several match, the user
   * chooses. Does nothing without a choice.
   */
  enter(named: string | undefined): Promise<void>;
  /** Leaves the conversation for a new one. Returns the old id, if that conversation has messages. */
  begin(): Promise<string | undefined>;
}

export const ASK: AfterCommand = { type: "ask" };
