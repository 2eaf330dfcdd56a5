import { setTimeout as sleep } from "node:timers/promises";
import { StoreError } from "@banyan/core";
import pg from "pg";
import type { DatabaseAddress } from "./address.ts";
import { isTransient, postgresStoreError } from "./error.ts";
import { migrate } from "./migrations.ts";
import { type Columns, type DatabaseConnection, inTransaction, type Statement } from "./statement.ts";

/** Timeouts in milliseconds: for a connection, for a statement on the server, and for its result. */
const CONNECT = 10_000;
const STATEMENT = 30_000;
const ANSWER = 40_000;
const FIRST_WAIT = 50;
const LONGEST_WAIT = 1_000;

/** Options of the connections to a database. */
export interface DatabaseOptions {
  readonly address: DatabaseAddress;
  readonly schema: string;
  readonly connections: number;
  readonly patience: number;
}

/**
 * The connections of a store to its database. The first statement creates or updates the tables. After the first
 * success, statements wait while the database is unreachable, so that its restart or failover only costs time.
 */
export class Database {
  readonly #address: DatabaseAddress;
  readonly #schema: string;
  readonly #patience: number;
  readonly #pool: pg.Pool;
  readonly #named = new Map<string, string>();
  #ready: Promise<void> | undefined;
  #hasAnswered = false;
  #ended: Promise<void> | undefined;

  constructor({ address, schema, connections, patience }: DatabaseOptions) {
    this.#address = address;
    this.#schema = schema;
    this.#patience = patience;
    this.#pool = new pg.Pool({ ...this.connectOptions(), max: connections, allowExitOnIdle: true });
    // The next statement replaces an idle connection that broke.
    this.#pool.on("error", () => {});
  }

  connectOptions(): pg.ClientConfig {
    return {
      ...this.#address.connect,
      application_name: "banyan",
      connectionTimeoutMillis: CONNECT,
      statement_timeout: STATEMENT,
      query_timeout: ANSWER,
      keepAlive: true,
      types: { getTypeParser: typeParser as pg.CustomTypesConfig["getTypeParser"] },
    };
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Sends a statement, and repeats it while the server is away. Rejects with a `StoreError`. See `once`. */
  async ask(statement: Statement, values: readonly unknown[] = []): Promise<Columns[]> {
    return this.patiently(() => this.once(statement, values));
  }

  /** Like `ask`, without repeating. Rejects with the driver's error; if `isTransient`, the outcome is unknown. */
  async once(statement: Statement, values: readonly unknown[] = []): Promise<Columns[]> {
    await this.ready();
    return this.#with(({ ask }) => ask(statement, values));
  }

  /** Runs a transaction, repeated while the server is away: the transaction must be safe to run twice. */
  async transaction<T>(body: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    return this.patiently(async () => {
      await this.ready();
      return this.#with((connection) => inTransaction(connection, () => body(connection)));
    });
  }

  /** Repeats an attempt after transient errors, for at most `patience`. Rejects with a `StoreError`. */
  async patiently<T>(attempt: () => Promise<T>): Promise<T> {
    const until = performance.now() + this.#patience;
    for (let wait = FIRST_WAIT; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
      try {
        return await attempt();
      } catch (error) {
        const isOver = !this.#hasAnswered || performance.now() + wait > until || this.hasEnded;
        if (isOver || !isTransient(error)) throw postgresStoreError(error, this.#address);
      }
      await sleep(wait);
    }
  }

  /** Resolves when the tables exist in this version. */
  async ready(): Promise<void> {
    this.#ready ??= this.#with((connection) => migrate(connection, this.#schema, this.#address)).catch(
      (error: unknown) => {
        this.#ready = undefined;
        throw error;
      },
    );
    await this.#ready;
    this.#hasAnswered = true;
  }

  textOf({ text }: Statement): string {
    if (this.#schema === "banyan") return text;
    const known = this.#named.get(text) ?? text.replaceAll("banyan.", `${pg.escapeIdentifier(this.#schema)}.`);
    this.#named.set(text, known);
    return known;
  }

  end(): Promise<void> {
    this.#ended ??= this.#pool.end();
    return this.#ended;
  }

  async #with<T>(body: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    if (this.hasEnded) throw new StoreError("unusable", "The store is closed; create a new store.");
    const client = await this.#pool.connect();
    let broken: unknown;
    // A connection that breaks between two statements emits an error event, which must have a listener.
    const onError = () => {};
    client.on("error", onError);
    try {
      return await body({
        ask: async (statement, values = []) => {
          const text = this.textOf(statement);
          // Each name on a connection has one text.
          const name = statement.name && text !== statement.text ? `${statement.name} ${this.#schema}` : statement.name;
          const query = { text, values: [...values], rowMode: "array" as const };
          return (await client.query<unknown[]>(name === undefined ? query : { ...query, name })).rows;
        },
      });
    } catch (error) {
      broken = error;
      throw error;
    } finally {
      client.removeListener("error", onError);
      // A late result could reach the connection's next user after a timeout: close the connection.
      client.release(broken !== undefined && isTransient(broken));
    }
  }
}

/** 64-bit values become numbers: all are far below 2^53. */
function typeParser(oid: number, format?: "text" | "binary"): (text: string) => unknown {
  return oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as "text");
}
