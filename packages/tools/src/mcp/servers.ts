import type { Tool, UserPart } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { Journal } from "../workspace/commands/journal.ts";
import { RunningCommands } from "../workspace/commands/process-family.ts";
import { stripControls } from "../workspace/files/plain-text.ts";
import { inputSchema } from "./connection/input-schema.ts";
import type { LifelineStatus, ReconnectSettings } from "./connection/lifeline.ts";
import { Route, type RouteOptions } from "./connection/route.ts";
import type { Ask } from "./elicitation.ts";
import { isStdio, type McpServerEntry, readEntry } from "./entries/entry.ts";
import { McpError, reasonOf } from "./entries/error.ts";
import type { McpPrompt, McpResource, McpResourceTemplate } from "./offers.ts";
import { McpServer } from "./server.ts";
import { agentTool, type TraceparentOf } from "./tool.ts";
import { toolNames } from "./tool-name.ts";

/**
 * Options of `openMcpServers`: which MCP servers to connect to, and how.
 * @example
 * const telemetry = new Telemetry();
 * const servers = openMcpServers({
 *   workspace: "/home/me/project",
 *   env: process.env,
 *   servers: { library: { type: "http", url: "https://mcp.example.org" }, notes: { command: "notes-server" } },
 *   ask: async ({ text }) => `Nobody is here to answer: ${text}`,
 *   traceparent: ({ conversation, call }) => telemetry.traceparent(conversation.id, call),
 *   onChange: () => console.log(servers.states),
 *   reconnect: { attempts: 10, delay: 1_000, maxDelay: 30_000 },
 * });
 */
export interface McpOptions extends Omit<RouteOptions, "reconnect"> {
  /**
   * The entries `mcpServers` of the configuration. An invalid entry is reported as failed and does not affect other
   * entries.
   */
  readonly servers: Readonly<Record<string, unknown>>;
  /** Asks a user the questions that a server sends when no call runs. During a call, the user of that call is asked. */
  readonly ask?: Ask;
  /** Returns `_meta.traceparent` for the request of a call, so that the server can continue the trace. */
  readonly traceparent?: TraceparentOf;
  /** Called when the status, tools, prompts or instructions of a server change. Must not throw. */
  readonly onChange?: () => void;
  readonly reconnect?: ReconnectSettings;
}

const OPTIONS: OptionNames<McpOptions> = {
  servers: "object!",
  ask: true,
  traceparent: true,
  onChange: "function",
  reconnect: true,
  workspace: true,
  env: "object",
  credentials: true,
  openAddress: true,
  howToSignIn: true,
  wrap: true,
};
const RECONNECT_NAMES: OptionNames<ReconnectSettings> = { delay: true, maxDelay: true, attempts: true };

/** The connection state of one MCP server. See {@link McpServers}. */
export type McpServerState = { readonly name: string } & (
  | Exclude<LifelineStatus, { readonly status: "ready" }>
  | {
      readonly status: "ready";
      readonly tools: number;
      /** Tools with arguments that only the server can check, and the reason. */
      readonly unread?: readonly string[];
      /**
       * Entries of the server's lists that violate the protocol, one line each. Such entries were left out or
       * corrected.
       */
      readonly odd?: readonly string[];
    }
  | { readonly status: "disabled" }
);

const PATIENCE = { start: 30_000, work: 600_000 };
const RECONNECT: Required<ReconnectSettings> = { delay: 500, maxDelay: 8_000, attempts: 5 };

/**
 * Connects to all MCP servers at once, in the background (B47). The tools of a server appear when it is ready;
 * `onChange` reports each change. Call `close` at the end: it also ends server programs.
 * @example
 * const notes = { command: "notes-server" };
 * await using servers = openMcpServers({ servers: { notes }, workspace: ".", env: process.env });
 * await servers.settled();
 * new Agent({ model, tools: servers.tools });
 */
export function openMcpServers(options: McpOptions): McpServers {
  return new McpServers(options);
}

/**
 * The MCP servers of a configuration, connected in the background.
 * @example
 * await using servers = new McpServers({ servers: { notes: { command: "notes-server" } }, workspace: ".", env: {} });
 * await servers.settled();
 * for (const { name, status } of servers.states) console.log(name, status);
 * for (const { server, name } of servers.prompts) console.log(`/${server}:${name}`);
 */
export class McpServers implements AsyncDisposable {
  readonly #servers = new Map<string, McpServer>();
  readonly #programs = new Set<McpServer>();
  /** The state of each unused server, and the names of all servers in the order of the configuration. */
  readonly #unused = new Map<string, McpServerState>();
  readonly #names: readonly string[];
  readonly #routes = new AsyncDisposableStack();
  readonly #onChange: () => void;
  #tools: readonly Tool[] | undefined;

  constructor(options: McpOptions) {
    refuseUnknown("MCP servers", options, OPTIONS);
    refuseUnknown("MCP servers", options.reconnect, RECONNECT_NAMES, "reconnect.");
    this.#onChange = () => {
      this.#tools = undefined;
      options.onChange?.();
    };
    this.#names = Object.keys(options.servers);
    const running = new RunningCommands();
    for (const [name, settings] of Object.entries(options.servers)) {
      try {
        const entry = readEntry(name, settings);
        if (entry.disabled) this.#unused.set(name, { name, status: "disabled" });
        else this.#add(name, entry, options, running);
      } catch (error) {
        if (!(error instanceof McpError)) throw error;
        this.#unused.set(name, { name, status: "failed", reason: error.message });
      }
    }
    connectAll(this.#servers.values());
  }

  get states(): readonly McpServerState[] {
    return this.#names.flatMap((name) => {
      const server = this.#servers.get(name);
      return (server === undefined ? this.#unused.get(name) : serverState(server)) ?? [];
    });
  }

  /** The tools of all servers, named `mcp_{server}_{tool}`. Returns the same array until something changes. */
  get tools(): readonly Tool[] {
    this.#tools ??= this.#makeTools();
    return this.#tools;
  }

  get prompts(): readonly McpPrompt[] {
    return [...this.#servers.values()].flatMap(({ prompts }) => prompts);
  }

  /** Resolves when each server is ready or has failed. */
  async settled(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.settled()));
  }

  /** Returns the server's instructions; undefined if the server has none, or never connected. */
  instructions(server: string): string | undefined {
    return this.#servers.get(server)?.instructions;
  }

  /** Returns the last lines of a server: standard error, log entries and connection errors. */
  journal(server: string): string {
    return this.#named(server).journal.text;
  }

  /** Reconnects to a server. Resolves when its state has the result. Rejects with an `McpError` if no server has this name. */
  async reconnect(server: string): Promise<void> {
    await this.#named(server).connect();
  }

  /** Restarts all servers that are programs, so that new rules bind them, too (S42). */
  restartPrograms(): void {
    connectAll(this.#programs);
  }

  /** Returns a filled-in prompt as parts of a user message. Rejects with an `McpError`. */
  async prompt(
    { server, name }: Pick<McpPrompt, "server" | "name">,
    values: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<UserPart[]> {
    return this.#named(server).prompt(name, values, signal);
  }

  async resources(server: string, signal: AbortSignal): Promise<McpResource[]> {
    return this.#named(server).resources(signal);
  }

  async templates(server: string, signal: AbortSignal): Promise<McpResourceTemplate[]> {
    return this.#named(server).templates(signal);
  }

  /** Reads the resource `@server:uri` as parts of a user message. Rejects with an `McpError`. */
  async read({ server, uri }: Pick<McpResource, "server" | "uri">, signal: AbortSignal): Promise<UserPart[]> {
    return this.#named(server).resource(uri, signal);
  }

  /** Closes all connections and ends all processes, within 3 seconds. */
  async close(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.close()));
    await this.#routes.disposeAsync();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #add(name: string, entry: McpServerEntry, options: McpOptions, running: RunningCommands): void {
    const journal = new Journal();
    const reconnect = { ...RECONNECT, ...options.reconnect };
    const route = this.#routes.use(new Route(name, entry, { ...options, reconnect }, running, journal));
    const server = new McpServer({
      name,
      journal,
      workspace: options.workspace,
      reach: () => route.find(() => server.lost()),
      patience: { start: entry.timeout ?? PATIENCE.start, work: entry.timeout ?? PATIENCE.work },
      reconnect,
      ask: options.ask,
      traceparent: options.traceparent,
      onChange: this.#onChange,
    });
    this.#servers.set(name, server);
    if (isStdio(entry)) this.#programs.add(server);
  }

  #named(name: string): McpServer {
    const server = this.#servers.get(name);
    if (server !== undefined) return server;
    const names = [...this.#servers.keys()].join(", ");
    throw new McpError("unknown", `No MCP server named "${name}" is enabled. Enabled servers: ${names || "none"}.`);
  }

  #makeTools(): Tool[] {
    const listed = [...this.#servers.values()].flatMap((server) => server.tools.map((tool) => ({ server, tool })));
    const names = toolNames(
      listed.map(({ server, tool }) => ({ server: server.name, tool: tool.name })),
      this.#names,
    );
    return (
      listed
        .map(({ server, tool }, at) => agentTool(server.name, names[at] ?? "", tool, server.call))
        // If two tools of a server share a digest, only the first is kept.
        .filter(({ name }, at) => names.indexOf(name) === at)
    );
  }
}

function connectAll(servers: Iterable<McpServer>): void {
  for (const server of servers)
    server.connect().catch((error: unknown) => server.journal.note("banyan", reasonOf(error)));
}

function serverState({ name, status, tools, oddities }: McpServer): McpServerState {
  if (status.status !== "ready") return { name, ...status };
  const unread = tools.flatMap((tool) => {
    const [problem] = inputSchema(tool.inputSchema).unread;
    return problem === undefined ? [] : [stripControls(`${tool.name} (${problem})`)];
  });
  return {
    name,
    status: "ready",
    tools: tools.length,
    ...(unread.length > 0 && { unread }),
    ...(oddities.length > 0 && { odd: oddities }),
  };
}
