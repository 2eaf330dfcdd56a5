import type { Agent, UserPart } from "@banyan/core";
import type { ConversationDirectory, Host } from "@banyan/host";
import type { LiveConversation } from "../live/live-conversation.ts";
import type { LiveConversations } from "../live/live-conversations.ts";
import type { Command, CommandName, Result } from "../protocol/index.ts";

/** What a server needs of the application around it; a `Host` is one. */
export type ServedHost = Pick<
  Host,
  | "agent"
  | "agentWith"
  | "approval"
  | "contextParts"
  | "listModels"
  | "listProviders"
  | "model"
  | "newSession"
  | "openById"
  | "redact"
  | "remember"
  | "store"
  | "taskAgent"
  | "useApproval"
  | "useModel"
  | "workspace"
>;

/** What commands work with. */
export interface Desk {
  readonly host: ServedHost;
  readonly directory: ConversationDirectory;
  readonly conversations: LiveConversations;
  /** Every client is told the settings as they are now. */
  settingsChanged(): void;
  /** Something went wrong that no client asked for. */
  defect(error: unknown): void;
}

/** Commands that are about a connection itself. */
export type ConnectionCommand = "conversation.watch" | "feed.subscribe" | "feed.unsubscribe" | "message.read";

/** Commands that act alike whoever sends them, and by whatever way. */
export type DeskCommand = Exclude<CommandName, ConnectionCommand>;

/** How these commands are carried out. Each may throw what `problemOf` can tell. */
export type Handlers<Names extends DeskCommand> = {
  readonly [Name in Names]: (command: Command<Name>, desk: Desk) => Result<Name> | Promise<Result<Name>>;
};

/** The agent that works in a conversation: with the model that the command names, else the conversation, else the settings. */
export async function agentFor(
  { host }: Desk,
  { session }: LiveConversation,
  how: { readonly model?: string | undefined; readonly mode?: "chat" | "task" | undefined },
): Promise<Agent> {
  const model = how.model ?? session.state.model;
  const agent = model === undefined ? host.agent : await host.agentWith(model);
  return how.mode === "task" ? (await host.taskAgent()).with({ model: agent.options.model }) : agent;
}

/** What a person says, as it may stand in a log: without secrets (S10). */
export function withoutSecrets({ host }: Desk, parts: readonly UserPart[]): UserPart[] {
  return parts.map((part) => (part.type === "text" ? { ...part, text: host.redact(part.text) } : part));
}
