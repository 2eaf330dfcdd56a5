import { hostname } from "node:os";
import { basename } from "node:path";
import { createId } from "@banyan/core";
import type { Database } from "./database.ts";
import type { Statement } from "./statement.ts";

/** Seconds of a node's lease after each renewal. */
export const LEASE = 15;
const RENEWAL = 5_000;

/** Milliseconds by which two clocks may differ and still count as equal. */
const AGREED = 1_000;

/** Facts about this node for other nodes. */
export interface NodeOptions {
  readonly program?: string | undefined;
  /** The address for other nodes. Absent: other nodes cannot reach this node. */
  readonly address?: string | undefined;
  /** The machine whose files the node uses. */
  readonly machine?: string | undefined;
}

/**
 * This store as a node of a shared database. The node owns its open conversations until its lease ends by the
 * database's clock. After that, other nodes can take the conversations, and the epoch refuses later appends of this
 * node, for example after a suspension.
 */
export class StoreNode {
  readonly id = createId();
  /** Valid after `begin`. */
  readonly clock = new SharedClock();
  readonly #database: Database;
  readonly #options: NodeOptions;
  #address: string | null;
  #begun: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> | undefined;
  /** Conversations that were closed while the database was away. */
  readonly #unreleased = new Map<number, number>();

  constructor(database: Database, options: NodeOptions) {
    this.#database = database;
    this.#options = options;
    this.#address = options.address ?? null;
  }

  /** Publishes the address of this node for other nodes. Rejects with a `StoreError`. */
  async reachedAt(address: string): Promise<void> {
    this.#address = address;
    await this.begin();
    await this.#renew();
  }

  /** Publishes this node. Rejects with a `StoreError`. */
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

  /** If the database is away, the node retries later. */
  async release(number: number, epoch: number): Promise<void> {
    this.#unreleased.set(number, epoch);
    await this.#release();
  }

  holds(number: number): void {
    this.#unreleased.delete(number);
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    if (!this.#begun) return;
    // If the statement fails, the lease runs out.
    await this.#begun.then(() => this.#database.once(END, [this.id])).catch(() => {});
  }

  #tick(): void {
    // While the database is away, only one renewal waits.
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
 * The clock that all machines of a database share. This is the machine's own clock while it agrees with the database's
 * clock, or else the database's clock. With a wrong clock, conversations would be sorted wrongly, and events could go
 * back in time. The database's clock is read with each renewal of the lease. A difference is ignored if a network delay
 * could explain it.
 */
export class SharedClock {
  #behind = 0;

  /** Returns milliseconds since 1970. */
  now(): number {
    return Date.now() + this.#behind;
  }

  /** `database`: the database's time, read between `asked` and `answered` by this machine's clock. */
  compare(database: number, asked: number, answered = Date.now()): void {
    const [least, most] = [database - answered, database - asked];
    const fits = (behind: number) => least - AGREED <= behind && behind <= most + AGREED;
    if (!fits(this.#behind)) this.#behind = fits(0) ? 0 : Math.round((least + most) / 2);
  }
}

/** Also removes nodes that were not seen for a day. */
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
