import type { McpServer } from "@agentclientprotocol/sdk/unstable";
import type { Client, ClientEvents, WatchedConversation } from "@banyan/client";
import type { UserPart } from "@banyan/core/conversation";

/** The running Banyan, in this process or on a server, that has the sessions of one directory. */
export interface AcpWorkspace {
  readonly client: Client;
  /** The directory that the agent works in, with links resolved. */
  readonly workspace: string;
  /** Sentences for the user about the directory, each shown once. */
  readonly notices: readonly string[];
  readonly commands: EditorCommands;
  /** Closes a conversation without a session, so that other programs can open it. */
  close(conversation: string): Promise<void>;
}

/** Connects to a workspace. Rejects with an error whose message is for the user. */
export type AcpWorkspaceOpener = (where: SessionLocation, events: ClientEvents) => Promise<AcpWorkspace>;

/** The directory and MCP servers that an editor wants for a session. */
export interface SessionLocation {
  readonly cwd: string;
  /** The editor's MCP servers. Sessions with the same directory and servers share a workspace. */
  readonly servers: readonly McpServer[];
}

/** Handles lines that begin with a slash. */
export interface EditorCommands {
  list(): Promise<readonly { readonly name: string; readonly description: string; readonly hint?: string }[]>;
  /** Runs a line. Resolves with `undefined` for text and saved prompts, which are then sent. Errors are for the user. */
  run(line: string, there: EditorCommandContext): Promise<EditorCommandOutcome | undefined>;
}

/** The parts of a session that a slash command can read and change. */
export interface EditorCommandContext {
  readonly client: Client;
  readonly watched: WatchedConversation;
  /** The last message of the editor's branch. */
  readonly leaf: string | null;
  readonly run: string | undefined;
  write(...lines: readonly string[]): void;
  goTo(leaf: string | null): void;
}

/** The result of a slash command: the command is done, or a turn begins. */
export type EditorCommandOutcome =
  | { readonly type: "done" }
  | {
      readonly type: "say" | "retry" | "resume";
      readonly parts?: readonly UserPart[];
      /** The message to continue from; default: the end of the branch. */
      readonly at?: string | undefined;
      readonly model?: string | undefined;
      readonly agent?: string | undefined;
      /** True to attach no files for names in the texts. */
      readonly asIs?: boolean | undefined;
      /** The conditions for the end of the turn. */
      readonly goal?: readonly string[] | undefined;
      /** True if the first text can call a saved prompt. */
      readonly slash?: boolean | undefined;
    };
