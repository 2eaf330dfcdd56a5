import type { ConversationState, Directive, Session } from "@banyan/core";
import type { Host } from "@banyan/host";
import type { Style } from "../show/style.ts";

/** What happens after a command: the person is asked again, a turn is taken, or the chat ends. */
export type Next =
  | { readonly type: "ask" }
  | {
      readonly type: "turn";
      readonly directive: Directive;
      /** The message that it is about; where the person stands when absent. */
      readonly at?: string;
    }
  | { readonly type: "leave" };

/** What a command sees of a chat, and can do with it. It cannot reach the model but by a turn. */
export interface CommandContext {
  readonly host: Host;
  readonly style: Style;
  readonly columns: number;
  /** The tree; empty before the first message. */
  readonly state: ConversationState;
  /** Writes to the conversation; none before the first message. */
  readonly session: Session | undefined;
  /** The run that is under way; none while the person is asked. */
  readonly run: string | undefined;
  /** The message that the next one goes below. */
  readonly leaf: string | null;
  /** Writes lines of plain text. */
  write(...lines: readonly string[]): void;
  /** Goes on from another message. An own one is not answered again but taken back into the prompt, to be changed. */
  goTo(message: string): void;
  /** Goes on where the conversation was last written to. */
  goBack(): void;
  /** Leaves the conversation for a new one; answers the id of the old one, if anything was said in it. */
  begin(): Promise<string | undefined>;
  /** Writes down that the conversation has another model from now on. */
  modelChanged(name: string): Promise<void>;
}

/** Something that a person tells the program with `/`, and the model never sees. */
export interface Command {
  /** Without the slash. */
  readonly name: string;
  /** What may stand behind it. */
  readonly takes?: string;
  readonly help: string;
  /** It can be carried out while the agent works too; then it must answer `ASK`. */
  readonly anytime?: boolean;
  /** May throw what `problemOf` can tell; the chat goes on. */
  run(context: CommandContext, argument: string): Next | Promise<Next>;
}

export const ASK: Next = { type: "ask" };
