import { hostname } from "node:os";
import { isId, type Store, StoreError } from "@banyan/core";
import { checkArguments, type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import type {
  ConversationSummary,
  ListQuery,
  Log,
  LogView,
  OpenLogOptions,
  SearchHit,
  SearchOptions,
} from "@banyan/core/stores";
import { questionsFrom } from "../log/questions-text.ts";
import {
  checkListQuery,
  checkOpenOptions,
  checkSearch,
  type LogWriter,
  notFound,
  openElsewhere,
  openHere,
  storeClosed,
} from "../log/refusal.ts";
import { pageOf, questionsIn, type Summary } from "../log/summary.ts";
import { readDatabaseAddress } from "./address.ts";
import { LogAppender, labelBeginnings, labelTexts, withoutLabels } from "./append.ts";
import { Database } from "./database.ts";
import { type OpenedLog, PostgresLog } from "./log.ts";
import { LEASE, StoreNode } from "./node.ts";
import { type NotedQuestions, storeQuestions, updateQuestions } from "./questions.ts";
import { DatabaseReader } from "./reader.ts";
import { searchMessages } from "./search.ts";
import { SharedDatabase } from "./shared-database.ts";
import type { Columns, Statement } from "./statement.ts";

const CONNECTIONS = 10;
const PATIENCE = 30_000;

/**
 * Options of a PostgreSQL store.
 * @example
 * postgresStore("postgres://me@db.example/banyan", { program: "my-program", connections: 20, patience: 60_000 });
 * postgresStore("postgres://me@db.example/all", { schema: "forest", machine: "builder-1", address:
 * "http://10.0.0.3:4180" });
 */
export interface PostgresStoreOptions {
  /** The name that other programs show for this one in messages. Default: the program's file. */
  readonly program?: string;
  /** The HTTP address for other nodes, such as `http://10.0.0.3:4180`. */
  readonly address?: string;
  /**
   * The machine whose files this program uses. If a conversation has a label `machine`, only programs with the same
   * value can open it. Absent: all conversations can be opened.
   */
  readonly machine?: string;
  /** Maximum number of connections. Default 10. */
  readonly connections?: number;
  /** Milliseconds to wait while the database is away, as during a restart. Default 30,000. */
  readonly patience?: number;
  /** The schema of the tables. Default `banyan`. Different schemas let installations share a database. */
  readonly schema?: string;
}

const OPTIONS: OptionNames<PostgresStoreOptions> = {
  program: "string",
  address: "string",
  machine: "string",
  connections: "number",
  patience: "number",
  schema: "string",
};

/**
 * Creates a store in a PostgreSQL database, which any number of processes and machines can share. A conversation has
 * one writer at a time. If a writer is killed, the conversation stays locked for up to 15 seconds. The first use
 * creates or updates the tables. Throws a `StoreError` (`unusable`) for an invalid address.
 * @example
 * const store = postgresStore("postgres://user:password@localhost/banyan");
 * await using session = await Session.open(store, "garden", { create: true });
 */
export function postgresStore(url: string, options: PostgresStoreOptions = {}): PostgresStore {
  checkArguments("postgresStore", { url }, { url: "string" });
  refuseUnknown("postgresStore", options, OPTIONS);
  return new DatabaseStore(url, options);
}

/** A store that several processes and machines share. See {@link postgresStore}. */
export interface PostgresStore extends Store {
  /** Communication with the other processes. Listening starts with the first use. */
  readonly shared: SharedDatabase;
}

class DatabaseStore implements PostgresStore {
  readonly #database: Database;
  readonly #appends: LogAppender;
  readonly #node: StoreNode;
  readonly #machine: string | null;
  #shared: SharedDatabase | undefined;
  /** The open logs by conversation; `undefined` while a log is being opened. */
  readonly #logs = new Map<string, PostgresLog | undefined>();
  /** Logs of conversations that another program took over, until they are closed. */
  readonly #overtaken = new Set<PostgresLog>();
  #closed: Promise<void> | undefined;

  constructor(url: string, options: PostgresStoreOptions) {
    const { connections = CONNECTIONS, patience = PATIENCE, schema = "banyan" } = options;
    this.#database = new Database({ address: readDatabaseAddress(url), schema, connections, patience });
    this.#appends = new LogAppender(this.#database, (conversation) => this.#shared?.ring(conversation));
    this.#machine = options.machine === undefined ? null : JSON.stringify(["machine", options.machine]);
    this.#node = new StoreNode(this.#database, options);
  }

  get shared(): SharedDatabase {
    this.#shared ??= new SharedDatabase(this.#database, this.#node, this.#machine);
    return this.#shared;
  }

  async open(id: string, options: OpenLogOptions = {}): Promise<Log> {
    this.#check();
    checkOpenOptions(options);
    const { create = false, take = false } = options;
    if (!isId(id)) throw notFound(id);
    // Check before the first `await`: of two concurrent calls, the second must fail.
    if (this.#logs.has(id) && !take) throw openHere(id);
    if (!this.#logs.has(id)) this.#logs.set(id, undefined);
    try {
      await this.#node.begin();
      const row = await this.#take(id, create, take);
      const noted = notedIn(row);
      const behind = await updateQuestions(this.#database, [noted]);
      return this.#opened(id, row, { questions: noted.questions, notesQuestions: behind.length > 0 });
    } catch (error) {
      if (this.#logs.get(id) === undefined) this.#logs.delete(id);
      throw error;
    }
  }

  async view(id: string): Promise<LogView> {
    this.#check();
    const [row] = isId(id) ? await this.#database.ask(LOOK, [id]) : [];
    if (!row) throw notFound(id);
    const [number, seq, isOpen] = row;
    const end = Number(seq);
    const reader = new DatabaseReader(this.#database, Number(number), id);
    return {
      seq: end,
      isOpen: isOpen === true,
      get damage() {
        return reader.damage;
      },
      read: (after = 0) => reader.read(after, () => end),
      close: async () => {},
    };
  }

  async list(query: ListQuery = {}): Promise<ConversationSummary[]> {
    this.#check();
    checkListQuery(query);
    const { labels = {}, without = [], conversations, waiting = false, after, limit } = query;
    // Questions may be older than their logs, so only the updated ones decide which conversations wait.
    const most = limit === undefined || waiting ? null : Math.max(0, Math.min(Math.trunc(limit), 2 ** 31 - 1));
    const values = [labelTexts(labels), most, labelBeginnings(without), waiting, after?.updatedAt, after?.id];
    const rows = await (conversations
      ? this.#database.ask(LIST_SOME, [...values, conversations.filter(isId)])
      : this.#database.ask(LIST, values));
    const noted = rows.map(notedIn);
    const behind = await updateQuestions(this.#database, noted);
    // If the database accepts no writes now, the next list tries again.
    await storeQuestions(this.#database, behind).catch(() => {});
    return pageOf(
      rows.map((row, index) => ({ ...rowSummary(row), ...questionsIn(noted[index]?.questions ?? new Map()) })),
      { waiting, limit },
    );
  }

  async search(query: string, options: SearchOptions = {}): Promise<SearchHit[]> {
    this.#check();
    checkSearch(query, options);
    return searchMessages(this.#database, query, options);
  }

  async remove(id: string): Promise<void> {
    this.#check();
    if (!isId(id)) throw notFound(id);
    if (this.#logs.has(id)) throw openHere(id);
    const isGone = await this.#database.transaction(async ({ ask }) => {
      const [row] = await ask(REMOVE, [id, this.#node.id]);
      if (!row) return false;
      // Each statement sees the rows of all writers: no writes are possible once the conversation's row is gone.
      for (const table of ["events", "messages", "rights"])
        await ask({ text: `DELETE FROM banyan.${table} WHERE conversation = $1` }, row);
      return true;
    });
    if (!isGone) throw await this.#refusal(id);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    try {
      for (const log of [...this.#logs.values(), ...this.#overtaken]) await log?.close();
    } finally {
      await this.#shared?.close();
      await this.#node.end();
      await this.#database.end();
    }
  }

  #check(): void {
    if (this.#closed) throw storeClosed();
  }

  /** Takes the conversation's row for this node. Running twice only costs an epoch. */
  async #take(id: string, create: boolean, take: boolean): Promise<Columns> {
    const [row] = await this.#database.ask(create && !take ? BEGIN : TAKE, [id, this.#node.id, take, this.#machine]);
    if (row) return row;
    throw await this.#refusal(id);
  }

  #opened(id: string, columns: Columns, asked: Pick<OpenedLog, "questions" | "notesQuestions">): PostgresLog {
    const [, , , , , , number, seq, , epoch] = columns;
    const row = { number: Number(number), epoch: Number(epoch), seq: Number(seq) };
    this.#node.holds(row.number);
    const log = new PostgresLog({
      ...row,
      database: this.#database,
      appends: this.#appends,
      ...asked,
      summary: rowSummary(columns),
      now: () => this.#node.clock.now(),
      writer: () => this.#writerOf(id),
      release: async () => {
        if (this.#logs.get(id) === log) this.#logs.delete(id);
        this.#overtaken.delete(log);
        // The node retries later, or its lease ends.
        await this.#node.release(row.number, row.epoch).catch(() => {});
      },
    });
    const before = this.#logs.get(id);
    // Of concurrent takeovers, the last in the database wins, in any order of results.
    const [newest, older] = before && before.epoch > log.epoch ? [before, log] : [log, before];
    this.#logs.set(id, newest);
    if (older) this.#overtaken.add(older);
    return log;
  }

  async #refusal(id: string): Promise<StoreError> {
    const [row] = await this.#database.ask({ text: "SELECT labels FROM banyan.conversations WHERE id = $1" }, [id]);
    if (!row) return notFound(id);
    const writer = await this.#writerOf(id);
    const machine = machineIn(row[0]);
    if (!writer && this.#machine !== null && machine !== undefined && machine !== this.#machine)
      return new StoreError(
        "locked",
        `Conversation ${id} belongs to machine ${JSON.parse(machine)[1]}, whose files it uses; open the conversation on that machine, or start a server there.`,
        { conversation: id },
      );
    if (!writer) return new StoreError("locked", `Conversation ${id} is being closed by another program; try again.`);
    const { message } = openElsewhere(id, writer);
    const told = `${message} If that program was killed, wait at most ${LEASE} seconds.`;
    const isHere = writer.host === hostname();
    return new StoreError("locked", told, { conversation: id, ...(isHere && { process: writer.process }) });
  }

  async #writerOf(id: string): Promise<LogWriter | undefined> {
    const [row] = await this.#database.ask(WRITER, [id]);
    if (!row) return undefined;
    const [program, process, host, since] = row;
    return { program: String(program), process: Number(process), host: String(host), since: Number(since) };
  }
}

function rowSummary([id, title, labels, created, updated]: Columns): Summary {
  const pairs = (labels as readonly string[]).map((text) => JSON.parse(text) as [string, string]);
  return {
    id: String(id),
    title: String(title),
    labels: Object.fromEntries(pairs),
    createdAt: Number(created),
    updatedAt: Number(updated),
  };
}

function notedIn([, , , , , questions, number, seq, noted]: Columns): NotedQuestions {
  return { number: Number(number), seq: Number(seq), noted: Number(noted), questions: questionsFrom(questions) };
}

function machineIn(labels: unknown): string | undefined {
  return (labels as readonly string[]).find((label) => label.startsWith('["machine",'));
}

/** Columns for lists, which `rowSummary` and `notedIn` read. */
const LISTED = "c.id, c.title, c.labels, c.created, c.updated, c.questions, c.number, c.seq, c.questions_seq";

/** SQL: true if the conversation has no owner, this node as owner, or an owner whose lease is over. */
const FREE = `(c.owner IS NULL OR c.owner = $2 OR NOT EXISTS (
    SELECT FROM banyan.nodes AS n WHERE n.id = c.owner AND n.lease_until > now()))`;

/** SQL: true if this machine may open the conversation. */
const HERE = `($4::text IS NULL OR c.labels @> ARRAY[$4::text]
    OR NOT EXISTS (SELECT FROM unnest(c.labels) AS label WHERE label LIKE '["machine",%'))`;

const BEGIN: Statement = {
  name: "begin",
  text: `
  INSERT INTO banyan.conversations AS c (id, epoch, owner, opened) VALUES ($1, 1, $2, now())
  ON CONFLICT (id) DO UPDATE SET epoch = c.epoch + 1, owner = $2, opened = now(), running = 0, waiting = 0 WHERE ($3::boolean OR ${FREE}) AND ${HERE}
  RETURNING ${LISTED}, c.epoch`,
};

const TAKE: Statement = {
  name: "take",
  text: `
  UPDATE banyan.conversations AS c SET epoch = c.epoch + 1, owner = $2, opened = now(), running = 0, waiting = 0
  WHERE c.id = $1 AND ($3::boolean OR ${FREE}) AND ${HERE} RETURNING ${LISTED}, c.epoch`,
};

const REMOVE: Statement = {
  text: `DELETE FROM banyan.conversations AS c WHERE c.id = $1 AND ${FREE} RETURNING number`,
};

const LOOK: Statement = {
  text: `
  SELECT c.number, c.seq, EXISTS (SELECT FROM banyan.nodes AS n WHERE n.id = c.owner AND n.lease_until > now())
  FROM banyan.conversations AS c WHERE c.id = $1`,
};

const LIST = listStatement();

const LIST_SOME = listStatement("AND c.id = ANY($7::text[])");

function listStatement(only = ""): Statement {
  return {
    text: `
  SELECT ${LISTED} FROM banyan.conversations AS c
  WHERE c.seq > 0 AND c.labels @> $1::text[] AND ${withoutLabels("$3")}
    AND (NOT $4::boolean OR c.questions <> '[]' OR c.questions_seq < c.seq)
    AND ($5::bigint IS NULL OR (c.updated, c.id) < ($5::bigint, $6::text COLLATE "C")) ${only}
  ORDER BY c.updated DESC, c.id DESC LIMIT $2`,
  };
}

const WRITER: Statement = {
  text: `
  SELECT n.program, n.process, n.host, (extract(epoch FROM c.opened) * 1000)::bigint
  FROM banyan.conversations AS c JOIN banyan.nodes AS n ON n.id = c.owner
  WHERE c.id = $1 AND n.lease_until > now()`,
};
