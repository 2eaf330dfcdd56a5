import type { UserPart } from "@banyan/core";
import { type ConversationDirectory, type Host, writtenMessage } from "@banyan/host";
import type { WorkspaceFiles } from "@banyan/host/workspace-files";
import type { Command, CommandName, Result } from "@banyan/protocol";
import type { Beginnings } from "../live/beginnings.ts";
import type { LiveChats } from "../live/live-chats.ts";
import type { LiveConversations } from "../live/live-conversations.ts";
import type { DeskCommand } from "../request/command.ts";
import type { Principal, ShareStore } from "../request/principal.ts";

/** The members of `Host` that a desk and its server use. See {@link agentHost}. */
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
  | "worktrees"
> &
  Partial<Pick<Host, "notices" | "places">> & {
    readonly hooks: Pick<Host["hooks"], "prompt">;
    readonly modes: Pick<Host["modes"], "offered" | "watch">;
    /** The folder of the agent's files. `undefined`: the agent has no folder, and Banyan looks for no names of files or prompts. */
    readonly workspace: string | undefined;
    /** Commands that the host cannot carry out. The desk refuses them, and clients do not offer them. */
    readonly without?: readonly CommandName[];
  };

/** Returns whether the agent of a host works in a folder. */
export function hasWorkspace(host: ServedHost): host is ServedHost & { readonly workspace: string } {
  return host.workspace !== undefined;
}

/** The objects that command handlers work with. */
export interface Workplace {
  readonly host: ServedHost;
  /** The name of the client as tools see it (`context.client`). */
  readonly client: string;
  readonly directory: ConversationDirectory;
  readonly conversations: LiveConversations;
  /** The shared links. Absent without a server, as in a terminal. */
  readonly shares: ShareStore | undefined;
  readonly beginnings: Beginnings;
  readonly chats: LiveChats;
  readonly files: WorkspaceFiles;
  readonly models: ModelLists;
  readonly signal: AbortSignal;
  settingsChanged(): void;
  /** Reports an error of work that no client requested. */
  defect(error: unknown): void;
  /** Returns the text that a client gets for an internal error. */
  told(defect: unknown): string;
}

/** Handlers by command name. Each handler may throw the errors that `clientProblem` knows. */
export type Handlers<Names extends DeskCommand> = {
  readonly [Name in Names]: (
    command: Command<Name>,
    desk: Workplace,
    principal: Principal,
  ) => Result<Name> | Promise<Result<Name>>;
};

/** A user message ready for the model, with notes for the user. */
export interface PreparedMessage {
  readonly parts: readonly UserPart[];
  readonly told: {
    readonly attached: readonly { readonly name: string; readonly kind: string; readonly size: number }[];
    readonly problems: readonly string[];
    readonly redacted: boolean;
  };
}

/**
 * Prepares user text: removes secrets (S10) and attaches files that the text names (B46). An abort of `signal` ends the
 * reading of files.
 */
export async function prepareMessage(
  desk: Workplace,
  parts: readonly UserPart[],
  {
    principal,
    signal,
    folder,
  }: { readonly principal: Principal; readonly signal: AbortSignal; readonly folder: string },
): Promise<PreparedMessage> {
  const { host } = desk;
  if (!hasWorkspace(host)) return withoutSecrets(desk, parts);
  const how = { outside: principal.isHere === true, folder };
  const messages = await Promise.all(
    parts.map((part) => (part.type === "text" ? writtenMessage(host, part.text, signal, how) : undefined)),
  );
  // A file not read in time is a problem of the message, but an interrupted message needs no problems.
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

/** Prepares text that the user did not write: removes secrets, but attaches no files. */
export function withoutSecrets({ host }: Workplace, parts: readonly UserPart[]): PreparedMessage {
  let redacted = false;
  const clean = parts.map((part) => {
    if (part.type !== "text") return part;
    const text = host.redact(part.text);
    redacted ||= text !== part.text;
    return { ...part, text };
  });
  return { parts: clean, told: { attached: [], problems: [], redacted } };
}

/** The fields in which messages of other programs have texts. */
const TEXTS = new Set(["text", "content", "arguments", "output", "reasoning_content", "thinking"]);

/** Removes secrets from the texts of a message in the format of another program. */
export function redactedTexts({ host }: Workplace, message: object): object {
  return JSON.parse(
    JSON.stringify(message, (field, value) =>
      typeof value === "string" && TEXTS.has(field) ? host.redact(value) : value,
    ),
  );
}

/** Joins the parts and notes of two prepared messages. */
export function joinPreparedMessages({ parts, told }: PreparedMessage, behind: PreparedMessage): PreparedMessage {
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

/** Lists the models that users can choose. Clients that ask at the same time share one slow listing. */
export class ModelLists {
  readonly #host: Pick<Host, "listProviders" | "listModels">;
  readonly #asked = new Map<string | undefined, Promise<ModelList>>();

  constructor(host: Pick<Host, "listProviders" | "listModels">) {
    this.#host = host;
  }

  /** Rejects with `ModelChoiceError`. */
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
    // Clients ask for one provider after the other: list the providers only once.
    const { providers } = await this.of(undefined);
    const listed = providers.find(({ name }) => name === provider)?.models;
    const models = await this.#host.listModels(provider, listed);
    return { providers, models: models.map((each) => ({ ...each })) };
  }
}
