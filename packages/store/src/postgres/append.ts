import type { EventRow } from "../log/row.ts";
import type { Summary } from "../log/summary.ts";
import type { Database } from "./database.ts";
import { isTransient } from "./error.ts";
import { type SaidRow, storable } from "./message-rows.ts";
import type { Columns, Statement } from "./statement.ts";

/** Events to append to one conversation. */
export interface Append {
  /** The number of the conversation's row. */
  readonly number: number;
  readonly epoch: number;
  /** The number of the last event before this append. */
  readonly before: number;
  readonly rows: readonly EventRow[];
  readonly said: readonly SaidRow[];
  /** The summary after these events. */
  readonly summary: Summary;
  /** Null if unchanged. */
  readonly labels: Readonly<Record<string, string>> | null;
  readonly title: string | null;
  readonly questions: string | null;
  readonly durable: boolean;
}

/** The outcome of an append. `refused`: the log has another writer now, or does not end at `before`. */
export type AppendOutcome = "done" | "refused";

interface WaitingAppend {
  readonly append: Append;
  readonly done: PromiseWithResolvers<AppendOutcome>;
}

/** Maximum concurrent statements, and maximum characters of a shared statement. */
const FLIGHTS = 4;
const CHARACTERS = 4 * 1024 * 1024;

/**
 * Appends to the logs of one node. Waiting appends share a statement, which is a transaction, and so share a disk
 * flush. If one append is refused, the others are still written. After a broken connection, the outcome is unknown, and
 * the statement is sent again. Only this writer has the epoch. If the log already ends after these events, the first
 * attempt succeeded.
 */
export class LogAppender {
  readonly #database: Database;
  readonly #written: (conversation: string) => void;
  readonly #waiting: WaitingAppend[] = [];
  #flights = 0;

  /** Calls `written` with the id of each conversation that got events. */
  constructor(database: Database, written: (conversation: string) => void = () => {}) {
    this.#database = database;
    this.#written = written;
  }

  /** Rejects with a `StoreError`. */
  add(append: Append): Promise<AppendOutcome> {
    const done = Promise.withResolvers<AppendOutcome>();
    this.#waiting.push({ append, done });
    // Appends of the same tick share a statement.
    if (this.#flights < FLIGHTS) queueMicrotask(() => this.#fly());
    return done.promise;
  }

  #fly(): void {
    const group = this.#group();
    if (group.length === 0) return;
    this.#flights++;
    this.#write(group.map(({ append }) => append))
      .then(
        (outcomes) => {
          for (const [index, { append, done }] of group.entries()) {
            const outcome = outcomes[index] ?? "refused";
            done.resolve(outcome);
            if (outcome === "done") this.#written(append.summary.id);
          }
        },
        (error: unknown) => {
          for (const { done } of group) done.reject(error);
        },
      )
      .finally(() => {
        this.#flights--;
        this.#fly();
      })
      // Each append got the error already.
      .catch(() => {});
  }

  /** An append without flush must not wait for a flush. */
  #group(): WaitingAppend[] {
    const durable = this.#waiting[0]?.append.durable;
    let characters = 0;
    let length = 0;
    for (const { append } of this.#waiting) {
      characters += append.rows.reduce((sum, [, , , , body]) => sum + body.length, 0);
      if (append.durable !== durable || (length > 0 && characters > CHARACTERS)) break;
      length++;
    }
    return this.#flights < FLIGHTS ? this.#waiting.splice(0, length) : [];
  }

  async #write(appends: readonly Append[]): Promise<AppendOutcome[]> {
    let isUncertain = false;
    return this.#database.patiently(async () => {
      try {
        if (!isUncertain) return await this.#send(appends);
        const known = await this.#known(appends);
        const left = appends.filter((append) => known.get(append.number) !== "done");
        if (left.length > 0) {
          const outcomes = await this.#send(left);
          for (const [index, { number }] of left.entries()) known.set(number, outcomes[index] ?? "refused");
          // The interrupted statement may have finished only now.
          for (const [number, outcome] of await this.#known(left)) if (outcome === "done") known.set(number, "done");
        }
        return appends.map(({ number }) => known.get(number) ?? "refused");
      } catch (error) {
        isUncertain ||= isTransient(error);
        throw error;
      }
    });
  }

  async #send(appends: readonly Append[]): Promise<AppendOutcome[]> {
    const durable = appends[0]?.durable === true;
    const held = await this.#database.once(APPEND, [...valuesOf(appends), durable]);
    const numbers = new Set(held.map(([number]) => number));
    return appends.map(({ number }) => (numbers.has(number) ? "done" : "refused"));
  }

  /** Only this writer could append with its epoch, so a log that ends after the append contains it. */
  async #known(appends: readonly Append[]): Promise<Map<number, AppendOutcome>> {
    const rows: Columns[] = await this.#database.once(KNOWN, [
      appends.map(({ number }) => number),
      appends.map(({ epoch }) => epoch),
      appends.map(({ before, rows }) => before + rows.length),
      appends.map(({ rows }) => rows.at(-1)?.[5] ?? null),
    ]);
    return new Map(rows.map(([number, isDone]) => [Number(number), isDone === true ? "done" : "refused"]));
  }
}

function valuesOf(appends: readonly Append[]): readonly unknown[] {
  const rows = appends.flatMap(({ number, rows }) => rows.map((row) => [number, ...row] as const));
  const said = appends.flatMap(({ number, said }) => said.map((row) => ({ number, ...row })));
  const labelsOf = ({ labels }: Append) => (labels === null ? null : labelTexts(labels).join("\n"));
  return [
    appends.map(({ number }) => number),
    appends.map(({ epoch }) => epoch),
    appends.map(({ before }) => before),
    appends.map(({ before, rows }) => before + rows.length),
    appends.map(({ summary }) => summary.createdAt),
    appends.map(({ summary }) => summary.updatedAt),
    appends.map(({ title }) => (title === null ? null : storable(title))),
    appends.map(labelsOf),
    appends.map(({ questions }) => questions),
    ...[0, 1, 2, 3, 4, 5, 6].map((column) => rows.map((row) => row[column])),
    said.map(({ number }) => number),
    said.map(({ message }) => message),
    said.map(({ parent }) => parent),
    said.map(({ seq }) => seq),
    said.map(({ at }) => at),
    said.map(({ removed }) => removed),
    said.map(({ words }) => words),
  ];
}

/** Converts labels to JSON for storage, which contains no line break and no NUL. */
export function labelTexts(labels: Readonly<Record<string, string>>): string[] {
  return Object.entries(labels).map((entry) => JSON.stringify(entry));
}

/** Converts names of labels to the beginnings of their stored texts. */
export function labelBeginnings(names: readonly string[]): string[] {
  return names.map((name) => `[${JSON.stringify(name)},`);
}

/** SQL: true if the conversation `c` has no label that begins with one of the texts in the parameter. */
export function withoutLabels(parameter: string): string {
  return `NOT EXISTS (
    SELECT FROM unnest(c.labels) AS label, unnest(${parameter}::text[]) AS name WHERE starts_with(label, name))`;
}

/** Locks the rows that still belong to this writer. After a takeover, an append finds another epoch. */
const APPEND: Statement = {
  name: "append",
  text: `
  WITH held AS (
    UPDATE banyan.conversations AS c SET seq = g.after, created = g.created, updated = g.updated,
      title = coalesce(g.title, c.title),
      labels = CASE WHEN g.labels IS NULL THEN c.labels ELSE string_to_array(g.labels, E'\\n') END,
      questions = coalesce(g.questions, c.questions), questions_seq = g.after
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[])
      AS g (number, epoch, before, after, created, updated, title, labels, questions)
    WHERE c.number = g.number AND c.epoch = g.epoch AND c.seq = g.before
    RETURNING c.number
  ), written AS (
    INSERT INTO banyan.events (conversation, seq, epoch, at, type, body, crc)
    SELECT r.* FROM unnest($10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::text[], $15::text[], $16::bigint[])
      AS r (conversation, seq, epoch, at, type, body, crc)
    WHERE r.conversation IN (SELECT number FROM held)
  ), said AS (
    INSERT INTO banyan.messages AS m (conversation, message, parent, seq, at, removed, words)
    SELECT s.conversation, s.message, s.parent, s.seq, s.at, s.removed,
      array_to_tsvector(string_to_array(s.words, ' '))
    FROM unnest($17::bigint[], $18::text[], $19::text[], $20::bigint[], $21::bigint[], $22::boolean[], $23::text[])
      AS s (conversation, message, parent, seq, at, removed, words)
    WHERE s.conversation IN (SELECT number FROM held)
    ON CONFLICT (conversation, message) DO UPDATE SET
      parent = coalesce(excluded.parent, m.parent),
      seq = coalesce(excluded.seq, m.seq),
      at = coalesce(excluded.at, m.at),
      words = CASE WHEN excluded.seq IS NULL THEN m.words ELSE excluded.words END,
      removed = coalesce(excluded.removed, m.removed)
  )
  SELECT number, set_config('synchronous_commit', CASE
    WHEN NOT $24::boolean THEN 'off'
    WHEN current_setting('synchronous_commit') = 'off' THEN 'on'
    ELSE current_setting('synchronous_commit') END, true)
  FROM held`,
};

const KNOWN: Statement = {
  text: `
  SELECT c.number, c.epoch = g.epoch AND c.seq = g.after AND g.crc = (
    SELECT crc FROM banyan.events AS e WHERE e.conversation = c.number AND e.seq = g.after)
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS g (number, epoch, after, crc)
  JOIN banyan.conversations AS c ON c.number = g.number`,
};
