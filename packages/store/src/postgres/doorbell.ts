import { setTimeout as sleep } from "node:timers/promises";
import { parseJsonText } from "@banyan/core/shown";
import pg from "pg";
import type { Database } from "./database.ts";

/** Milliseconds to collect notifications, and maximum bytes of a notification: PostgreSQL accepts 8,000. */
const GATHERED = 5;
const LARGEST = 7_000;
const RETRY = 500;

/**
 * Called with the conversations that may have new events. If notifications were lost, called with `undefined`: any
 * conversation may have new events.
 */
export type DoorbellListener = (conversations: readonly string[] | undefined) => void;

/**
 * Notifies other nodes of conversations with new events, without their content. Sends outside the append's transaction,
 * because transactions that notify wait for each other. Notifications may be lost, so listeners also poll.
 */
export class Doorbell {
  readonly #database: Database;
  readonly #node: string;
  readonly #channel: string;
  readonly #hearing: DoorbellListener;
  readonly #rung = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #client: pg.Client | undefined;
  #closed = false;

  constructor(database: Database, { node, hearing }: { readonly node: string; readonly hearing: DoorbellListener }) {
    this.#database = database;
    this.#node = node;
    this.#channel = database.textOf({ text: "banyan.doorbell" }).replaceAll('"', "");
    this.#hearing = hearing;
    // Retries on its own until it is closed.
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
      } catch {}
      if (!this.#closed) await sleep(RETRY, undefined, { ref: false });
    }
  }

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
    const said = parseJsonText(payload);
    if (!Array.isArray(said) || said[0] === this.#node) return;
    this.#hearing(said.slice(1).filter((one) => typeof one === "string"));
  }
}
