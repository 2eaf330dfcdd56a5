import { join } from "node:path";
import type { ConversationSummary, ListQuery, Log, Store } from "@banyan/core";
import { notFound, storeClosed } from "../refusal.ts";
import { hasLabels, newestFirst } from "../summary.ts";
import { readCatalogue } from "./catalogue.ts";
import { openConversationFile } from "./conversation-file.ts";
import { SqliteLog } from "./log.ts";

/**
 * Keeps each conversation in a SQLite file of its own, `conversations/<id>.sqlite` under `directory`, and what a list
 * needs of them in `catalogue.sqlite`, which is remade from the files whenever it is missing or damaged. Nothing is
 * read or made before the first `open` or `list`; a list makes nothing where there are no conversations. Files and
 * directories are for their owner only. An id is 10 to 40 lower-case letters and digits.
 */
export function sqliteStore(options: { readonly directory: string }): Store {
  return new SqliteStore(options.directory);
}

class SqliteStore implements Store {
  readonly #directory: string;
  readonly #logs = new Set<SqliteLog>();
  #closed = false;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async open(id: string, options?: { readonly create?: boolean }): Promise<Log> {
    if (this.#closed) throw storeClosed();
    // Ids become file names: no other directory can be reached with these characters.
    if (!/^[0-9a-z]{10,40}$/.test(id)) throw notFound(id);
    const file = join(this.#directory, "conversations", `${id}.sqlite`);
    const opened = await openConversationFile(file, id, options?.create === true);
    if (this.#closed) {
      opened.database.close();
      throw storeClosed();
    }
    const log = new SqliteLog(id, opened, () => this.#logs.delete(log));
    this.#logs.add(log);
    return log;
  }

  async list(query: ListQuery = {}): Promise<ConversationSummary[]> {
    if (this.#closed) throw storeClosed();
    const summaries = await readCatalogue(this.#directory);
    return newestFirst(
      summaries.filter((summary) => hasLabels(summary, query.labels)),
      query.limit,
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const log of this.#logs) await log.close();
  }
}
