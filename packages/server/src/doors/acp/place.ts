import type { McpServer } from "@agentclientprotocol/sdk/unstable";
import type { Client, ClientEvents, WatchedConversation } from "@banyan/client";
import type { UserPart } from "@banyan/core/conversation";

/** The desk or server for the sessions of one directory. */
export interface AcpPlace {
  readonly client: Client;
  /** The directory that the agent works in, with links resolved. */
  readonly workspace: string;
  /** Sentences for the user about the place, each shown once, also about omitted parts. */
  readonly notices: readonly string[];
  /** The slash commands. */
  readonly commands: EditorCommands;
  /** Closes a conversation without a session, so that other programs can open it. */
  close(conversation: string): Promise<void>;
}

/** Opens a place. Rejects with an error whose message is for the user. */
export type OpenPlace = (where: SessionLocation, events: ClientEvents) => Promise<AcpPlace>;

/** The place that an editor wants for a session. */
export interface SessionLocation {
  /** An absolute path. */
  readonly cwd: string;
  /** The MCP servers of the editor, for sessions there with the same servers. */
  readonly servers: readonly McpServer[];
}

/** Handles lines that begin with a slash. */
export interface EditorCommands {
  list(): Promise<readonly { readonly name: string; readonly description: string; readonly hint?: string }[]>;
  /** Runs a line. Resolves with `undefined` for text and prompts of the desk, to be sent. Rejects with an error for the user. */
  run(line: string, there: EditorCommandPlace): Promise<EditorCommandOutcome | undefined>;
}

/** A session, as a command sees and changes it. */
export interface EditorCommandPlace {
  readonly client: Client;
  readonly watched: WatchedConversation;
  /** The end of the editor's branch. */
  readonly leaf: string | null;
  /** The run at the end of the branch. */
  readonly run: string | undefined;
  /** Shows lines to the user. */
  write(...lines: readonly string[]): void;
  /** Switches to the end of another branch. */
  goTo(leaf: string | null): void;
}

/** The result of a command: nothing more, or a turn. */
export type EditorCommandOutcome =
  | { readonly type: "done" }
  | {
      readonly type: "say" | "retry" | "resume";
      readonly parts?: readonly UserPart[];
      /** The message to continue from; default: the end of the branch. */
      readonly at?: string | undefined;
      readonly model?: string | undefined;
      /** The named agent for the turn. */
      readonly agent?: string | undefined;
      /** True if no files that the texts name are attached. */
      readonly asIs?: boolean | undefined;
      /** True if the first text may call a prompt of the desk. */
      readonly slash?: boolean | undefined;
    };
