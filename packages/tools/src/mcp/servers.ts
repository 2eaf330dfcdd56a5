import type { Tool, UserPart } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { RunningCommands } from "../workspace/commands/process-family.ts";
import { stripControls } from "../workspace/files/plain-text.ts";
import { inputSchema } from "./connection/input-schema.ts";
import { Journal } from "./connection/journal.ts";
import type { LifelineStatus, ReconnectSettings } from "./connection/lifeline.ts";
import { Route, type Surroundings } from "./connection/route.ts";
import type { Ask } from "./elicitation.ts";
import { type McpServerEntry, readEntry } from "./entries/entry.ts";
import { McpError, reasonOf } from "./entries/error.ts";
import type { McpPrompt, McpResource, McpResourceTemplate } from "./offers.ts";
import { McpServer } from "./server.ts";
import { agentTool, type TraceparentOf } from "./tool.ts";
import { toolNames } from "./tool-name.ts";

/**
 * Which servers, for whom, and in which surroundings.
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
export interface McpOptions extends Omit<Surroundings, "reconnect"> {
  /** `mcpServers` of the configuration. An entry that cannot be used is reported as failed, and harms no other. */
  readonly servers: Readonly<Record<string, unknown>>;
  /** Asks a person what a server wants to know outside of calls; in a call, whoever waits for the call is asked. */
  readonly ask?: Ask;
  /** Goes along with the request of a call (`_meta.traceparent`), so that the server can go on with the trace. */
  readonly traceparent?: TraceparentOf;
  /** Called when a status changed, or what a server offers. Must not throw. */
  readonly onChange?: () => void;
  /** How a server that was lost is looked for. */
  readonly reconnect?: ReconnectSettings;
}

const OPTIONS: OptionNames<McpOptions> = {
  servers: true,
  ask: true,
  traceparent: true,
  onChange: true,
  reconnect: true,
  workspace: true,
  env: true,
  credentials: true,
  openAddress: true,
  howToSignIn: true,
  wrap: true,
};
const RECONNECT_NAMES: OptionNames<ReconnectSettings> = { delay: true, maxDelay: true, attempts: true };

/** How one server is doing. */
export type McpServerState = { readonly name: string } & (
  | Exclude<LifelineStatus, { readonly status: "ready" }>
  | {
      readonly status: "ready";
      readonly tools: number;
      /** Tools whose arguments the server alone checks, in part, and why. */
      readonly unread?: readonly string[];
      /** What of its lists is not of the protocol, a line each: it was left out, or used without what is odd. */
      readonly odd?: readonly string[];
    }
  | { readonly status: "disabled" }
);

/** Milliseconds that a server may be silent when its entry says nothing. */
const PATIENCE = { start: 30_000, work: 600_000 };
const RECONNECT: Required<ReconnectSettings> = { delay: 500, maxDelay: 8_000, attempts: 5 };

/**
 * Connects to MCP servers, all at once and in the background (B47). What they offer is there as they become ready:
 * `onChange` says when to look again. Close it when done: servers that are programs end with it.
 */
export function openMcpServers(options: McpOptions): McpServers {
  return new McpServers(options);
}

/** The MCP servers of a configuration. */
export class McpServers implements AsyncDisposable {
  readonly #servers = new Map<string, McpServer>();
  /** Those that are not used, and why; and the names of all, in the order of the configuration. */
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
    for (const [name, given] of Object.entries(options.servers)) {
      try {
        const entry = readEntry(name, given);
        if (entry.disabled) this.#unused.set(name, { name, status: "disabled" });
        else this.#add(name, entry, options, running);
      } catch (error) {
        if (!(error instanceof McpError)) throw error;
        this.#unused.set(name, { name, status: "failed", reason: error.message });
      }
    }
    for (const server of this.#servers.values())
      server.connect().catch((error: unknown) => server.journal.note("banyan", reasonOf(error)));
  }

  /** How each server is doing, in the order of the configuration. */
  get states(): readonly McpServerState[] {
    return this.#names.flatMap((name) => {
      const server = this.#servers.get(name);
      return (server === undefined ? this.#unused.get(name) : stateOf(server)) ?? [];
    });
  }

  /** The tools of all servers, named `mcp_{server}_{tool}`; the same array until something changes. */
  get tools(): readonly Tool[] {
    this.#tools ??= this.#makeTools();
    return this.#tools;
  }

  /** The prompts of all servers. */
  get prompts(): readonly McpPrompt[] {
    return [...this.#servers.values()].flatMap(({ prompts }) => prompts);
  }

  /** Resolves when each server is ready, or has failed to be. */
  async settled(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.settled()));
  }

  /** What a server says of how it is to be used; undefined when it says nothing, or was not there yet. */
  instructions(server: string): string | undefined {
    return this.#servers.get(server)?.instructions;
  }

  /** The last lines that a server wrote: its standard error, its log, and what went wrong with it. */
  journal(server: string): string {
    return this.#named(server).journal.text;
  }

  /**
   * Connects to a server anew. Resolves when its state says how that went. Rejects with an `McpError` when there is
   * none of that name.
   */
  async reconnect(server: string): Promise<void> {
    await this.#named(server).connect();
  }

  /** A prompt, filled in, as parts of a user message. Rejects with an `McpError`. */
  async prompt(
    { server, name }: Pick<McpPrompt, "server" | "name">,
    values: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<UserPart[]> {
    return this.#named(server).prompt(name, values, signal);
  }

  /** What a server lets be read. Rejects with an `McpError`. */
  async resources(server: string, signal: AbortSignal): Promise<McpResource[]> {
    return this.#named(server).resources(signal);
  }

  /** The families of resources of a server. Rejects with an `McpError`. */
  async templates(server: string, signal: AbortSignal): Promise<McpResourceTemplate[]> {
    return this.#named(server).templates(signal);
  }

  /** What `@server:uri` stands for, as parts of a user message. Rejects with an `McpError`. */
  async read({ server, uri }: Pick<McpResource, "server" | "uri">, signal: AbortSignal): Promise<UserPart[]> {
    return this.#named(server).resource(uri, signal);
  }

  /** Ends all connections and all processes, within 3 seconds. */
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
  }

  #named(name: string): McpServer {
    const server = this.#servers.get(name);
    if (server !== undefined) return server;
    const names = [...this.#servers.keys()].join(", ");
    throw new McpError("unknown", `There is no MCP server "${name}" in use. There are: ${names || "none"}.`);
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
        // A digest is short: a server that looks for two tools with the same one has one of them.
        .filter(({ name }, at) => names.indexOf(name) === at)
    );
  }
}

function stateOf({ name, status, tools, oddities }: McpServer): McpServerState {
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
