import type { Event } from "@banyan/core";
import { cutTo } from "@banyan/core/shown";
import { type Log, noteQuestions, type OpenQuestion, type RightsPlace } from "@banyan/core/stores";
import { questionsText } from "../log/questions-text.ts";
import { checkSequence, logClosed, overtakenError } from "../log/refusal.ts";
import { rightsFrom } from "../log/rights-text.ts";
import { addToSummary, type Summary } from "../log/summary.ts";
import type { ObjectDatabase } from "./database.ts";
import { ObjectEventReader, writeEvent } from "./events.ts";

/** A conversation in the storage. */
export interface ObjectConversation {
  readonly number: number;
  readonly epoch: number;
  /** Number of the last event; 0 for none. */
  readonly seq: number;
  readonly summary: Summary;
  readonly questions: ReadonlyMap<string, OpenQuestion>;
}

/** The log of one conversation in the storage of a Durable Object. */
export class DurableObjectLog implements Log {
  readonly epoch: number;
  readonly rights: RightsPlace;
  readonly #database: ObjectDatabase;
  readonly #number: number;
  readonly #reader: ObjectEventReader;
  readonly #onClose: () => void;
  #seq: number;
  #summary: Summary;
  #questions: ReadonlyMap<string, OpenQuestion>;
  #closed = false;

  constructor(
    database: ObjectDatabase,
    { number, epoch, seq, summary, questions }: ObjectConversation,
    onClose: () => void,
  ) {
    this.epoch = epoch;
    this.#database = database;
    this.#number = number;
    this.#reader = new ObjectEventReader(database, { number, id: summary.id }, () => this.#seq);
    this.#onClose = onClose;
    this.#seq = seq;
    this.#summary = summary;
    this.#questions = questions;
    this.rights = {
      read: () => rightsFrom(String(database.run(RIGHTS, number)[0]?.[0])),
      write: (rights) => {
        this.#change(() => database.run(SET_RIGHTS, JSON.stringify(rights), number));
        return database.flush();
      },
    };
  }

  get seq(): number {
    return this.#seq;
  }

  get damage(): readonly string[] {
    return this.#reader.damage;
  }

  async *read(after = 0): AsyncGenerator<readonly Event[]> {
    for await (const batch of this.#reader.read(after)) {
      if (this.#closed) throw logClosed(this.#summary.id);
      yield batch;
    }
  }

  append(events: readonly Event[], { durable = false }: { readonly durable?: boolean } = {}): void | Promise<void> {
    const summary = { ...this.#summary };
    const questions = new Map(this.#questions);
    this.#change(() => {
      checkSequence(summary.id, this.#seq, events);
      for (const event of events) {
        writeEvent(this.#database, this.#number, event);
        addToSummary(summary, event);
        noteQuestions(questions, event);
      }
      const before = listed(this.#summary, this.#questions);
      const after = listed(summary, questions);
      if (String(after) !== String(before)) this.#database.run(SET_LISTED, ...after, this.#number);
    });
    this.#seq += events.length;
    this.#summary = summary;
    this.#questions = questions;
    return durable ? this.#database.flush() : undefined;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#onClose();
  }

  /** Runs `body` in a transaction. Throws a `StoreError` if the log is closed, or another writer took it. */
  #change(body: () => void): void {
    if (this.#closed) throw logClosed(this.#summary.id);
    this.#database.transaction(() => {
      const [row] = this.#database.run(EPOCH, this.#number);
      if (row?.[0] !== this.epoch) throw overtakenError(this.#summary.id);
      body();
    });
  }
}

/** A row has at most 2 MB. The event has the whole title. */
const LONGEST_TITLE = 10_000;

/** Returns the columns that lists show, except the time of the last event. */
function listed(
  { title, labels, createdAt }: Summary,
  questions: ReadonlyMap<string, OpenQuestion>,
): [title: string, labels: string, created: number, questions: string] {
  return [cutTo(title, LONGEST_TITLE), JSON.stringify(labels), createdAt, questionsText(questions)];
}

const EPOCH = "SELECT epoch FROM banyan_conversations WHERE number = ?";
const RIGHTS = "SELECT rights FROM banyan_conversations WHERE number = ?";
const SET_RIGHTS = "UPDATE banyan_conversations SET rights = ? WHERE number = ?";
const SET_LISTED = `
  UPDATE banyan_conversations SET title = ?, labels = ?, created = ?, questions = ? WHERE number = ?`;
