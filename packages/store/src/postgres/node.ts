import { hostname } from "node:os";
import { basename } from "node:path";
import { createId } from "@banyan/core";
import type { Database } from "./database.ts";
import type { Statement } from "./statement.ts";

/** Seconds that a node's lease lasts after it was renewed, and milliseconds from one renewal to the next. */
export const LEASE = 15;
const RENEWAL = 5_000;

/** Milliseconds that two clocks may differ and count as the same: answers of a database take their time. */
const AGREED = 1_000;

/** What other nodes are told of this one. */
export interface NodeOptions {
  readonly program?: string | undefined;
  /** Where other nodes reach it over HTTP; none when absent. */
  readonly address?: string | undefined;
  /** The machine whose files it works with. */
  readonly machine?: string | undefined;
}

/**
 * This store among those that share its database. All that it has open is its own while its lease lasts, by the clock of the
 * database: a node's clock may be wrong by hours. When the lease is over, others may take what it had; what it appends from
 * then on is refused by the epoch, so that a process that slept harms nothing.
 */
export class Node {
  readonly id = createId();
  /** Known when the node has begun. */
  readonly clock = new SharedClock();
  readonly #database: Database;
  readonly #options: NodeOptions;
  #address: string | null;
  #begun: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> | undefined;
  /** Conversations that were closed while the database was away: this node says until it can that they are free. */
  readonly #unreleased = new Map<number, number>();

  constructor(database: Database, options: NodeOptions) {
    this.#database = database;
    this.#options = options;
    this.#address = options.address ?? null;
  }

  /** Others are told from now on that this node is reached there. Rejects with `StoreError`. */
  async reachedAt(address: string): Promise<void> {
    this.#address = address;
    await this.begin();
    await this.#renew();
  }

  /** Resolves when other nodes know of this one. Rejects with `StoreError`. */
  begin(): Promise<void> {
    this.#begun ??= this.#renew().then(
      () => {
        this.#timer = setInterval(() => this.#tick(), RENEWAL);
        this.#timer.unref();
      },
      (error: unknown) => {
        this.#begun = undefined;
        throw error;
      },
    );
    return this.#begun;
  }

  /** Says that a conversation is open no more. What cannot be said now is said later. */
  async release(number: number, epoch: number): Promise<void> {
    this.#unreleased.set(number, epoch);
    await this.#release();
  }

  /** The conversation was opened again here. */
  holds(number: number): void {
    this.#unreleased.delete(number);
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    if (!this.#begun) return;
    // Without a word of it, the lease runs out.
    await this.#begun.then(() => this.#database.once(END, [this.id])).catch(() => {});
  }

  #tick(): void {
    // While the database is away, one waits for it, and not one more every five seconds. Until then the lease is what counts.
    this.#ticking ??= Promise.allSettled([this.#renew(), this.#release()]).then(() => {
      this.#ticking = undefined;
    });
  }

  async #renew(): Promise<void> {
    const { program = basename(process.argv[1] ?? process.execPath), machine = null } = this.#options;
    const asked = Date.now();
    const values = [this.id, program, process.pid, hostname(), this.#address, machine, LEASE];
    const [row] = await this.#database.ask(RENEW, values);
    this.clock.compare(Number(row?.[0]), asked);
  }

  async #release(): Promise<void> {
    const left = [...this.#unreleased];
    if (left.length === 0) return;
    await this.#database.once(RELEASE, [this.id, left.map(([number]) => number), left.map(([, epoch]) => epoch)]);
    for (const [number, epoch] of left) if (this.#unreleased.get(number) === epoch) this.#unreleased.delete(number);
  }
}

/**
 * The time by which all machines stamp what they write to one database: each its own clock, as long as that agrees with the
 * database's, and the database's otherwise. A machine whose clock is an hour off would else have its conversations at the head of
 * every list for an hour, or at the end of it, and the events of one that moves to another machine would go back in time.
 *
 * The database is asked anyway, with each renewal of the lease. Its clock was read between the question and the answer, and when is
 * not known: with a busy network, or a process that slept meanwhile, that is seconds. So only a difference that no delay explains counts.
 */
export class SharedClock {
  /** Milliseconds by which this machine's clock is behind. */
  #behind = 0;

  /** In milliseconds since 1970. */
  now(): number {
    return Date.now() + this.#behind;
  }

  /** The database said what time it has, between `asked` and `answered` by the clock of this machine. */
  compare(database: number, asked: number, answered = Date.now()): void {
    const [least, most] = [database - answered, database - asked];
    const fits = (behind: number) => least - AGREED <= behind && behind <= most + AGREED;
    if (!fits(this.#behind)) this.#behind = fits(0) ? 0 : Math.round((least + most) / 2);
  }
}

/** One statement for all that this node has open. Who has not been seen for a day is forgotten on the way. */
const RENEW: Statement = {
  name: "renew",
  text: `
  WITH forgotten AS (
    DELETE FROM banyan.nodes WHERE lease_until < now() - interval '1 day' AND id <> $1
  )
  INSERT INTO banyan.nodes (id, program, process, host, address, machine, lease_until)
  VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))
  ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until, address = excluded.address
  RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::bigint`,
};

const RELEASE: Statement = {
  text: `
  UPDATE banyan.conversations AS c SET owner = NULL, drives = 0
  FROM unnest($2::bigint[], $3::bigint[]) AS g (number, epoch)
  WHERE c.number = g.number AND c.epoch = g.epoch AND c.owner = $1`,
};

const END: Statement = {
  text: `
  WITH released AS (UPDATE banyan.conversations SET owner = NULL, drives = 0 WHERE owner = $1)
  DELETE FROM banyan.nodes WHERE id = $1`,
};
