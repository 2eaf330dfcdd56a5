import type { ConversationState, Directive } from "@banyan/core";
import type { Host } from "@banyan/host";
import type { Style } from "../show/style.ts";

/** What happens after a command: the person is asked again, a turn is taken, or the chat ends. */
export type Next =
  | { readonly type: "ask" }
  | { readonly type: "turn"; readonly directive: Directive }
  | { readonly type: "leave" };

/** What a command sees of a chat, and can do with it. It cannot reach the model but by a turn. */
export interface CommandContext {
  readonly host: Host;
  readonly style: Style;
  readonly columns: number;
  /** The tree; empty before the first message. */
  readonly state: ConversationState;
  /** The message that the next one goes below. */
  readonly leaf: string | null;
  /** Writes lines of plain text. */
  write(...lines: readonly string[]): void;
  /** Goes on from another message. An own one is not answered again but taken back into the prompt, to be changed. */
  goTo(message: string): void;
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
  /** May throw what `problemOf` can tell; the chat goes on. */
  run(context: CommandContext, argument: string): Next | Promise<Next>;
}

export const ASK: Next = { type: "ask" };
