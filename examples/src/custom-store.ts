// A store on plain files, a JSON line for each append, held to the contract by the conformance suite.
import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Event, isId, type Store, StoreError } from "@banyan/core";
import type {
  ConversationSummary,
  ListQuery,
  Log,
  LogView,
  OpenLogOptions,
  SearchHit,
  SearchOptions,
} from "@banyan/core/stores";
import { storeConformance } from "@banyan/core/testing";
import { listPage, searchLogs } from "@banyan/store/search";

class JsonLinesStore implements Store {
  readonly #directory: string;
  /** The newest writer of each conversation, and whether it has it open: in this process only. */
  readonly #writers = new Map<string, { readonly epoch: number; open: boolean }>();
  #closed = false;

  constructor(directory: string) {
    this.#directory = directory;
    mkdirSync(directory, { recursive: true });
  }

  async open(id: string, options: OpenLogOptions = {}): Promise<Log> {
    if (this.#closed) throw new StoreError("unusable", "This store is closed; make a new one.");
    const file = this.#fileOf(id);
    if (!isId(id) || (!options.create && !existsSync(file))) throw notFound(id);
    const before = this.#writers.get(id);
    if (before?.open && !options.take) throw openAlready(id);
    // The file's name does not say whose it is: any text can be an id, also one that no file system takes for a name.
    if (!existsSync(file)) writeFileSync(file, JSON.stringify(id));
    const last = readLines(file).appends.at(-1)?.at(-1);
    const writer = { epoch: Math.max(before?.epoch ?? 0, last?.epoch ?? 0) + 1, open: true };
    this.#writers.set(id, writer);
    const mayWrite = () => !this.#closed && this.#writers.get(id) === writer;
    return new JsonLinesLog(file, writer.epoch, last?.seq ?? 0, mayWrite, () => {
      writer.open = false;
    });
  }

  async view(id: string): Promise<LogView> {
    const file = this.#fileOf(id);
    if (!existsSync(file)) throw notFound(id);
    const { appends, damage } = readLines(file);
    const events = appends.flat();
    return {
      seq: events.at(-1)?.seq ?? 0,
      isOpen: this.#writers.get(id)?.open ?? false,
      damage,
      read: async function* (after = 0) {
        yield events.filter(({ seq }) => seq > after);
      },
      close: async () => {},
    };
  }

  async list(query?: ListQuery): Promise<ConversationSummary[]> {
    const summaries = readdirSync(this.#directory).map((name) => summaryOf(join(this.#directory, name)));
    return listPage(
      summaries.filter((summary) => summary.updatedAt > 0),
      query,
    );
  }

  async search(query: string, options?: SearchOptions): Promise<SearchHit[]> {
    const logs = (await this.list()).map((summary) => ({
      summary,
      events: readLines(this.#fileOf(summary.id)).appends.flat(),
    }));
    return searchLogs(logs, query, options);
  }

  async remove(id: string): Promise<void> {
    if (!existsSync(this.#fileOf(id))) throw notFound(id);
    if (this.#writers.get(id)?.open) throw openAlready(id);
    rmSync(this.#fileOf(id));
  }

  #fileOf(id: string): string {
    return join(this.#directory, `${createHash("sha256").update(id).digest("hex")}.jsonl`);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}

class JsonLinesLog implements Log {
  readonly epoch: number;
  seq: number;
  damage: readonly string[] = [];
  readonly #file: string;
  readonly #mayWrite: () => boolean;
  readonly #onClose: () => void;
  #closed = false;

  constructor(file: string, epoch: number, seq: number, mayWrite: () => boolean, onClose: () => void) {
    this.#file = file;
    this.epoch = epoch;
    this.seq = seq;
    this.#mayWrite = mayWrite;
    this.#onClose = onClose;
  }

  async *read(after = 0): AsyncGenerator<readonly Event[]> {
    const { appends, damage } = readLines(this.#file);
    this.damage = damage;
    for (const events of appends) {
      const wanted = events.filter((event) => event.seq > after);
      if (wanted.length > 0) yield wanted;
    }
  }

  append(events: readonly Event[], options: { readonly durable?: boolean } = {}): void {
    if (this.#closed || !this.#mayWrite()) {
      throw new StoreError("stale", "This log is closed, or was taken elsewhere; open the conversation again.");
    }
    const misplaced = events.find((event, index) => event.seq !== this.seq + index + 1);
    if (misplaced) throw new StoreError("stale", `Event ${misplaced.seq} does not go on from event ${this.seq}.`);
    if (events.length === 0) return;
    try {
      // Begin with the line break, so that a line cut off by a crash does not spoil the next line.
      appendFileSync(this.#file, `\n${JSON.stringify(events)}`, { flush: options.durable === true });
    } catch (cause) {
      this.#closed = true;
      throw notWritten(this.#file, cause);
    }
    this.seq += events.length;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#onClose();
  }
}

function notFound(id: string): StoreError {
  return new StoreError(
    "not-found",
    `There is no conversation ${id} here; list the conversations to see what there is.`,
  );
}

function openAlready(id: string): StoreError {
  return new StoreError("locked", `Conversation ${id} is open in this process (${process.pid}); close it there first.`);
}

function notWritten(file: string, cause: unknown): StoreError {
  return new StoreError("unusable", `${file} could not be written: ${cause}. Open the conversation again.`, { cause });
}

function readLines(file: string): { readonly appends: readonly Event[][]; readonly damage: readonly string[] } {
  const appends: Event[][] = [];
  const damage: string[] = [];
  for (const [index, line] of readFileSync(file, "utf8").split("\n").entries()) {
    if (index === 0 || line === "") continue;
    try {
      appends.push(JSON.parse(line) as Event[]);
    } catch {
      // The lines after it are as good as before; whoever reads the log is told.
      damage.push(`Line ${index + 1} of ${file} is not JSON and was passed over.`);
    }
  }
  return { appends, damage };
}

function summaryOf(file: string): ConversationSummary {
  const id = JSON.parse(readFileSync(file, "utf8").split("\n", 1)[0] ?? "");
  const summary = { id, title: "", labels: {}, createdAt: 0, updatedAt: 0 };
  for (const event of readLines(file).appends.flat()) {
    summary.createdAt ||= event.at;
    summary.updatedAt = event.at;
    if (event.type === "conversation.created") summary.labels = event.labels;
    if (event.type === "title.changed") summary.title = event.title.toWellFormed();
    if (event.type === "message.added" && event.author !== "system") {
      const text = event.parts.map((part) => (part.type === "text" ? part.text : "")).join(" ");
      summary.title ||= text.slice(0, 80).toWellFormed().replace(/\s+/g, " ").trim();
    }
  }
  return summary;
}

const root = mkdtempSync(join(tmpdir(), "json-lines-"));
let count = 0;
const suite = storeConformance(async () => {
  const directory = join(root, String(count++));
  return { store: new JsonLinesStore(directory), reopen: async () => new JsonLinesStore(directory) };
});
let failed = 0;
for (const { name, run } of suite) {
  await run().catch((error: unknown) => {
    failed++;
    console.log(`${name}: ${error}`);
  });
}
rmSync(root, { recursive: true });
console.log(failed === 0 ? "The store holds the contract." : `${failed} of ${suite.length} cases failed.`);
