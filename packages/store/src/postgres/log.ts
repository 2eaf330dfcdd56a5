import { type Event, StoreError } from "@banyan/core";
import {
  type Log,
  noRights,
  noteQuestions,
  type OpenQuestion,
  type Rights,
  type RightsPlace,
} from "@banyan/core/stores";
import { questionsText } from "../log/questions-text.ts";
import { checkSequence, type LogWriter, logClosed, overtakenError } from "../log/refusal.ts";
import { rightsFrom } from "../log/rights-text.ts";
import { eventRow } from "../log/row.ts";
import { addToSummary, type Summary } from "../log/summary.ts";
import type { LogAppender } from "./append.ts";
import type { Database } from "./database.ts";
import { saidRows } from "./message-rows.ts";
import { DatabaseReader } from "./reader.ts";
import type { Statement } from "./statement.ts";

/** An opened conversation: the store's objects for its log, and the conversation's row when it was opened. */
export interface OpenedLog {
  readonly database: Database;
  readonly appends: LogAppender;
  readonly number: number;
  readonly epoch: number;
  readonly seq: number;
  readonly summary: Summary;
  readonly questions: Map<string, OpenQuestion>;
  /** True if the row's questions are outdated, so that the next append must write them. */
  readonly notesQuestions: boolean;
  /** Returns milliseconds since 1970 by the clock that all machines of the database share. */
  now(): number;
  writer(): Promise<LogWriter | undefined>;
  release(): Promise<void>;
}

/** The log of one conversation in a PostgreSQL database. */
export class PostgresLog implements Log {
  readonly epoch: number;
  readonly rights: RightsPlace;
  readonly #opened: OpenedLog;
  readonly #reader: DatabaseReader;
  #summary: Summary;
  #seq: number;
  #notesQuestions: boolean;
  #closed = false;
  #last: Promise<void> = Promise.resolve();

  constructor(opened: OpenedLog) {
    this.#opened = opened;
    this.#summary = opened.summary;
    this.#seq = opened.seq;
    this.#notesQuestions = opened.notesQuestions;
    this.epoch = opened.epoch;
    this.#reader = new DatabaseReader(opened.database, opened.number, opened.summary.id);
    const { database, number, epoch } = opened;
    this.rights = {
      read: () => readRights(database, number),
      write: async (rights: Rights) => {
        if (!(await writeRights(database, number, epoch, rights))) throw await this.#overtaken();
      },
    };
  }

  get seq(): number {
    return this.#seq;
  }

  get damage(): readonly string[] {
    return this.#reader.damage;
  }

  now(): number {
    return this.#opened.now();
  }

  async *read(after = 0): AsyncGenerator<readonly Event[]> {
    for await (const batch of this.#reader.read(after, () => this.#seq)) {
      if (this.#closed) throw logClosed(this.#summary.id);
      yield batch;
    }
  }

  /** Appends run in call order. */
  append(events: readonly Event[], { durable = false }: { readonly durable?: boolean } = {}): Promise<void> {
    const appended = this.#last.then(() => this.#append(events, durable));
    // The caller gets the error. The next append runs anyway.
    this.#last = appended.catch(() => {});
    return appended;
  }

  async #append(events: readonly Event[], durable: boolean): Promise<void> {
    if (this.#closed) throw logClosed(this.#summary.id);
    checkSequence(this.#summary.id, this.#seq, events);
    if (events.length === 0 && !durable) return;
    const { appends, number } = this.#opened;
    const before = this.#summary;
    const summary = { ...before };
    const { questions } = this.#opened;
    for (const event of events) {
      addToSummary(summary, event);
      if (noteQuestions(questions, event)) this.#notesQuestions = true;
    }
    const outcome = await appends.add({
      number,
      epoch: this.epoch,
      before: this.#seq,
      durable,
      summary,
      rows: events.map(eventRow),
      said: saidRows(events),
      title: summary.title === before.title ? null : summary.title,
      labels: summary.labels === before.labels ? null : summary.labels,
      questions: this.#notesQuestions ? questionsText(questions) : null,
    });
    if (outcome === "refused") throw await this.#overtaken();
    this.#seq += events.length;
    this.#summary = summary;
    this.#notesQuestions = false;
  }

  /** Waits for running appends: after a release, their outcome would be uncertain. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#last;
    await this.#opened.release();
  }

  /** Another writer took over, or the database lost unflushed events. */
  async #overtaken(): Promise<StoreError> {
    const { id } = this.#summary;
    const { database, number, epoch } = this.#opened;
    const [row] = await database.ask({ text: "SELECT epoch FROM banyan.conversations WHERE number = $1" }, [number]);
    if (row?.[0] === epoch)
      return new StoreError(
        "stale",
        `The log of conversation ${id} does not end at event ${this.#seq}: the database lost its last events, as after a crash. Open the conversation again to continue from the stored events.`,
      );
    return overtakenError(id, await this.#opened.writer());
  }
}

async function readRights(database: Database, number: number): Promise<Rights> {
  const [row] = await database.ask(READ, [number]);
  return row ? rightsFrom(String(row[0])) : noRights;
}

/** Returns false if another writer took over. Rejects with a `StoreError`. */
async function writeRights(database: Database, number: number, epoch: number, rights: Rights): Promise<boolean> {
  return (await database.ask(WRITE, [number, epoch, JSON.stringify(rights)])).length > 0;
}

const READ: Statement = { text: "SELECT rights FROM banyan.rights WHERE conversation = $1" };

/** Locks the row, so that no takeover comes in between. */
const WRITE: Statement = {
  text: `
  WITH held AS (SELECT number FROM banyan.conversations WHERE number = $1 AND epoch = $2 FOR SHARE)
  INSERT INTO banyan.rights (conversation, rights) SELECT number, $3 FROM held
  ON CONFLICT (conversation) DO UPDATE SET rights = excluded.rights
  RETURNING conversation`,
};
