import type { UserPart } from "@banyan/core";
import { cutTo } from "@banyan/core/shown";
import {
  type Client,
  type ElicitRequestParams,
  type ElicitResult,
  type Tool as ListedTool,
  type RequestOptions,
  UrlElicitationRequiredError,
} from "@modelcontextprotocol/client";
import type { Journal } from "../workspace/commands/journal.ts";
import { stripControls } from "../workspace/files/plain-text.ts";
import type { ClientDuties, McpConnection, ServerTransport } from "./connection/connect.ts";
import { Lifeline, type LifelineStatus, type ReconnectSettings } from "./connection/lifeline.ts";
import type { Silence } from "./connection/silence.ts";
import { type Ask, answerElicitation } from "./elicitation.ts";
import { reasonOf } from "./entries/error.ts";
import {
  type McpPrompt,
  type McpResource,
  type McpResourceTemplate,
  mcpPrompt,
  promptParts,
  resourceOf,
  resourceParts,
  templateOf,
} from "./offers.ts";
import type { CallTool, TraceparentOf } from "./tool.ts";

export interface McpServerOptions {
  readonly name: string;
  readonly workspace: string;
  readonly reach: () => ServerTransport | Promise<ServerTransport>;
  /** Milliseconds without a sign of life: until the server is ready (`start`), and for later requests (`work`). */
  readonly patience: { readonly start: number; readonly work: number };
  readonly reconnect: Required<ReconnectSettings>;
  readonly journal: Journal;
  readonly ask: Ask | undefined;
  readonly traceparent: TraceparentOf | undefined;
  readonly onChange: () => void;
}

/** Disables the client package's own time limit for a request: `Silence` is the limit here. */
const NO_LIMIT = 2 ** 31 - 1;

const LONGEST_INSTRUCTIONS = 65_536;

/** Maximum number of protocol violations in `oddities`; the log has all of them. */
const MOST_ODDITIES = 8;

/** One configured MCP server: its tools, prompts and resources, and the requests to use them. */
export class McpServer {
  readonly name: string;
  readonly journal: Journal;
  readonly #options: McpServerOptions;
  readonly #lifeline: Lifeline;
  /** Running calls, the oldest first. If the server asks a question, the user of the newest call answers. */
  readonly #calls = new Set<{ readonly ask: Ask; readonly silence: Silence }>();
  #tools: readonly ListedTool[] = [];
  #prompts: readonly McpPrompt[] = [];
  #instructions: string | undefined;
  readonly #oddities = new Set<string>();

  constructor(options: McpServerOptions) {
    const { name, workspace, reach, patience, reconnect, journal, onChange } = options;
    this.name = name;
    this.journal = journal;
    this.#options = options;
    this.#lifeline = new Lifeline({
      name,
      reach,
      reconnect,
      onChange,
      patience,
      duties: {
        workspace,
        elicit: (params) => this.#elicit(params),
        log: (level, text) => journal.note(level, text),
        odd: (line, where) => {
          journal.note("banyan", line);
          if (where === "list" && this.#oddities.size < MOST_ODDITIES) this.#oddities.add(stripControls(line));
        },
        changed: (what) => {
          // If a list cannot be loaded, the old list stays; the next notification or connection corrects it.
          this.#changed(what).catch((error: unknown) =>
            journal.note("banyan", `its ${what} cannot be listed: ${reasonOf(error)}`),
          );
        },
      },
      load: (connection, signal) => this.#load(connection, signal),
    });
  }

  get status(): LifelineStatus {
    return this.#lifeline.status;
  }

  get tools(): readonly ListedTool[] {
    return this.#tools;
  }

  get prompts(): readonly McpPrompt[] {
    return this.#prompts;
  }

  /** Entries of the server's lists that violate the protocol, one line each. Such an entry was left out or corrected. */
  get oddities(): readonly string[] {
    return [...this.#oddities];
  }

  get instructions(): string | undefined {
    return this.#instructions;
  }

  connect(): Promise<void> {
    return this.#lifeline.reconnect();
  }

  settled(): Promise<void> {
    return this.#lifeline.settled();
  }

  lost(): void {
    this.#lifeline.lost();
  }

  close(): Promise<void> {
    return this.#lifeline.close();
  }

  readonly call: CallTool = (tool, input, { signal, ask, onProgress, ...context }) =>
    this.#lifeline.ask(async (client, silence) => {
      const call = { ask, silence };
      const options: RequestOptions = {
        signal: silence.signal,
        timeout: NO_LIMIT,
        onprogress(progress) {
          silence.heard();
          onProgress(progress);
        },
      };
      const traceparent = this.#options.traceparent?.(context);
      const trace = traceparent === undefined ? {} : { _meta: { traceparent } };
      const callTool = () => client.callTool({ name: tool, arguments: { ...input }, ...trace }, options);
      this.#calls.add(call);
      try {
        return await callTool();
      } catch (error) {
        if (!UrlElicitationRequiredError.isInstance(error)) throw error;
        for (const params of error.elicitations) {
          const { action } = await this.#elicit({ ...params, mode: "url" });
          if (action !== "accept") throw error;
        }
        return await callTool();
      } finally {
        this.#calls.delete(call);
      }
    }, signal);

  /** Returns a filled-in prompt as parts of a user message. Rejects with an `McpError`, or with the signal's reason. */
  prompt(name: string, values: Readonly<Record<string, string>>, signal: AbortSignal): Promise<UserPart[]> {
    return this.#lifeline.ask(async (client, { signal }) => {
      const prompt = await client.getPrompt({ name, arguments: { ...values } }, { signal, timeout: NO_LIMIT });
      return promptParts(this.name, prompt);
    }, signal);
  }

  resource(uri: string, signal: AbortSignal): Promise<UserPart[]> {
    return this.#lifeline.ask(async (client, { signal }) => {
      return resourceParts(this.name, await client.readResource({ uri }, { signal, timeout: NO_LIMIT }));
    }, signal);
  }

  resources(signal: AbortSignal): Promise<McpResource[]> {
    return this.#lifeline.ask(async (client, { signal }) => {
      if (!client.getServerCapabilities()?.resources) return [];
      const { resources } = await client.listResources({}, { signal, timeout: NO_LIMIT });
      return resources.map((listed) => resourceOf(this.name, listed));
    }, signal);
  }

  templates(signal: AbortSignal): Promise<McpResourceTemplate[]> {
    return this.#lifeline.ask(async (client, { signal }) => {
      if (!client.getServerCapabilities()?.resources) return [];
      const { resourceTemplates } = await client.listResourceTemplates({}, { signal, timeout: NO_LIMIT });
      return resourceTemplates.map((listed) => templateOf(this.name, listed));
    }, signal);
  }

  async #load({ client, whenSignedIn }: McpConnection, signal: AbortSignal): Promise<void> {
    const options: RequestOptions = { signal, timeout: this.#options.patience.start };
    const offers = client.getServerCapabilities();
    this.#oddities.clear();
    const said = client.getInstructions();
    this.#instructions = said && stripControls(cutTo(said, LONGEST_INSTRUCTIONS, ""));
    // One request after the other: a sign-in for the first request also covers the second.
    this.#tools = offers?.tools ? await whenSignedIn(() => this.#listTools(client, options), signal) : [];
    try {
      this.#prompts = offers?.prompts ? await whenSignedIn(() => this.#listPrompts(client, options), signal) : [];
    } catch (error) {
      // A server without prompts is still useful.
      this.journal.note("banyan", `its prompts cannot be listed: ${reasonOf(error)}`);
      this.#prompts = [];
    }
  }

  async #listTools(client: Client, options: RequestOptions): Promise<ListedTool[]> {
    const { tools } = await client.listTools({}, options);
    const known = new Set<string>();
    return tools.filter(({ name, execution }) => {
      const problem =
        execution?.taskSupport === "required" ? "it runs as a task only" : known.has(name) ? "it is listed twice" : "";
      known.add(name);
      if (problem !== "") this.journal.note("banyan", `the tool ${name} is left out: ${problem}`);
      return problem === "";
    });
  }

  async #listPrompts(client: Client, options: RequestOptions): Promise<McpPrompt[]> {
    const { prompts } = await client.listPrompts({}, options);
    return prompts.map((listed) => mcpPrompt(this.name, listed));
  }

  async #changed(what: Parameters<ClientDuties["changed"]>[0]): Promise<void> {
    await this.#lifeline.ask(async (client, { signal }) => {
      const options = { signal, timeout: this.#options.patience.start };
      const offers = client.getServerCapabilities();
      if (offers?.tools && (what === "tools" || what === "all")) this.#tools = await this.#listTools(client, options);
      if (offers?.prompts && (what === "prompts" || what === "all")) {
        this.#prompts = await this.#listPrompts(client, options);
      }
    });
    this.#options.onChange();
  }

  async #elicit(params: ElicitRequestParams): Promise<ElicitResult> {
    const call = [...this.#calls].at(-1);
    const ask = call?.ask ?? this.#options.ask;
    if (ask === undefined) return { action: "cancel" };
    const answer = () => answerElicitation(`The MCP server "${this.name}"`, params, ask);
    return call === undefined ? answer() : call.silence.during(answer);
  }
}
