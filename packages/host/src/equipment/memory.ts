import { join } from "node:path";
import type { Tool } from "@banyan/core";
import { type ManagedMemory, memoryTools, type SqliteMemoryOptions, sqliteMemory } from "@banyan/memory";
import { type EnvironmentVariables, embeddingModel, ModelChoiceError } from "@banyan/models";
import type { Directories } from "../places/directories.ts";
import type { Redact } from "../redaction/redactor.ts";
import type { Settings } from "../settings/index.ts";

/** The file of a user's memory. */
export function memoryFile(places: Directories): string {
  return join(places.data, "memory.sqlite");
}

/** The place of a memory, and the redaction for it. */
export interface MemoryPlace {
  readonly places: Directories;
  /** The working directory. */
  readonly workspace: string;
  readonly redact: Redact;
}

/** The user's memory for managing it, also if the settings turn it off for agents. */
export function userMemory({ places, workspace, redact }: MemoryPlace): ManagedMemory {
  return sqliteMemory(memoryOptions({ places, workspace, redact }));
}

/** The memory of an agent, with its memory tools. */
export interface AgentMemory {
  readonly memory: ManagedMemory;
  readonly tools: readonly Tool[];
  /** Why recall uses words only, although the settings name an embedding model. */
  readonly notices: readonly string[];
}

/** The user's memory for an agent; undefined until the user has agreed to it (B45, S26). */
export function openMemory({
  settings: { memory: wanted, aliases = {} },
  env,
  ...place
}: MemoryPlace & { readonly settings: Settings; readonly env: EnvironmentVariables }): AgentMemory | undefined {
  if (wanted?.enabled !== true) return undefined;
  const embed = wanted?.embedModel === undefined ? undefined : embedder(wanted.embedModel, { env, aliases });
  const memory = sqliteMemory({ ...memoryOptions(place), ...(typeof embed === "object" && { embed }) });
  return { memory, tools: memoryTools(memory), notices: typeof embed === "string" ? [embed] : [] };
}

function memoryOptions({ places, workspace, redact }: MemoryPlace): SqliteMemoryOptions {
  return { file: memoryFile(places), directory: workspace, redact };
}

/** The embedding model of the settings, or why it is unavailable. */
function embedder(...named: Parameters<typeof embeddingModel>): ReturnType<typeof embeddingModel> | string {
  try {
    return embeddingModel(...named);
  } catch (error) {
    if (!(error instanceof ModelChoiceError)) throw error;
    return `Memory finds entries by their words only, without memory.embedModel: ${error.message}`;
  }
}
