import { join } from "node:path";
import type { Tool } from "@banyan/core";
import { type ManagedMemory, memoryTools, type SqliteMemoryOptions, sqliteMemory } from "@banyan/memory";
import { type EnvironmentVariables, embeddingModel, ModelChoiceError } from "@banyan/models";
import type { Directories } from "../places/directories.ts";
import type { Redact } from "../redaction/redactor.ts";
import type { Settings } from "../settings/index.ts";

/** Returns the path of a user's memory. */
export function memoryFile(places: Directories): string {
  return join(places.data, "memory.sqlite");
}

/** The folders of a user's memory, and the removal of secrets. */
export interface UserMemoryContext {
  readonly places: Directories;
  readonly workspace: string;
  readonly redact: Redact;
}

/** Opens the user's memory so that the user can manage it, even if agents do not use memory. */
export function userMemory({ places, workspace, redact }: UserMemoryContext): ManagedMemory {
  return sqliteMemory(memoryOptions({ places, workspace, redact }));
}

/** An agent's memory, with its tools. */
export interface AgentMemory {
  readonly memory: ManagedMemory;
  readonly tools: readonly Tool[];
  /** The reasons why recall compares only words, although the settings name an embedding model. */
  readonly notices: readonly string[];
}

/** Opens the user's memory for an agent; undefined until the user agreed (B45, S26). */
export function openMemory({
  settings: { memory: wanted, aliases = {} },
  env,
  ...context
}: UserMemoryContext & { readonly settings: Settings; readonly env: EnvironmentVariables }): AgentMemory | undefined {
  if (wanted?.enabled !== true) return undefined;
  const embed = wanted?.embedModel === undefined ? undefined : embedder(wanted.embedModel, { env, aliases });
  const memory = sqliteMemory({ ...memoryOptions(context), ...(typeof embed === "object" && { embed }) });
  return { memory, tools: memoryTools(memory), notices: typeof embed === "string" ? [embed] : [] };
}

function memoryOptions({ places, workspace, redact }: UserMemoryContext): SqliteMemoryOptions {
  return { file: memoryFile(places), directory: workspace, redact };
}

/** The embedding model of the settings, or why it is unavailable. */
function embedder(...named: Parameters<typeof embeddingModel>): ReturnType<typeof embeddingModel> | string {
  try {
    return embeddingModel(...named);
  } catch (error) {
    if (!(error instanceof ModelChoiceError)) throw error;
    return `Memory finds entries only by their words, because the model of memory.embedModel cannot be used: ${error.message}`;
  }
}
