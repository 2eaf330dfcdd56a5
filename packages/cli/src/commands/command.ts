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
import type { PromptDirective, TalkSession } from "../chat/talk/talk-session.ts";
import type { Style } from "../show/style.ts";
import type { CopyOutcome } from "../terminal/clipboard.ts";
import type { KeyRow } from "../terminal/full/keys/key-bindings.ts";
import type { PickerOptions } from "../terminal/full/views/picker.ts";

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

/** Context of a command in a conversation, here or at a server. A command reaches the model only through a turn. */
export interface ConversationContext {
  /** Display name of the agent. */
  readonly agent: string;
  readonly style: Style;
  readonly columns: number;
  /** The tree; empty before the first message. */
  readonly state: ConversationState;
  /** The user's client and rights. */
  readonly user: ActionUser;
  /** The live run; undefined at rest. */
  readonly run: string | undefined;
  /** True if the connection is lost: the state is from before the loss. */
  readonly isAway?: boolean;
  /** Parent of the next message. */
  readonly leaf: string | null;
  readonly models: ModelSelection;
  /**
   * Prompts of files and MCP servers, for users who may send them. Waits at most `wait` milliseconds for servers that
   * are starting.
   */
  prompts(wait: number): Promise<Result<"prompt.list">["prompts"]>;
  /** The context that the model gets on the user's branch. */
  sentHere(): Promise<ContextOverview>;
  /** Mode of coming turns. */
  readonly mode: "chat" | "task";
  useMode(mode: "chat" | "task"): void;
  /** Approval mode: which calls run without asking. */
  readonly approval: ApprovalMode;
  /** Changes the approval mode, and tells the user. */
  useApproval(mode: ApprovalMode): Promise<void>;
  /** Copies a text, without terminal control characters, to the clipboard. */
  copy(text: string): Promise<CopyOutcome>;
  /** The conversation as a file; Markdown contains the user's branch. The conversation must exist. */
  exported(format: "html" | "json" | "markdown"): Promise<{ readonly name: string; readonly text: string }>;
  /** Folder on this machine for files that the user names. */
  readonly directory: string;
  /** Links to this conversation, if its server offers them. */
  readonly shares: ShareLinks;
  /** The effective key bindings; absent in a plain terminal. */
  readonly keys?: readonly KeyRow[] | undefined;
  /** Prints lines of plain text. */
  write(...lines: readonly string[]): void;
  /** Lets the user choose a message in the tree; undefined without a choice. Absent in a plain terminal. */
  readonly pickMessage?: (() => Promise<string | undefined>) | undefined;
  /** Lets the user choose from a list; undefined without a choice. */
  pick<T>(list: PickerOptions<T>): Promise<T | undefined>;
  /** Shows the sub-agents until the user goes back. There must be at least one. Absent in a plain terminal. */
  readonly viewAgents?: (() => Promise<void>) | undefined;
  /** Shows the branch from its beginning until the user goes back. Absent in a plain terminal. */
  readonly viewBranch?: (() => Promise<void>) | undefined;
  /** Continues from another message. An own message returns to the prompt, to be revised. */
  goTo(message: string): Promise<void>;
  /** Puts a text into the prompt, to be edited. Absent without a prompt. */
  readonly typeIn?: ((text: string) => void) | undefined;
  /** Reverts files to their state before a call. The next message tells the model. */
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
