import { setTimeout as sleep } from "node:timers/promises";
import { StoreError } from "@banyan/core";
import pg from "pg";
import type { Address } from "./address.ts";
import { isPassing, storeError } from "./error.ts";
import { migrate } from "./migrations.ts";
import { type Columns, type Connection, inTransaction, type Statement } from "./statement.ts";

/** Milliseconds: for a connection, for a statement on the server, and for its answer to arrive here. */
const CONNECT = 10_000;
const STATEMENT = 30_000;
const ANSWER = 40_000;
/** Milliseconds between two tries while the server is away: the first, and the longest. */
const FIRST_WAIT = 50;
const LONGEST_WAIT = 1_000;

/** How statements are sent. */
export interface DatabaseOptions {
  readonly address: Address;
  readonly schema: string;
  readonly connections: number;
  readonly patience: number;
}

/**
 * The connections of one store to its database. The first statement makes the tables, or brings them up to date. Once the
 * database has answered, its absence is waited out: a restart or a failover costs time and nothing else.
 */
export class Database {
  readonly #address: Address;
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
    // A connection that breaks while nobody uses it is replaced by the next statement.
    this.#pool.on("error", () => {});
  }

  /** For a connection of its own, beside the others. */
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

  /**
   * Sends a statement, again while the server is away: one that must not be carried out twice goes by `once`. Rejects with
   * `StoreError`.
   */
  async ask(statement: Statement, values: readonly unknown[] = []): Promise<Columns[]> {
    return this.patiently(() => this.once(statement, values));
  }

  /** Sends a statement once. Rejects as the driver does: an error that `isPassing` leaves open whether it was carried out. */
  async once(statement: Statement, values: readonly unknown[] = []): Promise<Columns[]> {
    await this.ready();
    return this.#with(({ ask }) => ask(statement, values));
  }

  /** Several statements, all or none; again while the server is away, so to be asked for only where twice is as good as once. */
  async transaction<T>(body: (connection: Connection) => Promise<T>): Promise<T> {
    return this.patiently(async () => {
      await this.ready();
      return this.#with((connection) => inTransaction(connection, () => body(connection)));
    });
  }

  /** Repeats what failed for a passing reason, as long as the store has patience. Rejects with `StoreError`. */
  async patiently<T>(attempt: () => Promise<T>): Promise<T> {
    const until = performance.now() + this.#patience;
    for (let wait = FIRST_WAIT; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
      try {
        return await attempt();
      } catch (error) {
        const isOver = !this.#hasAnswered || performance.now() + wait > until || this.hasEnded;
        if (isOver || !isPassing(error)) throw storeError(error, this.#address);
      }
      await sleep(wait);
    }
  }

  /** Resolves when the tables are there and of this version. */
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

  /** A statement's text, with the tables where they are. */
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

  async #with<T>(body: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.hasEnded) throw new StoreError("unusable", "The store is closed; make a new one.");
    const client = await this.#pool.connect();
    let broken: unknown;
    // One that breaks between two answers says so by an event, and nobody need hear it twice.
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
      // After a time-out an answer may still come, to whoever asks next.
      client.release(broken !== undefined && isPassing(broken));
    }
  }
}

/** 64-bit numbers are numbers: sequences, epochs and times stay far below 2^53. */
function typeParser(oid: number, format?: "text" | "binary"): (text: string) => unknown {
  return oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as "text");
}
