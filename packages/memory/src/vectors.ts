import type { EmbeddingModelV4 } from "@ai-sdk/provider";
import { Embedder } from "./embedder.ts";
import { MemoryError } from "./error.ts";
import type { MemoryFile } from "./memory-file.ts";
import { cutMemoryText } from "./pieces.ts";
import { runWithin } from "./wait.ts";

/** Milliseconds that a recall waits for the vector of its query. */
const QUERY = 2000;
/** Timeout in milliseconds for the vectors of a batch of entries. */
const FILLING = 30_000;
/** Characters of a text for the embedding model: small models refuse more. */
const EMBEDDED = 2000;
/** Milliseconds that closing a memory waits for vectors. */
const CLOSING = 2000;

/** Makes the vectors of memory entries in the background. Entries without a vector are found only by their words. */
export class Vectors {
  readonly #embedder: Embedder;
  readonly #file: MemoryFile;
  readonly #ending = new AbortController();
  #filling: Promise<void> | undefined;
  readonly #failing = new Set<"query" | "entries">();
  /** The first error, until `takeTrouble` returns it. */
  #trouble: MemoryError | undefined;

  constructor(model: EmbeddingModelV4, file: MemoryFile) {
    this.#embedder = new Embedder(model);
    this.#file = file;
  }

  /** Returns the model's name and its vector of a query. Rejects as `Embedder.embed` does. */
  async of(query: string, signal: AbortSignal): Promise<{ readonly model: string; readonly vector: Float32Array }> {
    const [vector] = await this.#embed("query", [query], QUERY, signal);
    return { model: this.#embedder.name, vector: vector as Float32Array };
  }

  fill(): void {
    this.#filling ??= this.#fill()
      .catch(() => {
        // The next recall reports the error, and the next remembered entry retries.
      })
      .finally(() => {
        this.#filling = undefined;
      });
  }

  /** Returns the model's first error, once until the model works again. */
  takeTrouble(): MemoryError | undefined {
    const trouble = this.#trouble;
    this.#trouble = undefined;
    return trouble;
  }

  async close(): Promise<void> {
    const late = () => new Error("the memory was closed");
    await runWithin(CLOSING, late, this.#ending.signal, async () => this.#filling).catch(() => {});
    this.#ending.abort();
    await this.#filling;
  }

  async #embed(
    what: "query" | "entries",
    texts: readonly string[],
    milliseconds: number,
    signal: AbortSignal,
  ): Promise<Float32Array[]> {
    const beginnings = texts.map((text) => cutMemoryText(text, EMBEDDED));
    try {
      const vectors = await this.#embedder.embed(beginnings, milliseconds, signal);
      this.#failing.delete(what);
      return vectors;
    } catch (error) {
      if (error instanceof MemoryError) {
        if (this.#failing.size === 0) this.#trouble = error;
        this.#failing.add(what);
      }
      throw error;
    }
  }

  async #fill(): Promise<void> {
    const model = this.#embedder.name;
    const batch = await this.#embedder.batch();
    for (;;) {
      // Vectors are made in the order of entries, so entries after the last vector have none.
      const missing = await this.#file.read([], (database) =>
        database
          .prepare(
            `SELECT id, text FROM entries
            WHERE id > (SELECT ifnull(max(entry), 0) FROM vectors WHERE model = ?) ORDER BY id LIMIT ?`,
          )
          .all(model, batch),
      );
      if (missing.length === 0) return;
      const texts = missing.map(({ text }) => String(text));
      const vectors = await this.#embed("entries", texts, FILLING, this.#ending.signal);
      await this.#file.write((database) => {
        // Another process may have removed the entry or stored its vector.
        const insert = database.prepare("INSERT OR IGNORE INTO vectors SELECT ?, id, ? FROM entries WHERE id = ?");
        for (const [index, { id }] of missing.entries()) {
          insert.run(model, new Uint8Array((vectors[index] as Float32Array).buffer), Number(id));
        }
      });
    }
  }
}
