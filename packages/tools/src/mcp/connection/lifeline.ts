import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/client";
import { McpError, reasonOf } from "../entries/error.ts";
import { type ClientDuties, connectMcp, type McpConnection, type ServerTransport, VERSIONS } from "./connect.ts";
import { isConnectionLost, isForgotten, mcpFailure, versionNamedIn } from "./failure.ts";
import { Silence } from "./silence.ts";

/**
 * The state of the connection to an MCP server.
 *
 *   connecting ──▶ ready ──lost──▶ connecting ──▶ ready
 *            ╰──▶ failed, needs-auth ──a request, reconnect──▶ connecting
 */
export type LifelineStatus =
  | { readonly status: "connecting" }
  | { readonly status: "ready" }
  | { readonly status: "failed"; readonly reason: string }
  | { readonly status: "needs-auth"; readonly reason: string };

/**
 * The number of attempts to reconnect to a lost server, and the pauses between attempts in milliseconds. Each pause is
 * twice as long as the pause before.
 * @example
 * const patient: ReconnectSettings = { delay: 1_000, maxDelay: 60_000, attempts: 20 };
 */
export interface ReconnectSettings {
  /** The first pause. Default 500. */
  readonly delay?: number;
  /** The longest pause. Default 8,000. */
  readonly maxDelay?: number;
  /** Maximum number of attempts in a row. Default 5. */
  readonly attempts?: number;
}

export interface LifelineOptions {
  readonly name: string;
  /** Returns the way to reach the server. Rejects if the entry is invalid. */
  readonly reach: () => ServerTransport | Promise<ServerTransport>;
  readonly duties: ClientDuties;
  /** Milliseconds without a sign of life: `start` for each exchange until the server is ready, `work` for later requests. */
  readonly patience: { readonly start: number; readonly work: number };
  readonly reconnect: Required<ReconnectSettings>;
  /** Loads the tools, prompts and instructions of the server. Then the connection counts as ready. */
  readonly load: (connection: McpConnection, signal: AbortSignal) => Promise<void>;
  readonly onChange: () => void;
}

/** Milliseconds after which a connection counts as stable: if it is lost later, the count of attempts restarts at 0. */
const STEADY = 60_000;
const PING = 5_000;

/**
 * Keeps one connection to one MCP server and reconnects when it breaks. A server that was never ready is not retried
 * automatically, because its entry is probably wrong.
 */
export class Lifeline {
  readonly #options: LifelineOptions;
  readonly #closed = new AbortController();
  #status: LifelineStatus = { status: "connecting" };
  #connection: McpConnection | undefined;
  #opening: Promise<void> | undefined;
  #readySince = 0;
  /** The only version to offer, named by the server when it rejected another version. */
  #version: string | undefined;
  #attempts = 0;

  constructor(options: LifelineOptions) {
    this.#options = options;
  }

  get status(): LifelineStatus {
    return this.#status;
  }

  /** Connects or reconnects. Resolves when `status` has the result. */
  reconnect(): Promise<void> {
    const before = this.#opening;
    const connection = this.#connection;
    this.#connection = undefined;
    this.#attempts = 0;
    return this.#begin(async () => {
      await Promise.all([before, connection?.close()]);
      if (this.#connection === undefined) await this.#open();
    });
  }

  async settled(): Promise<void> {
    await this.#opening;
  }

  /**
   * Sends a request once the server is connected. If the server forgot the session, the request had no effect and is
   * sent again in a new session. Any other failure rejects with an `McpError` or the signal's reason.
   */
  async ask<T>(
    question: (client: Client, silence: Silence) => Promise<T>,
    signal: AbortSignal = this.#closed.signal,
  ): Promise<T> {
    using silence = new Silence(this.#options.patience.work, AbortSignal.any([signal, this.#closed.signal]));
    for (let isFirst = true; ; isFirst = false) {
      const connection = await this.#connected(silence.signal);
      try {
        const answer = await connection.whenSignedIn(() => question(connection.client, silence), silence.signal);
        if (this.#status.status === "needs-auth") this.#become({ status: "ready" });
        return answer;
      } catch (error) {
        signal.throwIfAborted();
        if (isFirst && connection.hasSession() && isForgotten(error)) {
          this.#lost(connection);
          continue;
        }
        const { code, reason } = mcpFailure(error, silence.signal);
        if (code === "sign-in") this.#become({ status: "needs-auth", reason });
        if (code === "silent") this.#probe(connection).catch(this.#note);
        if (isConnectionLost(error)) this.#lost(connection);
        const doubt = code === "silent" || code === "gone" ? " It is unknown whether the request took effect." : "";
        throw McpError.because(error, code, `The MCP server "${this.#options.name}" failed: ${reason}.${doubt}`);
      }
    }
  }

  lost(): void {
    if (this.#connection !== undefined) this.#lost(this.#connection);
  }

  async close(): Promise<void> {
    this.#closed.abort(new McpError("gone", "it was closed"));
    const connection = this.#connection;
    this.#connection = undefined;
    await Promise.all([connection?.close(), this.#opening]);
  }

  async #connected(signal: AbortSignal): Promise<McpConnection> {
    if (this.#connection !== undefined) return this.#connection;
    const aborted = Promise.withResolvers<void>();
    const abort = () => aborted.resolve();
    signal.addEventListener("abort", abort, { once: true });
    if (!signal.aborted) await Promise.race([this.#opening ?? this.#begin(() => this.#open()), aborted.promise]);
    signal.removeEventListener("abort", abort);
    if (this.#connection !== undefined) return this.#connection;
    const status = this.#status;
    if (status.status === "needs-auth") throw new McpError("sign-in", status.reason);
    const reason = signal.aborted ? reasonOf(signal.reason) : "reason" in status ? status.reason : "connection lost";
    throw new McpError("gone", `The MCP server "${this.#options.name}" is not available: ${reason}.`);
  }

  #begin(open: () => Promise<unknown>): Promise<void> {
    const opening = open()
      .then(() => {})
      .catch((error: unknown) => {
        // The next request tries again and reports its own failure.
        this.#note(error);
        this.#become({ status: "failed", reason: reasonOf(error) });
      })
      .finally(() => {
        if (this.#opening === opening) this.#opening = undefined;
      });
    this.#opening = opening;
    return opening;
  }

  /** Makes one attempt and never rejects. Returns whether another attempt may help. */
  async #open(): Promise<boolean> {
    const { reach, duties, patience, load } = this.#options;
    const { signal } = this.#closed;
    this.#become({ status: "connecting" });
    let connection: McpConnection | undefined;
    try {
      connection = await connectMcp(await reach(), duties, patience.start, signal, this.#version);
      await load(connection, signal);
    } catch (error) {
      await connection?.close().catch(this.#note);
      const version = this.#version === undefined ? versionNamedIn(error, VERSIONS) : undefined;
      if (version !== undefined && !signal.aborted) {
        this.#version = version;
        return this.#open();
      }
      const { code, reason } = mcpFailure(error, signal);
      const status = code === "sign-in" ? "needs-auth" : "failed";
      this.#become({ status, reason });
      return status === "failed";
    }
    if (signal.aborted) {
      await connection.close();
      return false;
    }
    this.#connection = connection;
    this.#readySince = performance.now();
    const { closed } = connection;
    closed.then(() => this.#lost(connection)).catch(this.#note);
    this.#become({ status: "ready" });
    return false;
  }

  #lost(connection: McpConnection): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    connection.close().catch(this.#note);
    if (performance.now() - this.#readySince > STEADY) this.#attempts = 0;
    this.#begin(() => this.#search()).catch(this.#note);
  }

  async #search(): Promise<void> {
    const { delay, maxDelay, attempts } = this.#options.reconnect;
    const { signal } = this.#closed;
    if (this.#attempts >= attempts) {
      return this.#become({ status: "failed", reason: `it was lost ${attempts} times in a row` });
    }
    this.#become({ status: "connecting" });
    try {
      do {
        const pause = Math.min(delay * 2 ** this.#attempts, maxDelay);
        this.#attempts += 1;
        await sleep(pause, undefined, { signal, ref: false });
      } while ((await this.#open()) && this.#attempts < attempts);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Pings a server after a request timed out: its session may hang. Servers of the newer protocol have no session. */
  async #probe(connection: McpConnection): Promise<void> {
    if (connection.client.getProtocolEra() !== "legacy") return;
    try {
      await connection.client.ping({ timeout: PING });
    } catch {
      // A server that does not answer a ping is useless, whatever the error.
      this.#lost(connection);
    }
  }

  readonly #note = (error: unknown): void => this.#options.duties.log("banyan", reasonOf(error));

  #become(status: LifelineStatus): void {
    const isNews = status.status !== "connecting" || this.#status.status !== "connecting";
    if (this.#closed.signal.aborted || !isNews) return;
    this.#status = status;
    try {
      this.#options.onChange();
    } catch (error) {
      // A failing listener must not end the connection: the tools stay available.
      this.#note(error);
    }
  }
}
