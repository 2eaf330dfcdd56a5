import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Database } from "./database.ts";

/** Milliseconds in which rings are gathered, and bytes of a ring: PostgreSQL takes 8,000. */
const GATHERED = 5;
const LARGEST = 7_000;
/** Milliseconds between two tries to listen again. */
const RETRY = 500;

/** Hears which conversations have something new; `undefined`: any may have, for what was rung meanwhile was not heard. */
export type Hearing = (conversations: readonly string[] | undefined) => void;

/**
 * Tells other nodes that there is more to read: which conversations, and nothing of what is in them. It is rung outside of the
 * transaction of an append, which would wait for all others that ring. A ring may be lost; whoever listens looks by himself from
 * time to time.
 */
export class Doorbell {
  readonly #database: Database;
  readonly #node: string;
  readonly #channel: string;
  readonly #hearing: Hearing;
  readonly #rung = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #client: pg.Client | undefined;
  #closed = false;

  constructor(database: Database, { node, hearing }: { readonly node: string; readonly hearing: Hearing }) {
    this.#database = database;
    this.#node = node;
    this.#channel = database.textOf({ text: "banyan.doorbell" }).replaceAll('"', "");
    this.#hearing = hearing;
    // It tries again by itself, until it is closed.
    this.#listen().catch(() => {});
  }

  ring(conversation: string): void {
    this.#rung.add(conversation);
    this.#timer ??= setTimeout(() => this.#send(), GATHERED);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    if (this.#rung.size > 0) this.#send();
    await this.#client?.end().catch(() => {});
  }

  #send(): void {
    this.#timer = undefined;
    let some: string[] = [];
    const flush = () => {
      const text = JSON.stringify([this.#node, ...some]);
      some = [];
      // Whoever does not hear it looks a moment later.
      this.#database.once({ name: "ring", text: "SELECT pg_notify($1, $2)" }, [this.#channel, text]).catch(() => {});
    };
    let size = 0;
    for (const conversation of this.#rung) {
      const bytes = Buffer.byteLength(JSON.stringify(conversation)) + 1;
      if (size + bytes > LARGEST) flush();
      size = some.length === 0 ? bytes : size + bytes;
      some.push(conversation);
    }
    this.#rung.clear();
    if (some.length > 0) flush();
  }

  async #listen(): Promise<void> {
    while (!this.#closed) {
      try {
        await this.#database.ready();
        await this.#listenOnce();
      } catch {
        // Away, as after a crash of the database: it is tried again below.
      }
      if (!this.#closed) await sleep(RETRY, undefined, { ref: false });
    }
  }

  /** Resolves when the connection has ended. */
  async #listenOnce(): Promise<void> {
    const client = new pg.Client(this.#database.connectOptions());
    const ended = new Promise<void>((resolve) => {
      client.once("end", resolve);
      client.once("error", () => resolve());
    });
    client.on("notification", ({ payload = "" }) => this.#hear(payload));
    try {
      await client.connect();
      await client.query(`LISTEN ${pg.escapeIdentifier(this.#channel)}`);
      this.#client = client;
      this.#hearing(undefined);
      if (this.#closed) return;
      await ended;
    } finally {
      this.#client = undefined;
      await client.end().catch(() => {});
    }
  }

  #hear(payload: string): void {
    let said: unknown;
    try {
      said = JSON.parse(payload);
    } catch {
      // Not of this program.
      return;
    }
    if (!Array.isArray(said) || said[0] === this.#node) return;
    this.#hearing(said.slice(1).filter((one) => typeof one === "string"));
  }
}
