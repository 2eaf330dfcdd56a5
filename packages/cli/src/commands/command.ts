import type { ActionUser, CommandStep, GoOn } from "@banyan/client/actions";
import type { ConversationState, Directive } from "@banyan/core";
import type { ApprovalMode, CallChanges, ContextPart, Host, KnownModel, ProviderStatus, TakenBack } from "@banyan/host";
import type { Result } from "@banyan/protocol";
import type { PromptDirective, TalkSession } from "../chat/talk/talk-session.ts";
import type { Style } from "../show/style.ts";
import type { Copied } from "../terminal/clipboard.ts";
import type { KeyRow } from "../terminal/full/keys/key-bindings.ts";
import type { PickerOptions } from "../terminal/full/views/picker.ts";
import type { Shares } from "./share.ts";

/** What happens after a command: the person is asked again, a turn is taken, or the chat ends. */
export type Next =
  | { readonly type: "ask" }
  | {
      readonly type: "turn";
      readonly directive: Directive | PromptDirective;
      /** The message that it is about; where the person stands when absent. */
      readonly at?: string;
      /** The model of this turn; the one in use when absent. */
      readonly model?: string;
      /** The named agent that takes it. */
      readonly agent?: string;
      /** What is said was written by somebody else: nothing goes along that it names. */
      readonly asIs?: boolean;
    }
  | { readonly type: "leave" };

/** What the model is sent. */
export interface ContextHere {
  readonly parts: readonly ContextPart[];
  /** Tokens that the model takes; absent when that is not known. */
  readonly size?: number | undefined;
}

/** The models that can be taken in a chat, here or on a server. */
export interface ModelsHere {
  /** The one in use. */
  readonly current: KnownModel;
  /** What a choice is for beside the next message: the end of a sentence. */
  readonly scope: string;
  /** Names of a person's own for models, where they are known. */
  readonly aliases?: Readonly<Record<string, string>>;
  listProviders(): Promise<
    readonly Pick<ProviderStatus, "defaultModel" | "models" | "name" | "price" | "reason" | "usable">[]
  >;
  /** Those of a provider that are known. */
  listModels(provider: string): Promise<readonly KnownModel[]>;
  /** Takes another one from the next step on, and says so in the conversation. */
  use(name: string): Promise<void>;
}

/**
 * What a command about the conversation itself sees of a chat, and can do with it, wherever the conversation is. It cannot
 * reach the model but by a turn.
 */
export interface ConversationContext {
  /** The name of the agent. */
  readonly agent: string;
  readonly style: Style;
  readonly columns: number;
  /** The tree; empty before the first message. */
  readonly state: ConversationState;
  /** The client, and the rights of the user. */
  readonly user: ActionUser;
  /** The run that is under way; none while the person is asked. */
  readonly run: string | undefined;
  /** There is no connection to the conversation: it is known as it was when that was lost. */
  readonly isAway?: boolean;
  /** The message that the next one goes below. */
  readonly leaf: string | null;
  readonly models: ModelsHere;
  /**
   * What files and MCP servers have people say, for who may say it. Waits so many milliseconds, at most, for servers that are still
   * starting.
   */
  prompts(wait: number): Promise<Result<"prompt.list">["prompts"]>;
  /** What the model is sent on the branch that the person is on. */
  sentHere(): Promise<ContextHere>;
  /** How the turns to come are taken. */
  readonly mode: "chat" | "task";
  useMode(mode: "chat" | "task"): void;
  /** What runs without asking. */
  readonly approval: ApprovalMode;
  /** Takes another one, and says so. */
  useApproval(mode: ApprovalMode): Promise<void>;
  /** Puts a text into the person's clipboard, without what would control a terminal. */
  copy(text: string): Promise<Copied>;
  /** The conversation as a file, whose branch is the one that the person is on where it holds one. There must be one. */
  exported(format: "html" | "json" | "markdown"): Promise<{ readonly name: string; readonly text: string }>;
  /** The folder of this machine in which the person names files. */
  readonly directory: string;
  /** The links that show this conversation, where it is on a server that makes them. */
  readonly shares: Shares;
  /** The keys as they are in effect; absent in a terminal that leaves them to the system. */
  readonly keys?: readonly KeyRow[] | undefined;
  /** Writes lines of plain text. */
  write(...lines: readonly string[]): void;
  /** Lets the person choose a message in the tree; absent in a terminal that does not redraw. Nothing when none is chosen. */
  readonly pickMessage?: (() => Promise<string | undefined>) | undefined;
  /** Lets the person pick something from a list; nothing when nothing is picked. */
  pick<T>(list: PickerOptions<T>): Promise<T | undefined>;
  /** Shows the sub-agents, of which there are some, until the person goes back; absent in a terminal that does not redraw. */
  readonly viewAgents?: (() => Promise<void>) | undefined;
  /** Shows the branch from its beginning until the person goes back; absent in a terminal that does not redraw. */
  readonly viewBranch?: (() => Promise<void>) | undefined;
  /** Goes on from another message. An own one is not answered again but taken back into the prompt, to be changed. */
  goTo(message: string): Promise<void>;
  /** Puts a text into the prompt, to be changed and sent; absent where there is no prompt. */
  readonly typeIn?: ((text: string) => void) | undefined;
  /** Puts files back to what they were before a call changed them. The model is told with what is said next. */
  undo(call: CallChanges): Promise<TakenBack>;
  /** Asks the server for a command of the protocol, in this conversation or at all. Rejects with `ClientError`. */
  ask(step: Pick<CommandStep, "command" | "input" | "isHere">): Promise<unknown>;
  /** Sets where the next message goes. */
  goOn(place: GoOn): void;
  /** The parts that only an agent of this process has. */
  readonly own?: OwnContext | undefined;
}

/** What a command sees of a chat with an agent of this process. */
export interface OwnContext {
  readonly host: Host;
  /** The conversation; none before it has begun. */
  readonly session: TalkSession | undefined;
  /** The conversation, begun if there is none yet. */
  open(): Promise<TalkSession>;
  /**
   * Leaves the conversation for another one, named by its id or title; without a name, or where several may be meant, the
   * user chooses. Does nothing when none is chosen.
   */
  enter(named: string | undefined): Promise<void>;
  /** Leaves the conversation for a new one; returns the id of the old one, if anything was said in it. */
  begin(): Promise<string | undefined>;
}

export const ASK: Next = { type: "ask" };
