import { hostname } from "node:os";
import { isId, type Store, StoreError } from "@banyan/core";
import { type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import type {
  ConversationSummary,
  ListQuery,
  Log,
  LogView,
  OpenOptions,
  SearchHit,
  SearchOptions,
} from "@banyan/core/stores";
import { notFound, openElsewhere, openHere, storeClosed, type Writer } from "../refusal.ts";
import { newestFirst, questionsIn, type Summary } from "../summary.ts";
import { readAddress } from "./address.ts";
import { Appends, labelTexts } from "./append.ts";
import { Database } from "./database.ts";
import { type OpenedLog, PostgresLog } from "./log.ts";
import { LEASE, Node } from "./node.ts";
import { keepNoted, type NotedQuestions, noteLater, questionsFrom } from "./questions.ts";
import { Reader } from "./reader.ts";
import { searchMessages } from "./search.ts";
import { Shared } from "./shared.ts";
import type { Columns, Statement } from "./statement.ts";

/** Connections of a store, and milliseconds for which it waits for a database that is away. */
const CONNECTIONS = 10;
const PATIENCE = 30_000;

/**
 * How a store uses its database.
 * @example
 * postgresStore("postgres://me@db.example/banyan", { program: "my-program", connections: 20, patience: 60_000 });
 * postgresStore("postgres://me@db.example/all", { schema: "forest", machine: "builder-1", address: "http://10.0.0.3:4180" });
 */
export interface PostgresStoreOptions {
  /** What this program is called when another one asks who has a conversation open; the name it was started by if absent. */
  readonly program?: string;
  /** Where other nodes reach this one over HTTP, as `http://10.0.0.3:4180`; they are not told when absent. */
  readonly address?: string;
  /**
   * The machine whose files this program works with. A conversation with a label `machine` is opened where that is the same, and
   * nowhere else. Any is opened when absent.
   */
  readonly machine?: string;
  /** At most this many connections, 10 when absent. */
  readonly connections?: number;
  /** Milliseconds for which a database that was there before is waited for, as while it starts again; 30,000 when absent. */
  readonly patience?: number;
  /** The schema in which the tables stand, `banyan` when absent: several installations can share a database. */
  readonly schema?: string;
}

const OPTIONS: OptionNames<PostgresStoreOptions> = {
  program: true,
  address: true,
  machine: true,
  connections: true,
  patience: true,
  schema: true,
};

/**
 * Keeps conversations in a PostgreSQL database, which any number of processes and machines may share: each conversation has
 * one writer among them. Nothing is read or made before the first use, which makes the tables or brings them up to date.
 * A writer whose process was killed keeps others out for 15 seconds at most. Throws `StoreError` (`unusable`) for an address
 * that can be none. No password is ever told.
 * @example
 * const store = postgresStore("postgres://user:password@localhost/banyan");
 * await using session = await Session.open(store, "garden", { create: true });
 */
export function postgresStore(url: string, options: PostgresStoreOptions = {}): PostgresStore {
  refuseUnknown("postgresStore", options, OPTIONS);
  return new DatabaseStore(url, options);
}

/** A store that many processes share. */
export interface PostgresStore extends Store {
  /** What they tell each other through the database. Nobody is listened to before it is first used. */
  readonly shared: Shared;
}

class DatabaseStore implements PostgresStore {
  readonly #database: Database;
  readonly #appends: Appends;
  readonly #node: Node;
  readonly #machine: string | null;
  #shared: Shared | undefined;
  /** Those that can be written to, by conversation; `undefined` while one is being opened. */
  readonly #logs = new Map<string, PostgresLog | undefined>();
  /** Those that were taken from their writers and not closed yet. */
  readonly #overtaken = new Set<PostgresLog>();
  #closed: Promise<void> | undefined;

  constructor(url: string, options: PostgresStoreOptions) {
    const { connections = CONNECTIONS, patience = PATIENCE, schema = "banyan" } = options;
    this.#database = new Database({ address: readAddress(url), schema, connections, patience });
    // Who shares nothing pays for no bell.
    this.#appends = new Appends(this.#database, (conversation) => this.#shared?.ring(conversation));
    this.#machine = options.machine === undefined ? null : JSON.stringify(["machine", options.machine]);
    this.#node = new Node(this.#database, options);
  }

  get shared(): Shared {
    this.#shared ??= new Shared(this.#database, this.#node, this.#machine);
    return this.#shared;
  }

  async open(id: string, { create = false, take = false }: OpenOptions = {}): Promise<Log> {
    this.#check();
    if (!isId(id)) throw notFound(id);
    // Asked before anything is awaited: of two that open it at once, the second is told.
    if (this.#logs.has(id) && !take) throw openHere(id);
    if (!this.#logs.has(id)) this.#logs.set(id, undefined);
    try {
      await this.#node.begin();
      const row = await this.#take(id, create, take);
      const noted = notedIn(row);
      const behind = await noteLater(this.#database, [noted]);
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
    const reader = new Reader(this.#database, Number(number), id);
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

  async list({ labels = {}, limit }: ListQuery = {}): Promise<ConversationSummary[]> {
    this.#check();
    // No more than the database can count.
    const most = limit === undefined ? null : Math.max(0, Math.min(Math.trunc(limit), 2 ** 31 - 1));
    const rows = await this.#database.ask(LIST, [labelTexts(labels), most]);
    const noted = rows.map(notedIn);
    const behind = await noteLater(this.#database, noted);
    // The list is right without that: a database that takes no writes now is asked again by the next list.
    await keepNoted(this.#database, behind).catch(() => {});
    return newestFirst(
      rows.map((row, index) => ({ ...summaryOf(row), ...questionsIn(noted[index]?.questions ?? new Map()) })),
    );
  }

  async search(query: string, options: SearchOptions = {}): Promise<SearchHit[]> {
    this.#check();
    return searchMessages(this.#database, query, options);
  }

  async remove(id: string): Promise<void> {
    this.#check();
    if (!isId(id)) throw notFound(id);
    if (this.#logs.has(id)) throw openHere(id);
    const isGone = await this.#database.transaction(async ({ ask }) => {
      const [row] = await ask(REMOVE, [id, this.#node.id]);
      if (!row) return false;
      // Each sees what was written until the conversation's row was gone: nothing is after that.
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

  /** The row of a conversation, which is this node's from then on. Carried out twice, it costs an epoch and nothing else. */
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
      summary: summaryOf(columns),
      now: () => this.#node.clock.now(),
      writer: () => this.#writerOf(id),
      release: async () => {
        if (this.#logs.get(id) === log) this.#logs.delete(id);
        this.#overtaken.delete(log);
        // Where it cannot be said now, the node says it later, or its lease runs out.
        await this.#node.release(row.number, row.epoch).catch(() => {});
      },
    });
    const before = this.#logs.get(id);
    // Of several that take it at once, the last one by the database has it, whoever heard of it first.
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
        `Conversation ${id} belongs to machine ${JSON.parse(machine)[1]}, whose files it works with; open it there, or start a node there.`,
        { conversation: id },
      );
    if (!writer) return new StoreError("locked", `Conversation ${id} is just being closed elsewhere; try again.`);
    const { message } = openElsewhere(id, writer);
    const told = `${message} One that was killed keeps it for ${LEASE} seconds at most.`;
    const isHere = writer.host === hostname();
    return new StoreError("locked", told, { conversation: id, ...(isHere && { process: writer.process }) });
  }

  async #writerOf(id: string): Promise<Writer | undefined> {
    const [row] = await this.#database.ask(WRITER, [id]);
    if (!row) return undefined;
    const [program, process, host, since] = row;
    return { program: String(program), process: Number(process), host: String(host), since: Number(since) };
  }
}

function summaryOf([id, title, labels, created, updated]: Columns): Summary {
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

/** The label that says to which machine a conversation belongs, as it is kept. */
function machineIn(labels: unknown): string | undefined {
  return (labels as readonly string[]).find((label) => label.startsWith('["machine",'));
}

/** What a list says of a conversation, and what it is made of; `summaryOf` and `notedIn` read it. */
const LISTED = "c.id, c.title, c.labels, c.created, c.updated, c.questions, c.number, c.seq, c.questions_seq";

/** Whether this node may have a conversation that is not taken: it is nobody's, its own, or of a node whose lease is over. */
const FREE = `(c.owner IS NULL OR c.owner = $2 OR NOT EXISTS (
    SELECT FROM banyan.nodes AS n WHERE n.id = c.owner AND n.lease_until > now()))`;

/** Whether it may be opened on this machine. */
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

const LIST: Statement = {
  text: `
  SELECT ${LISTED} FROM banyan.conversations AS c
  WHERE c.seq > 0 AND c.labels @> $1::text[] ORDER BY c.updated DESC, c.id DESC LIMIT $2`,
};

const WRITER: Statement = {
  text: `
  SELECT n.program, n.process, n.host, (extract(epoch FROM c.opened) * 1000)::bigint
  FROM banyan.conversations AS c JOIN banyan.nodes AS n ON n.id = c.owner
  WHERE c.id = $1 AND n.lease_until > now()`,
};
