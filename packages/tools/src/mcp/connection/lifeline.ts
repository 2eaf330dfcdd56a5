import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/client";
import { McpError, reasonOf } from "../entries/error.ts";
import { type ClientDuties, type Connection, connect, VERSIONS, type WayToServer } from "./connect.ts";
import { failureOf, isForgotten, isLost, versionNamedIn } from "./failure.ts";
import { Silence } from "./silence.ts";

/**
 * How the connection to a server is doing.
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
 * How a server that was lost is looked for: so often in a row, with pauses in milliseconds that grow twofold.
 * @example
 * const patient: ReconnectSettings = { delay: 1_000, maxDelay: 60_000, attempts: 20 };
 */
export interface ReconnectSettings {
  /** The first pause. Default 500. */
  readonly delay?: number;
  /** The longest pause. Default 8,000. */
  readonly maxDelay?: number;
  /** Default 5. */
  readonly attempts?: number;
}

/** What a lifeline is made of. */
export interface LifelineOptions {
  /** The name of the server. */
  readonly name: string;
  /** How to get there. Rejects when its entry cannot be used. */
  readonly reach: () => WayToServer | Promise<WayToServer>;
  readonly duties: ClientDuties;
  /** Milliseconds that the server may be silent: in each exchange until it is ready, and in a question later. */
  readonly patience: { readonly start: number; readonly work: number };
  readonly reconnect: Required<ReconnectSettings>;
  /** Learns what the server offers, before the connection counts as ready. */
  readonly load: (connection: Connection, signal: AbortSignal) => Promise<void>;
  readonly onChange: () => void;
}

/** Milliseconds after which a connection counts as steady: when it is lost then, the attempts are counted anew. */
const STEADY = 60_000;
/** Milliseconds for the answer to the question whether a silent server is still there. */
const PING = 5_000;

/**
 * Keeps one connection to one server. A server that never was ready is not looked for by itself: its entry is wrong.
 */
export class Lifeline {
  readonly #options: LifelineOptions;
  readonly #closed = new AbortController();
  #status: LifelineStatus = { status: "connecting" };
  #connection: Connection | undefined;
  /** Resolves when it is known whether there is a connection; absent while nobody is trying. */
  #opening: Promise<void> | undefined;
  #readySince = 0;
  /** The version that the server named when it refused another one; the only one that is offered from then on. */
  #version: string | undefined;
  #attempts = 0;

  constructor(options: LifelineOptions) {
    this.#options = options;
  }

  get status(): LifelineStatus {
    return this.#status;
  }

  /** Connects, or connects anew. Resolves when the status says how that went. */
  reconnect(): Promise<void> {
    const before = this.#opening;
    const connection = this.#connection;
    this.#connection = undefined;
    this.#attempts = 0;
    return this.#begin(async () => {
      await Promise.all([before, connection?.close()]);
      // What was opening meanwhile is new enough.
      if (this.#connection === undefined) await this.#open();
    });
  }

  /** Resolves when it is known whether the server can be used. */
  async settled(): Promise<void> {
    await this.#opening;
  }

  /**
   * Asks the server something, once it is there. A session that the server has forgotten is begun anew, since it did
   * nothing then; everything else that goes wrong is an `McpError`, or the reason of the signal.
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
        const { code, reason } = failureOf(error, silence.signal);
        if (code === "sign-in") this.#become({ status: "needs-auth", reason });
        if (code === "silent") this.#probe(connection).catch(this.#note);
        if (isLost(error)) this.#lost(connection);
        const doubt = code === "silent" || code === "gone" ? " It is unknown whether this took effect." : "";
        throw McpError.because(error, code, `The MCP server "${this.#options.name}" failed: ${reason}.${doubt}`);
      }
    }
  }

  /** The way to the server broke: it is looked for. */
  lost(): void {
    if (this.#connection !== undefined) this.#lost(this.#connection);
  }

  /** Ends the connection, and all that belongs to it. */
  async close(): Promise<void> {
    this.#closed.abort(new McpError("gone", "it was closed"));
    const connection = this.#connection;
    this.#connection = undefined;
    await Promise.all([connection?.close(), this.#opening]);
  }

  async #connected(signal: AbortSignal): Promise<Connection> {
    if (this.#connection !== undefined) return this.#connection;
    const aborted = Promise.withResolvers<void>();
    const abort = () => aborted.resolve();
    signal.addEventListener("abort", abort, { once: true });
    if (!signal.aborted) await Promise.race([this.#opening ?? this.#begin(() => this.#open()), aborted.promise]);
    signal.removeEventListener("abort", abort);
    if (this.#connection !== undefined) return this.#connection;
    const status = this.#status;
    if (status.status === "needs-auth") throw new McpError("sign-in", status.reason);
    const reason = signal.aborted ? reasonOf(signal.reason) : "reason" in status ? status.reason : "it was lost again";
    throw new McpError("gone", `The MCP server "${this.#options.name}" is not there: ${reason}.`);
  }

  /** Never rejects. */
  #begin(open: () => Promise<unknown>): Promise<void> {
    const opening = open()
      .then(() => {})
      .catch((error: unknown) => {
        // Whoever asks next begins anew, and is told why if that fails too.
        this.#note(error);
        this.#become({ status: "failed", reason: reasonOf(error) });
      })
      .finally(() => {
        if (this.#opening === opening) this.#opening = undefined;
      });
    this.#opening = opening;
    return opening;
  }

  /** One attempt; never rejects. Returns whether it is worth while to try again. */
  async #open(): Promise<boolean> {
    const { reach, duties, patience, load } = this.#options;
    const { signal } = this.#closed;
    this.#become({ status: "connecting" });
    let connection: Connection | undefined;
    try {
      connection = await connect(await reach(), duties, patience.start, signal, this.#version);
      await load(connection, signal);
    } catch (error) {
      await connection?.close().catch(this.#note);
      const version = this.#version === undefined ? versionNamedIn(error, VERSIONS) : undefined;
      if (version !== undefined && !signal.aborted) {
        this.#version = version;
        return this.#open();
      }
      const { code, reason } = failureOf(error, signal);
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

  #lost(connection: Connection): void {
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

  /** A server that let a question time out may hang. Servers of the newer protocol have no session that could. */
  async #probe(connection: Connection): Promise<void> {
    if (connection.client.getProtocolEra() !== "legacy") return;
    try {
      await connection.client.ping({ timeout: PING });
    } catch {
      // Whatever it is: a server that does not answer this is of no use any more.
      this.#lost(connection);
    }
  }

  /** What went wrong where nobody waits for it stands in the journal of the server. */
  readonly #note = (error: unknown): void => this.#options.duties.log("banyan", reasonOf(error));

  #become(status: LifelineStatus): void {
    const isNews = status.status !== "connecting" || this.#status.status !== "connecting";
    if (this.#closed.signal.aborted || !isNews) return;
    this.#status = status;
    try {
      this.#options.onChange();
    } catch (error) {
      // The connection is not to end by it: its tools are there for whoever asks again.
      this.#note(error);
    }
  }
}
