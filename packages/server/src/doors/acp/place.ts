import type { McpServer } from "@agentclientprotocol/sdk/unstable";
import type { Client, ClientEvents, Watched } from "@banyan/client";
import type { UserPart } from "@banyan/core/conversation";

/** Where sessions of one directory are: at a desk of this program, or at a server. */
export interface AcpPlace {
  readonly client: Client;
  /** The directory that the agent works in, without links. */
  readonly workspace: string;
  /** Sentences for the user about the place, each once, also on parts that were left out. */
  readonly notices: readonly string[];
  /** Commands that a person gives with a slash. */
  readonly commands: EditorCommands;
  /** Lets go of a conversation that no session is in any more, so that other programs can have it. */
  close(conversation: string): Promise<void>;
}

/** Opens a place. Rejects with an error whose message is a sentence for a person. */
export type OpenPlace = (where: Where, events: ClientEvents) => Promise<AcpPlace>;

/** What an editor says of where a session is to be. */
export interface Where {
  /** Absolute. */
  readonly cwd: string;
  /** The servers that the editor brings, for sessions there that name the same ones. */
  readonly servers: readonly McpServer[];
}

/** What is done with a line that begins with a slash. */
export interface EditorCommands {
  list(): Promise<readonly { readonly name: string; readonly description: string; readonly hint?: string }[]>;
  /** Carries out a line; nothing for words and for prompts of the desk, which are said. Rejects with an error for a user. */
  run(line: string, there: CommandPlace): Promise<CommandOutcome | undefined>;
}

/** What a command sees of a session, and can do with it. */
export interface CommandPlace {
  readonly client: Client;
  readonly watched: Watched;
  /** The end of the branch that the editor is on. */
  readonly leaf: string | null;
  /** The run that works there. */
  readonly run: string | undefined;
  /** Tells the person something. */
  write(...lines: readonly string[]): void;
  /** Goes to the end of another branch. */
  goTo(leaf: string | null): void;
}

/** What follows a command: nothing, or a turn. */
export type CommandOutcome =
  | { readonly type: "done" }
  | {
      readonly type: "say" | "retry" | "resume";
      readonly parts?: readonly UserPart[];
      /** The message that it is about; the end of the branch when absent. */
      readonly at?: string | undefined;
      readonly model?: string | undefined;
      /** The named agent that takes the turn. */
      readonly agent?: string | undefined;
      /** Nothing goes along that the texts name. */
      readonly asIs?: boolean | undefined;
      /** The first text asks for a prompt of the desk. */
      readonly slash?: boolean | undefined;
    };
