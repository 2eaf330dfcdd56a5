import type { UserPart } from "@banyan/core";
import { type ConversationDirectory, type Host, writtenMessage } from "@banyan/host";
import type { WorkspaceFiles } from "@banyan/host/workspace-files";
import type { Command, CommandName, Result } from "@banyan/protocol";
import type { Beginnings } from "../live/beginnings.ts";
import type { LiveChats } from "../live/live-chats.ts";
import type { LiveConversations } from "../live/live-conversations.ts";
import type { Principal } from "../principal.ts";
import type { Shares } from "./shares.ts";

/** What a server needs of the application around it; a `Host` is one. */
export type ServedHost = Pick<
  Host,
  | "agent"
  | "agentWith"
  | "approval"
  | "carriedOut"
  | "carryOut"
  | "contextParts"
  | "env"
  | "home"
  | "hooks"
  | "informed"
  | "listModels"
  | "listProviders"
  | "model"
  | "newSession"
  | "openById"
  | "picture"
  | "project"
  | "ready"
  | "redact"
  | "remember"
  | "store"
  | "taskAgent"
  | "unasked"
  | "useApproval"
  | "useModel"
  | "whyNotReadIn"
  | "workspace"
  | "worktrees"
> &
  Partial<Pick<Host, "notices">>;

/** What commands work with, wherever they come from. */
export interface Workplace {
  readonly host: ServedHost;
  /** What tools are told that a turn was begun with. */
  readonly client: string;
  readonly directory: ConversationDirectory;
  readonly conversations: LiveConversations;
  /** Absent where nobody could open a link, as in a terminal. */
  readonly shares: Shares | undefined;
  readonly beginnings: Beginnings;
  readonly chats: LiveChats;
  /** Of the workspace. */
  readonly files: WorkspaceFiles;
  readonly models: ModelLists;
  /** Aborts when the server stops. */
  readonly signal: AbortSignal;
  /** Every client is told the settings as they are now. */
  settingsChanged(): void;
  /** Something went wrong that no client asked for. */
  defect(error: unknown): void;
  /** What a client is told whose command came upon a defect. */
  told(defect: unknown): string;
}

/** Commands that are about a connection itself. */
export type ConnectionCommand = "conversation.watch" | "feed.subscribe" | "feed.unsubscribe" | "message.read";

/** Commands that act alike whoever sends them, and by whatever way. */
export type DeskCommand = Exclude<CommandName, ConnectionCommand>;

/** How these commands are carried out. Each may throw what `problemOf` can tell. */
export type Handlers<Names extends DeskCommand> = {
  readonly [Name in Names]: (
    command: Command<Name>,
    desk: Workplace,
    principal: Principal,
  ) => Result<Name> | Promise<Result<Name>>;
};

/** A message on its way into a conversation: what goes into it, and what the person is told of that. */
export interface Written {
  readonly parts: readonly UserPart[];
  readonly told: {
    readonly attached: readonly { readonly name: string; readonly kind: string; readonly size: number }[];
    readonly problems: readonly string[];
    readonly redacted: boolean;
  };
}

/** What a person says: without secrets (S10), and with what it names in a folder (B46), which is read until the signal aborts. */
export async function written(
  { host }: Workplace,
  parts: readonly UserPart[],
  {
    principal,
    signal,
    folder,
  }: { readonly principal: Principal; readonly signal: AbortSignal; readonly folder: string },
): Promise<Written> {
  const how = { outside: principal.isHere === true, folder };
  const messages = await Promise.all(
    parts.map((part) => (part.type === "text" ? writtenMessage(host, part.text, signal, how) : undefined)),
  );
  // What could not be read in time is a problem of the message; who interrupted it wants none.
  signal.throwIfAborted();
  const known = messages.filter((message) => message !== undefined);
  return {
    parts: parts.flatMap((part, index) => messages[index]?.parts ?? [part]),
    told: {
      attached: known.flatMap(({ attached }) => attached),
      problems: known.flatMap(({ problems }) => problems),
      redacted: known.some(({ isRedacted }) => isRedacted),
    },
  };
}

/** The same for what somebody else wrote: nothing goes along that it names. */
export function withoutSecrets({ host }: Workplace, parts: readonly UserPart[]): Written {
  let redacted = false;
  const clean = parts.map((part) => {
    if (part.type !== "text") return part;
    const text = host.redact(part.text);
    redacted ||= text !== part.text;
    return { ...part, text };
  });
  return { parts: clean, told: { attached: [], problems: [], redacted } };
}

/** Two pieces of one message. */
export function together({ parts, told }: Written, behind: Written): Written {
  return {
    parts: [...parts, ...behind.parts],
    told: {
      attached: [...told.attached, ...behind.told.attached],
      problems: [...told.problems, ...behind.told.problems],
      redacted: told.redacted || behind.told.redacted,
    },
  };
}

type ModelList = Result<"model.list">;

/**
 * The models that can be chosen. To find them out takes a while and asks servers; whoever asks while that is under way
 * gets the same answer, so that many clients, or one that asks again and again, cost no more than one.
 */
export class ModelLists {
  readonly #host: Pick<Host, "listProviders" | "listModels">;
  readonly #asked = new Map<string | undefined, Promise<ModelList>>();

  constructor(host: Pick<Host, "listProviders" | "listModels">) {
    this.#host = host;
  }

  /** The providers and, when one is named, its models. Rejects with `ModelChoiceError`. */
  of(provider: string | undefined): Promise<ModelList> {
    const known = this.#asked.get(provider);
    if (known) return known;
    const asked = this.#list(provider).finally(() => this.#asked.delete(provider));
    this.#asked.set(provider, asked);
    return asked;
  }

  async #list(provider: string | undefined): Promise<ModelList> {
    if (provider === undefined) {
      const providers = await this.#host.listProviders();
      return { providers: providers.map((each) => ({ ...each })), models: [] };
    }
    // Whoever wants the models of all of them asks for each: the providers are found out once.
    const { providers } = await this.of(undefined);
    const listed = providers.find(({ name }) => name === provider)?.models;
    const models = await this.#host.listModels(provider, listed);
    return { providers, models: models.map((each) => ({ ...each })) };
  }
}
