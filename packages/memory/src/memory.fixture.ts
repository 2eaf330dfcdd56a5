import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EmbeddingModelV4, EmbeddingModelV4CallOptions } from "@ai-sdk/provider";
import type { MemoryItem, RecallOptions } from "@banyan/core";
import { onTestFinished } from "vitest";
import { type ManagedMemory, type SqliteMemoryOptions, sqliteMemory } from "./index.ts";

/** A file in a new directory, which is removed when the test ends. */
export async function temporaryFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "banyan-memory-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return join(directory, "memory.sqlite");
}

/** A memory that is closed when the test ends. Default: in a file of its own. */
export async function memoryIn(options: Partial<SqliteMemoryOptions> = {}): Promise<ManagedMemory> {
  const memory = sqliteMemory({ file: options.file ?? (await temporaryFile()), ...options });
  onTestFinished(() => memory.close());
  return memory;
}

/** A user's message in a conversation. */
export function said(text: string, conversation = "earlier", more: Partial<MemoryItem> = {}): MemoryItem {
  return { text, conversation, at: Date.UTC(2026, 10, 21, 12), role: "user", ...more };
}

/** The texts that a query recalls, in a conversation of its own. */
export async function recalled(
  memory: ManagedMemory,
  query: string,
  options: Partial<RecallOptions> = {},
): Promise<string[]> {
  const { signal } = new AbortController();
  const items = await memory.recall(query, { limit: 8, signal, conversation: "now", ...options });
  return items.map(({ text }) => text);
}

/** This many facts without relevance. */
export function padding(count: number): MemoryItem[] {
  return Array.from({ length: count }, (_, index) =>
    said(`Filler ${index} stands ${index * 7}.`, "", { kind: "fact" }),
  );
}

/** More entries than are searched in the test's own thread. */
export const LARGE = 600;

/** A scripted embedding model with a record of its calls. */
export interface ScriptedEmbedder extends EmbeddingModelV4 {
  /** The texts of each call. */
  readonly calls: string[][];
}

/** A model for which texts with words of the same row are similar. `answer` replaces its answers. */
export function embedder(
  meanings: readonly (readonly string[])[],
  options: Partial<EmbeddingModelV4> & { answer?(call: EmbeddingModelV4CallOptions): Promise<number[][]> } = {},
): ScriptedEmbedder {
  const { answer, ...rest } = options;
  const calls: string[][] = [];
  const vectorOf = (text: string) => [
    0.01,
    ...meanings.map((words) => words.filter((word) => text.toLowerCase().includes(word)).length),
  ];
  return {
    specificationVersion: "v4",
    provider: "scripted",
    modelId: "meanings",
    maxEmbeddingsPerCall: 5,
    supportsParallelCalls: false,
    calls,
    async doEmbed(call) {
      calls.push(call.values);
      return { embeddings: answer ? await answer(call) : call.values.map(vectorOf), warnings: [] };
    },
    ...rest,
  };
}
