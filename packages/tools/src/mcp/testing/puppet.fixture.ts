import { spawn } from "node:child_process";

/** The parts of a JSON-RPC message that matter here. */
export interface Message {
  readonly jsonrpc?: "2.0";
  readonly id?: number | string;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a client sends is anything
  readonly params?: any;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** The offers and the behaviour of a puppet. */
export interface PuppetOptions {
  /** True for the newer protocol. Default: the older protocol. */
  readonly modern?: boolean;
  /** Additional tools, which answer with their own name. */
  readonly tools?: readonly object[];
}

/** Sends a message to the client over the same connection. */
export type Send = (message: Message) => void;

const object = (properties: object = {}) => ({ type: "object", properties });

const TOOLS = [
  {
    name: "echo",
    description: "Says it again.",
    inputSchema: object({ text: { type: "string" } }),
    annotations: { readOnlyHint: true },
  },
  { name: "fail", description: "Fails.", inputSchema: object() },
  { name: "error", description: "Answers with an error.", inputSchema: object() },
  { name: "wait", description: "Never answers.", inputSchema: object() },
  { name: "steps", description: "Reports progress.", inputSchema: object({ count: { type: "integer" } }) },
  { name: "grow", description: "Offers a tool more.", inputSchema: object(), annotations: { idempotentHint: true } },
  { name: "environment", description: "The names of its variables.", inputSchema: object() },
  { name: "crash", description: "Ends the server.", inputSchema: object() },
  { name: "daemon", description: "Leaves a process behind.", inputSchema: object() },
  { name: "elicit", description: "Asks the user.", inputSchema: object({ params: { type: "object" } }) },
];

/** An MCP server without the MCP package, with the good or bad behaviour that a test needs. */
export class Puppet {
  /** All received messages, oldest first. */
  readonly heard: Message[] = [];
  readonly #options: PuppetOptions;
  readonly #waiting = new Map<number | string, (message: Message) => void>();
  #grown: object[] = [];
  /** Subscribers of changes, in the newer protocol. */
  readonly #listeners = new Set<Send>();
  #questions = 0;

  constructor(options: PuppetOptions = {}) {
    this.#options = options;
  }

  /** Handles a message; responses go to `send`. */
  async take(message: Message, send: Send): Promise<void> {
    this.heard.push(message);
    const { id, method } = message;
    if (id === undefined) return;
    if (method === undefined) {
      this.#waiting.get(id)?.(message);
      return;
    }
    const answer = await this.#answer(message, send);
    if (answer !== undefined) send({ jsonrpc: "2.0", id, ...answer });
  }

  /** Adds a tool and notifies all subscribers. */
  grow(): void {
    this.#grown = [{ name: "grown", description: "New.", inputSchema: object() }];
    for (const tell of this.#listeners) tell({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  }

  async #answer({ id, method, params }: Message, send: Send): Promise<Pick<Message, "result" | "error"> | undefined> {
    const { modern = false } = this.#options;
    switch (method) {
      case "initialize":
        if (modern)
          return {
            error: {
              code: -32022,
              message: "Unsupported protocol version",
              data: { supported: ["2026-07-28"], requested: params.protocolVersion },
            },
          };
        return {
          result: { ...this.#self(), protocolVersion: "2025-11-25", serverInfo: { name: "puppet", version: "1" } },
        };
      case "server/discover":
        return modern
          ? {
              result: {
                ...this.#self(),
                resultType: "complete",
                ttlMs: 0,
                cacheScope: "private",
                supportedVersions: ["2026-07-28"],
              },
            }
          : { error: { code: -32601, message: "Method not found" } };
      case "subscriptions/listen": {
        const _meta = { "io.modelcontextprotocol/subscriptionId": id };
        send({
          jsonrpc: "2.0",
          method: "notifications/subscriptions/acknowledged",
          params: { _meta, notifications: params.notifications },
        });
        this.#listeners.add((message) => send({ ...message, params: { ...message.params, _meta } }));
        return undefined;
      }
      case "ping":
        return { result: {} };
      case "tools/list":
        return { result: this.#whole({ tools: [...TOOLS, ...(this.#options.tools ?? []), ...this.#grown] }) };
      case "prompts/list":
        return {
          result: this.#whole({
            prompts: [{ name: "greet", description: "A greeting.", arguments: [{ name: "who", required: true }] }],
          }),
        };
      case "prompts/get":
        return {
          result: this.#whole({
            messages: [{ role: "user", content: { type: "text", text: `Say hello to ${params.arguments.who}.` } }],
          }),
        };
      case "resources/list":
        return { result: this.#whole({ resources: [{ uri: "note://one", name: "one", mimeType: "text/plain" }] }) };
      case "resources/read":
        return {
          result: this.#whole({
            contents: [{ uri: params.uri, mimeType: "text/plain", text: `The note ${params.uri}.` }],
          }),
        };
      case "tools/call":
        return await this.#call(params, id ?? 0, send);
      default:
        return { error: { code: -32601, message: `There is no ${method} here` } };
    }
  }

  /** The capabilities and instructions. */
  #self(): object {
    return {
      capabilities: { tools: { listChanged: true }, prompts: {}, resources: {}, logging: {} },
      instructions: "Pull the strings.",
    };
  }

  /** The newer protocol requires a mark of a complete result. */
  #whole(result: object): object {
    return this.#options.modern ? { resultType: "complete", ttlMs: 0, cacheScope: "private", ...result } : result;
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  async #call(params: any, id: number | string, send: Send): Promise<Pick<Message, "result" | "error"> | undefined> {
    const text = (said: string, more: object = {}) => ({
      result: this.#whole({ content: [{ type: "text", text: said }], ...more }),
    });
    const input = params.arguments ?? {};
    const notify = (method: string, of: object = {}) =>
      send({ jsonrpc: "2.0", method: `notifications/${method}`, params: of });
    switch (params.name) {
      case "echo":
        return text(input.text ?? "");
      case "fail":
        return text("It did not work.", { isError: true });
      case "error":
        return { error: { code: -32603, message: "The strings are tangled" } };
      case "wait":
        notify("message", { level: "info", data: `waiting in ${id}` });
        return undefined;
      case "steps":
        for (let progress = 1; progress <= input.count; progress += 1)
          notify("progress", {
            progressToken: params._meta?.progressToken,
            progress,
            total: input.count,
            message: "step",
          });
        return text("done");
      case "grow":
        this.grow();
        if (!this.#options.modern) notify("tools/list_changed");
        return text("taller");
      case "environment":
        return text(Object.keys(process.env).sort().join(" "));
      case "crash":
        process.exit(7);
        break;
      case "daemon": {
        // This process ignores SIGTERM in its own session, and holds the standard output open.
        const daemon = spawn("sh", ["-c", "trap '' TERM; while :; do sleep 1; done"], {
          detached: true,
          stdio: "inherit",
        });
        daemon.unref();
        return text(String(daemon.pid));
      }
      case "elicit": {
        const question = `question-${++this.#questions}`;
        const answered = new Promise<Message>((resolve) => this.#waiting.set(question, resolve));
        send({ jsonrpc: "2.0", id: question, method: "elicitation/create", params: input.params });
        const { result, error } = await answered;
        return text(JSON.stringify(result ?? error));
      }
    }
    return text(params.name);
  }
}
