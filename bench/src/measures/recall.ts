import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import { type SqliteMemoryOptions, sqliteMemory } from "@banyan/memory";
import type { Measure } from "../measure.ts";
import { broadQuestionsOf, factsOf, questionsOf, vectorOf } from "../memories/facts.ts";
import { quantile } from "../statistics.ts";
import { temporaryDirectory } from "../stores/temporary.ts";

const FACTS = 100_000;
const BATCH = 1000;
const QUESTIONS = 200;
const LIMIT = 8;
const DIMENSIONS = 384;

/** Stores all facts. The returned function searches facts for a question, and returns their number. */
type Asker = (file: string) => Promise<(question: string) => number | Promise<number>>;

const askers: Readonly<Record<string, Asker>> = {
  "node:sqlite": async (file) => {
    const database = new DatabaseSync(file);
    database.exec(`PRAGMA journal_mode = WAL;
      CREATE VIRTUAL TABLE facts USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2')`);
    const insert = database.prepare("INSERT INTO facts VALUES (?)");
    database.exec("BEGIN");
    for (const fact of factsOf(FACTS)) insert.run(fact);
    database.exec("COMMIT");
    const select = database.prepare("SELECT text FROM facts WHERE facts MATCH ? ORDER BY rank LIMIT ?");
    return (question) => {
      const words = question.match(/\w+/g) ?? [];
      return select.all(words.map((word) => `"${word}"`).join(" OR "), LIMIT).length;
    };
  },
  recall: (file) => remembering({ file }),
  "recall, with vectors": (file) =>
    remembering({
      file,
      // The vectors are random: one in a hundred pairs is similar.
      similarity: 0.12,
      embed: {
        specificationVersion: "v4",
        provider: "bench",
        modelId: "chance",
        maxEmbeddingsPerCall: BATCH,
        supportsParallelCalls: false,
        doEmbed: async ({ values }) => ({
          embeddings: values.map((value) => vectorOf(value, DIMENSIONS)),
          warnings: [],
        }),
      },
    }),
};

async function remembering(options: SqliteMemoryOptions) {
  const facts = Array.from(factsOf(FACTS));
  for (let kept = 0; kept < FACTS; kept += BATCH) {
    // Disposing waits for the vectors.
    await using memory = sqliteMemory(options);
    const batch = facts.slice(kept, kept + BATCH);
    await memory.remember(batch.map((text) => ({ kind: "fact", text, conversation: "", at: kept })));
  }
  const memory = sqliteMemory(options);
  const { signal } = new AbortController();
  const notice = (reason: string) => {
    throw new Error(reason);
  };
  return async (question: string) => (await memory.recall(question, { limit: LIMIT, signal, notice })).length;
}

export const recall: Measure = {
  name: "recall",
  what: "the time to recall 8 of 100,000 facts for questions with some rare words and of frequent words alone, and for how long that holds up everything else",
  subjects: Object.keys(askers),
  bounds: ["node:sqlite"],
  figures: [
    { name: "question, median", unit: "ms" },
    { name: "question, 95 of 100", unit: "ms" },
    { name: "frequent words, median", unit: "ms" },
    { name: "frequent words, 95 of 100", unit: "ms" },
    { name: "longest wait of the event loop", unit: "ms" },
  ],
  rounds: 3,
  async run(subject) {
    const asker = askers[subject];
    if (!asker) throw new Error(`There is no subject "${subject}".`);
    const ask = await asker(join(temporaryDirectory(), "memory.sqlite"));
    for (const question of questionsOf(20)) await ask(question);
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const timesOf = async (questions: readonly string[]) => {
      const times: number[] = [];
      for (const question of questions) {
        const started = performance.now();
        const count = await ask(question);
        times.push(performance.now() - started);
        if (count === 0) throw new Error(`Nothing was recalled for "${question}".`);
        // Yield to the event loop, like between the turns of a conversation.
        await new Promise(setImmediate);
      }
      return times;
    };
    const question = await timesOf(questionsOf(QUESTIONS));
    const broad = await timesOf(broadQuestionsOf(QUESTIONS));
    delay.disable();
    return {
      "question, median": quantile(question, 0.5),
      "question, 95 of 100": quantile(question, 0.95),
      "frequent words, median": quantile(broad, 0.5),
      "frequent words, 95 of 100": quantile(broad, 0.95),
      "longest wait of the event loop": delay.max / 1e6,
    };
  },
};
