import { isAbsolute } from "node:path";
import {
  type AgentConnection,
  type AgentContext,
  agent,
  type ClientCapabilities,
  type ContentBlock,
  type InitializeResponse,
  type McpServer,
  methods,
  type NewSessionResponse,
  PROTOCOL_VERSION,
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
  type Stream,
} from "@agentclientprotocol/sdk/unstable";
import { ClientError, type WatchedConversation } from "@banyan/client";
import { type ConversationState, type OptionNames, pathTo, refuseUnknown } from "@banyan/core/conversation";
import { type ApprovalMode, CONVERSATIONS } from "@banyan/protocol";
import { z } from "zod";
import type { Abilities } from "./editor-updates.ts";
import { forkAt, forkedLeaf, type NamedSession, sessionIdOf, sessionNamed } from "./fork.ts";
import { modesOf, readEditorChoice } from "./options.ts";
import { invalidParams, requestErrorOf } from "./refusals.ts";
import { AcpSession } from "./session.ts";
import type { AcpWorkspace, AcpWorkspaceOpener, SessionLocation } from "./workspace.ts";
import { AcpWorkspaces, type OpenedWorkspace } from "./workspaces.ts";

/** Options of `serveAcp`. */
export interface AcpDoorOptions {
  readonly version: string;
  /** The directory whose sessions are listed if an editor names none. */
  readonly cwd: string;
  readonly open: AcpWorkspaceOpener;
}

const OPTIONS: OptionNames<AcpDoorOptions> = { version: true, cwd: true, open: true };

const PAGE = 100;

/** The sign-in method: a model key in the environment. */
const KEYS = {
  id: "environment",
  name: "A key in the environment",
  description:
    "Set ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENAI_COMPATIBLE_BASE_URL where the editor starts banyan, or run a local model server. Without any of these, the offline demo answers.",
} as const;

const steering = z.looseObject({ sessionId: z.string(), prompt: z.array(z.unknown()) });
const forkMeta = z.looseObject({ banyan: z.looseObject({ at: z.string() }) });

/**
 * Serves an editor over the Agent Client Protocol until its stream ends (`closed`). Each session of the editor is a
 * conversation or one of its branches.
 */
export function serveAcp(stream: Stream, options: AcpDoorOptions): AgentConnection {
  refuseUnknown("serveAcp", options, OPTIONS);
  return new AcpDoor(options).connect(stream);
}

class AcpDoor {
  readonly #options: AcpDoorOptions;
  readonly #workspaces: AcpWorkspaces;
  readonly #sessions = new Map<string, AcpSession>();
  #abilities: Abilities = abilitiesOf(undefined);

  constructor(options: AcpDoorOptions) {
    this.#options = options;
    this.#workspaces = new AcpWorkspaces(options.open, {
      changed: () => {
        for (const session of this.#sessions.values()) session.optionsChanged();
      },
      gone: (workspace, error) => {
        for (const session of this.#sessions.values()) if (session.parts.workspace === workspace) session.lost(error);
      },
    });
  }

  connect(stream: Stream): AgentConnection {
    const { agent: to } = methods;
    const { session } = to;
    const connection = agent({ name: "banyan" })
      .onRequest(to.initialize, ({ params }) => this.#initialize(params.clientCapabilities))
      .onRequest(to.authenticate, ({ params }) => {
        if (params.methodId === KEYS.id) return {};
        throw invalidParams(`Unknown sign-in method ${JSON.stringify(params.methodId)}.`);
      })
      .onRequest(session.new, ({ params, client }) => this.#new(client, whereOf(params)))
      .onRequest(session.load, ({ params, client }) => this.#enter(client, whereOf(params), params.sessionId, "replay"))
      .onRequest(session.resume, ({ params, client }) => this.#enter(client, whereOf(params), params.sessionId))
      .onRequest(session.fork, ({ params, client }) => {
        const at = forkMeta.safeParse(params._meta).data?.banyan.at;
        return this.#fork(client, whereOf(params), params.sessionId, at);
      })
      .onRequest(session.list, ({ params }) => this.#list(params.cwd ?? this.#options.cwd, params.cwd, params.cursor))
      .onRequest(session.close, async ({ params }) => {
        await this.#close(this.#session(params.sessionId));
        return {};
      })
      .onRequest(session.delete, async ({ params }) => {
        await this.#delete(params.sessionId);
        return {};
      })
      .onRequest(session.prompt, ({ params, signal }) => this.#session(params.sessionId).prompt(params.prompt, signal))
      .onNotification(session.cancel, ({ params }) => this.#sessions.get(params.sessionId)?.cancel())
      .onRequest(session.setMode, async ({ params }) => {
        await this.#choose(params.sessionId, "mode", params.modeId);
        return {};
      })
      .onRequest(session.setConfigOption, async ({ params }) => {
        const { configOptions } = await this.#choose(params.sessionId, params.configId, params.value);
        return { configOptions };
      })
      .onRequest("_session/steering", steering, async ({ params }) => {
        const steered = await this.#session(params.sessionId).steer(params.prompt as ContentBlock[]);
        return steered ? { outcome: "injected" } : { outcome: "promptRequired", reason: "noRunningTurn" };
      })
      .connect(stream);
    connection.signal.addEventListener("abort", () => {
      for (const each of this.#sessions.values()) each[Symbol.dispose]();
    });
    return connection;
  }

  #initialize(capabilities: ClientCapabilities | undefined): InitializeResponse {
    this.#abilities = abilitiesOf(capabilities);
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: "banyan", title: "Banyan", version: this.#options.version },
      authMethods: [KEYS],
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: true, embeddedContext: true },
        mcpCapabilities: { http: true, sse: false },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, fork: {} },
        // Editors look for this name: it means that a prompt during a turn waits for its end.
        _meta: { claudeCode: { promptQueueing: true } },
      },
      _meta: { steering: { supported: true } },
    };
  }

  #session(sessionId: string): AcpSession {
    const session = this.#sessions.get(sessionId);
    if (!session) throw RequestError.sessionNotFound(sessionId);
    return session;
  }

  async #new(client: AgentContext, where: SessionLocation): Promise<NewSessionResponse> {
    const { workspace, models } = await this.#at(where);
    const created = workspace.client.ask("conversation.create", {});
    const { conversation } = await created.catch((error: unknown) => {
      throw requestErrorOf(error);
    });
    const session = await this.#open(client, { workspace, models }, { conversation });
    return { sessionId: session.parts.sessionId, ...this.#known(session) };
  }

  async #enter(client: AgentContext, where: SessionLocation, sessionId: string, how?: "replay") {
    const named = sessionNamed(sessionId);
    if (!named) throw RequestError.sessionNotFound(sessionId);
    const opened = await this.#at(where);
    const before = this.#sessions.get(sessionId);
    // Check first, so that a failed move leaves the session unchanged: a conversation is open in one workspace only.
    if (before) checkDirectory(before.state, opened.workspace);
    if (before && before.parts.workspace !== opened.workspace) await this.#close(before);
    else before?.[Symbol.dispose]();
    const session = await this.#open(client, opened, named);
    if (how === "replay") await session.replay();
    return this.#known(session);
  }

  async #fork(client: AgentContext, where: SessionLocation, sessionId: string, at: string | undefined) {
    const named = sessionNamed(sessionId);
    if (!named) throw RequestError.sessionNotFound(sessionId);
    // A fork must be in the workspace that has the conversation open.
    const from = this.#sessions.get(sessionId);
    const opened = from ? { workspace: from.parts.workspace, models: from.parts.models } : await this.#at(where);
    const { conversation } = named;
    const watched = await this.#watch(opened, named, sessionId);
    const leaf = at ?? from?.branch.leaf ?? forkedLeaf(watched.state, named.fork);
    if (leaf !== null && !watched.state.messages.has(leaf))
      throw invalidParams(`The conversation has no message ${JSON.stringify(leaf)}.`);
    const session = await this.#open(client, opened, { conversation, fork: forkAt(leaf) });
    return { sessionId: session.parts.sessionId, ...this.#known(session) };
  }

  async #open(client: AgentContext, { workspace, models }: OpenedWorkspace, named: NamedSession): Promise<AcpSession> {
    const sessionId = sessionIdOf(named);
    const watched = await this.#watch({ workspace, models }, named, sessionId);
    const parts = { sessionId, workspace, models, watched, fork: named.fork, client, abilities: this.#abilities };
    const session = new AcpSession(parts);
    this.#sessions.set(sessionId, session);
    // Announce after the response: the editor ignores updates of a session that it does not know yet.
    setImmediate(() => session.announce());
    return session;
  }

  async #watch(
    { workspace }: OpenedWorkspace,
    { conversation, fork }: NamedSession,
    sessionId: string,
  ): Promise<WatchedConversation> {
    const watched = workspace.client.watch(conversation);
    try {
      await watched.loaded;
      await watched.read(pathTo(watched.state, forkedLeaf(watched.state, fork)).map(({ id }) => id));
    } catch (error) {
      await workspace.client.leave(watched).catch(() => {});
      throw requestErrorOf(error, sessionId);
    }
    checkDirectory(watched.state, workspace);
    if (fork?.at && !watched.state.messages.has(fork.at)) throw RequestError.sessionNotFound(sessionId);
    return watched;
  }

  async #at(where: SessionLocation): Promise<OpenedWorkspace> {
    if (!isAbsolute(where.cwd))
      throw invalidParams(`cwd must be an absolute path; this is ${JSON.stringify(where.cwd)}.`);
    try {
      return await this.#workspaces.at(where);
    } catch (error) {
      throw requestErrorOf(error);
    }
  }

  #known(session: AcpSession): { modes: SessionModeState; configOptions: SessionConfigOption[] } {
    const { settings } = session.parts.workspace.client.welcome;
    return { modes: modesOf(session.conversation, settings), configOptions: session.configOptions };
  }

  async #list(at: string, cwd: string | null | undefined, cursor: string | null | undefined) {
    const from = cursor === undefined || cursor === null ? 0 : Number(cursor);
    if (!Number.isSafeInteger(from) || from < 0) throw invalidParams(`Unknown cursor ${JSON.stringify(cursor)}.`);
    const { workspace } = await this.#at({ cwd: at, servers: [] });
    // The conversations of an agent without a workspace have no directory.
    const { workspace: directory } = workspace.client.welcome;
    const within = {
      ...(cwd && directory !== "" ? { cwd: directory } : {}),
      limit: Math.min(from + PAGE + 1, CONVERSATIONS),
    };
    const { conversations } = await workspace.client.ask("conversation.list", within).catch((error: unknown) => {
      throw requestErrorOf(error);
    });
    const sessions = conversations.slice(from, from + PAGE).map(({ id, title, labels, updatedAt }) => ({
      sessionId: sessionIdOf({ conversation: id }),
      cwd: labels.cwd ?? workspace.workspace,
      title,
      updatedAt: new Date(updatedAt).toISOString(),
    }));
    return { sessions, ...(conversations.length > from + PAGE ? { nextCursor: String(from + PAGE) } : {}) };
  }

  /** Ends the turns of a session, and closes its conversation if no other session uses it. */
  async #close(session: AcpSession): Promise<void> {
    const { sessionId, workspace, watched } = session.parts;
    await session.cancel();
    session[Symbol.dispose]();
    if (this.#sessions.get(sessionId) === session) this.#sessions.delete(sessionId);
    const isShared = [...this.#sessions.values()].some((other) => other.parts.watched === watched);
    if (isShared) return;
    await workspace.client.leave(watched).catch(() => {});
    await workspace.close(session.conversation);
  }

  async #delete(sessionId: string): Promise<void> {
    const named = sessionNamed(sessionId);
    if (!named) throw RequestError.sessionNotFound(sessionId);
    const { conversation, fork } = named;
    const open = [...this.#sessions.values()].filter(
      (session) => session.conversation === conversation && (!fork || session.parts.sessionId === sessionId),
    );
    const known = open[0]?.parts.workspace;
    const workspace = known ?? (await this.#at({ cwd: this.#options.cwd, servers: [] })).workspace;
    try {
      if (fork) await workspace.client.ask("message.remove", { conversation, message: fork.first });
      for (const session of open) await this.#close(session);
      if (!fork) await workspace.client.ask("conversation.remove", { conversation });
    } catch (error) {
      throw requestErrorOf(error, sessionId);
    }
  }

  async #choose(sessionId: string, option: string, value: unknown) {
    const session = this.#session(sessionId);
    const { workspace } = session.parts;
    const { conversation, state } = session;
    const choice = readEditorChoice(option, value, state, workspace.client.welcome.settings);
    if (!choice)
      throw invalidParams(
        `The option ${JSON.stringify(option)} does not exist, or does not accept ${JSON.stringify(value)}.`,
      );
    try {
      if ("model" in choice) await workspace.client.ask("model.use", { conversation, model: choice.model });
      else await this.#useApproval(session, choice.mode);
    } catch (error) {
      throw requestErrorOf(error, sessionId);
    }
    return this.#known(session);
  }

  /** Mode `all` needs the user's consent in this conversation (S27). */
  async #useApproval(session: AcpSession, mode: ApprovalMode): Promise<void> {
    const { conversation } = session;
    const { client } = session.parts.workspace;
    if (mode !== "all") {
      await client.ask("approval.use", { mode });
      return;
    }
    try {
      await client.ask("approval.use", { mode, conversation });
    } catch (error) {
      if (!(error instanceof ClientError && error.code === "unconfirmed")) throw error;
      if (!(await session.agrees(NEVER_ASK))) throw invalidParams("Approval is unchanged.", error);
      await client.ask("approval.use", { mode, conversation, confirmed: true });
    }
  }
}

const NEVER_ASK =
  "Run all commands and change files in this conversation without asking, even if a text that the agent reads tricks it into doing so? Deny rules still apply.";

function checkDirectory({ labels: { cwd } }: ConversationState, { workspace }: AcpWorkspace): void {
  if (cwd !== undefined && cwd !== workspace)
    throw invalidParams(`This conversation belongs to ${cwd}, but the session is in ${workspace}.`);
}

function whereOf({
  cwd,
  mcpServers,
}: {
  readonly cwd: string;
  readonly mcpServers?: McpServer[] | undefined;
}): SessionLocation {
  return { cwd, servers: mcpServers ?? [] };
}

function abilitiesOf(capabilities: ClientCapabilities | undefined): Abilities {
  const { session, subagents, elicitation, fs } = capabilities ?? {};
  return {
    notices: Boolean(session?.notices),
    compaction: Boolean(session?.compaction),
    subagents: Boolean(subagents),
    elicitation: Boolean(elicitation?.form),
    readTextFile: fs?.readTextFile === true,
  };
}
