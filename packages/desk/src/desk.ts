import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { OpenLink } from "@banyan/client";
import { Agent, type AgentOptions, OptionError, Session, type Turn } from "@banyan/core";
import { type OptionNames, refuseUnknown, type UserPart } from "@banyan/core/conversation";
import { ConversationDirectory } from "@banyan/host";
import { WorkspaceFiles } from "@banyan/host/workspace-files";
import type { ServerFrame, Welcome } from "@banyan/protocol";
import { PROTOCOL } from "@banyan/protocol/values";
import manifest from "../package.json" with { type: "json" };
import { NO_SETTINGS, serverSettings } from "./commands/settings.ts";
import { ModelLists, type ServedHost, type Workplace } from "./commands/workplace.ts";
import { InProcessLink, type LinkOptions } from "./in-process-link.ts";
import { Beginnings } from "./live/beginnings.ts";
import type { OtherNodes, Watchable } from "./live/elsewhere.ts";
import { ClientFrame } from "./live/frame.ts";
import { ListWatch } from "./live/list-watch.ts";
import { LiveChats } from "./live/live-chats.ts";
import { LiveConversations } from "./live/live-conversations.ts";
import type { ClientConnection } from "./live/subscription.ts";
import { UnreadCounts } from "./live/unread-counts.ts";
import { Performer } from "./perform.ts";
import type { Principal, ShareStore } from "./request/principal.ts";
import { ServerStopping } from "./request/problem.ts";
import { Seat } from "./seat.ts";

const IDLE = 30_000;

/** Milliseconds that a list of all models waits for the providers. */
const MODELS_WAIT = 3_000;

/** The name and version of this program. */
export const NAME = `banyan ${manifest.version}`;

/**
 * Options of a desk.
 * @example
 * new Desk({
 *   host,
 *   client: "my-editor 1.0",
 *   state: "state",
 *   idle: 60_000,
 *   shares: undefined,
 *   defect: (error) => console.error(error),
 *   told: (defect) => `My editor has failed: ${defect}`,
 * });
 */
export interface DeskOptions {
  readonly host: ServedHost;
  /** The client name that tools see (`context.client`). Default `banyan serve`. */
  readonly client?: string | undefined;
  /** The folder for counts of unread turns. Absent: the counts are lost with the desk. */
  readonly state?: string | undefined;
  /** Milliseconds until an unwatched conversation without running work closes. Default 30,000. */
  readonly idle?: number | undefined;
  /** The shared links. Absent: no links can be made. */
  readonly shares?: ShareStore | undefined;
  /** Receives errors of work that no client requested. Must not throw. */
  defect?(error: unknown): void;
  /** Returns the text for a client after an internal error. Default: a general sentence; `defect` gets the error. */
  told?(defect: unknown): string;
}

/** A question to a model that belongs to no conversation. */
export interface AsideQuestion {
  /** The model, as `provider/model`. Absent: the agent's model. */
  readonly model: string | undefined;
  readonly instructions: string;
  readonly parts: readonly UserPart[];
  /** The JSON Schema of the answer. Absent: the answer is text. */
  readonly output: AgentOptions["output"];
}

const OPTIONS: OptionNames<DeskOptions> = {
  host: true,
  client: true,
  state: true,
  idle: true,
  shares: true,
  defect: true,
  told: true,
};

/**
 * Carries out clients' commands on the conversations of a host. Clients connect with a server's sockets, or with
 * `link`.
 * @example
 * ```ts
 * const desk = new Desk({ host });
 * const client = new Client(desk.link());
 * const { conversation } = await client.ask("conversation.create", {});
 * await client.ask("turn.say", { conversation, parts: [{ type: "text", text: "Hello" }] });
 * await desk.stop();
 * ```
 */
export class Desk implements AsyncDisposable {
  readonly conversations: LiveConversations;
  readonly performer: Performer;
  readonly chats: LiveChats;
  readonly #host: ServedHost;
  readonly #elsewhere: OtherNodes | undefined;
  readonly #listWatch: ListWatch;
  readonly #models: ModelLists;
  readonly #unread: UnreadCounts;
  readonly #seats = new Set<Seat>();
  readonly #stopping = new AbortController();
  readonly #defect: (error: unknown) => void;
  readonly #unwatchModes: () => void;
  #stopped: Promise<void> | undefined;

  /** `elsewhere`: conversations that are open on other nodes. Absent: there are no other nodes. */
  constructor(options: DeskOptions, elsewhere?: OtherNodes) {
    refuseUnknown("a desk", options, OPTIONS);
    const { host, client = "banyan serve", state, idle = IDLE, shares, defect = () => {}, told } = options;
    this.#elsewhere = elsewhere;
    this.#host = host;
    this.#defect = defect;
    this.#unread = new UnreadCounts(state === undefined ? undefined : join(state, "unread.json"));
    const { store } = host;
    this.#listWatch = new ListWatch({
      list: (query) => this.conversations.list(query),
      watch: store.watch && ((changed) => store.watch?.(changed) ?? (() => {})),
      defect,
    });
    this.conversations = new LiveConversations({
      host,
      unread: this.#unread,
      idle,
      changed: (id) => {
        this.#listWatch.changed(id);
        elsewhere?.changed(id);
      },
      ...(elsewhere && { elsewhere: () => elsewhere.activities() }),
    });
    this.chats = new LiveChats(defect);
    this.#models = new ModelLists(host);
    const workplace: Workplace = {
      host,
      client,
      conversations: this.conversations,
      shares,
      beginnings: new Beginnings(),
      chats: this.chats,
      directory: new ConversationDirectory(host),
      files: new WorkspaceFiles(host.workspace ?? ""),
      models: this.#models,
      signal: this.#stopping.signal,
      settingsChanged: () => this.settingsChanged(),
      defect,
      told:
        told ??
        ((error) => {
          defect(error);
          return "Internal server error. The server's log has the details.";
        }),
    };
    this.performer = new Performer(workplace, elsewhere);
    this.#unwatchModes = host.modes.watch((reason) => {
      if (reason !== undefined)
        for (const { session } of this.conversations.allOpen)
          session.notify({ type: "approval.withdrawn", reason: host.redact(reason) });
      this.settingsChanged();
    });
  }

  welcome({ rights, only }: Principal): Welcome {
    const server = { type: "welcome", protocol: PROTOCOL, server: NAME, rights, agent: this.#host.agent.name } as const;
    if (!only) {
      const { workspace = "", notices = [], without, redact } = this.#host;
      const left = rights.includes("act") && notices.length > 0 ? { notices: notices.map((each) => redact(each)) } : {};
      return {
        ...server,
        workspace,
        settings: serverSettings(this.#host),
        ...(without && { without: [...without] }),
        ...left,
      };
    }
    const { conversation, leaf } = only;
    return {
      ...server,
      workspace: "",
      settings: NO_SETTINGS,
      only: { conversation, ...(leaf !== undefined && { leaf }) },
    };
  }

  redact(text: string): string {
    return this.#host.redact(text);
  }

  /** Returns `provider/model` of all usable providers that answer in time. */
  async modelNames(): Promise<readonly string[]> {
    const { providers } = await this.#models.of(undefined);
    const usable = providers.filter(({ usable }) => usable);
    const lists = usable.map(async ({ name }) => (await this.#models.of(name)).models.map((model) => model.name));
    const late = setTimeout(MODELS_WAIT, [] as string[], { ref: false });
    // `model.list` reports why a provider has no list.
    return (await Promise.all(lists.map((list) => Promise.race([list.catch(() => []), late])))).flat();
  }

  /**
   * Asks a model without tools and outside any conversation. Rejects with `OptionError` for an external agent, which
   * has its own tools, and with `ModelChoiceError` or `TurnError`.
   */
  async askAside({ model, instructions, parts, output }: AsideQuestion, signal: AbortSignal): Promise<Turn> {
    const { options } = model === undefined ? this.#host.agent : await this.#host.agentWith(model);
    if ("run" in options.model)
      throw new OptionError(`${options.model.id} is an external agent, not a model. Name a model in this request.`);
    const form = output && ({ output, mode: "task", unattended: true } as const);
    const agent = new Agent({ model: options.model, instructions, tools: [], ...form });
    return agent.send(parts, { session: Session.inMemory(), signal });
  }

  /** Returns a conversation to watch, open on any node. Rejects with the error of opening it. */
  watchable(conversation: string, principal: Principal): Promise<Watchable> {
    const here = () => this.conversations.open(conversation);
    return this.#elsewhere?.watchable(conversation, principal, here) ?? here();
  }

  /** Marks a conversation of another node, or all conversations, as changed in the list. */
  changed(conversation?: string): void {
    this.#listWatch.changed(conversation);
  }

  /** Adds a client that has been admitted and welcomed. */
  seat(line: ClientConnection, principal: Principal): Seat {
    const seat = new Seat(line, principal, {
      watchable: (conversation) => this.watchable(conversation, principal),
      performer: this.performer,
      listWatch: this.#listWatch,
      defect: this.#defect,
      left: (gone) => this.#seats.delete(gone),
    });
    this.#seats.add(seat);
    return seat;
  }

  /** Creates a link to this desk for a client in this process. */
  link(options: LinkOptions = {}): OpenLink {
    return (events) => new InProcessLink(this, options, events, this.#defect);
  }

  /** Sends the current settings to every client. Call after the host changed them itself. */
  settingsChanged(): void {
    this.#tellAll({ type: "settings", settings: serverSettings(this.#host) });
  }

  /** Closes a conversation and interrupts its runs, so that another program can open it. */
  close(conversation: string): Promise<void> {
    return this.conversations.letGo(conversation);
  }

  /** Informs the clients, interrupts all runs and closes all conversations. Repeated calls return the same promise. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(): Promise<void> {
    this.#stopping.abort(new ServerStopping());
    this.#tellAll({
      type: "stopping",
      message: "The server is stopping. Running turns were interrupted and can be resumed.",
    });
    await this.conversations.close();
    this.#unwatchModes();
    this.#listWatch[Symbol.dispose]();
    this.#unread[Symbol.dispose]();
  }

  #tellAll(told: ServerFrame): void {
    const frame = new ClientFrame(told);
    for (const seat of this.#seats) if (told.type !== "settings" || !seat.isShownOne) seat.send(frame);
  }
}
