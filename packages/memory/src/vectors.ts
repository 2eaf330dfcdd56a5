import type { EmbeddingModelV4 } from "@ai-sdk/provider";
import { Embedder } from "./embedder.ts";
import { MemoryError } from "./error.ts";
import type { MemoryFile } from "./memory-file.ts";
import { cut } from "./pieces.ts";
import { within } from "./wait.ts";

/** Milliseconds that a recall waits for the vector of its query. */
const QUERY = 2000;
/** Milliseconds for the vectors of a batch of entries, which nobody waits for. */
const FILLING = 30_000;
/** Characters of a text that its vector is made of: small models refuse more. */
const EMBEDDED = 2000;
/** Milliseconds for which the end of a memory waits for vectors. */
const CLOSING = 2000;

/** The vectors of what was remembered. They are made in the background: what has none is found by its words. */
export class Vectors {
  readonly #embedder: Embedder;
  readonly #file: MemoryFile;
  readonly #ending = new AbortController();
  #filling: Promise<void> | undefined;
  /** What the model failed at when it was last asked for it. */
  readonly #failing = new Set<"query" | "entries">();
  /** Why it began to fail, until that is told. */
  #trouble: MemoryError | undefined;

  constructor(model: EmbeddingModelV4, file: MemoryFile) {
    this.#embedder = new Embedder(model);
    this.#file = file;
  }

  /** The name of the model, and its vector of a query. Rejects as `Embedder.embed`. */
  async of(query: string, signal: AbortSignal): Promise<{ readonly model: string; readonly vector: Float32Array }> {
    const [vector] = await this.#embed("query", [query], QUERY, signal);
    return { model: this.#embedder.name, vector: vector as Float32Array };
  }

  /** Begins to make those that are missing, unless that is going on. */
  fill(): void {
    this.#filling ??= this.#fill()
      .catch(() => {
        // The next recall says why, and whoever remembers something next makes the rest.
      })
      .finally(() => {
        this.#filling = undefined;
      });
  }

  /** Why vectors cannot be made, once for as long as they cannot. */
  takeTrouble(): MemoryError | undefined {
    const trouble = this.#trouble;
    this.#trouble = undefined;
    return trouble;
  }

  /** Waits a moment for those that are being made. */
  async close(): Promise<void> {
    const late = () => new Error("the memory was closed");
    await within(CLOSING, late, this.#ending.signal, async () => this.#filling).catch(() => {
      // Whoever remembers something next makes the rest.
    });
    this.#ending.abort();
    await this.#filling;
  }

  /** Asks the model, and keeps in mind whether it failed. */
  async #embed(
    what: "query" | "entries",
    texts: readonly string[],
    milliseconds: number,
    signal: AbortSignal,
  ): Promise<Float32Array[]> {
    const beginnings = texts.map((text) => cut(text, EMBEDDED));
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
      // They are made in the order of their entries, by every process: what is behind the last one has none.
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
        // What was forgotten meanwhile needs none any more; another process may have made the same.
        const insert = database.prepare("INSERT OR IGNORE INTO vectors SELECT ?, id, ? FROM entries WHERE id = ?");
        for (const [index, { id }] of missing.entries()) {
          insert.run(model, new Uint8Array((vectors[index] as Float32Array).buffer), Number(id));
        }
      });
    }
  }
}
