import { encloseInTags } from "@banyan/core/shown";
import type { ManagedMemory } from "@banyan/memory";

/** Maximum summaries in the instructions of a task. */
const TASKS_TOLD = 5;

/** Returns the results of the last tasks in a workspace from memory, for the instructions (B39). May be empty. */
export async function earlierTasks(memory: ManagedMemory | undefined, workspace: string): Promise<string> {
  const summaries = (await memory?.summaries(workspace, TASKS_TOLD).catch(() => [])) ?? [];
  const paragraphs = summaries
    .map(({ text, at }) => `[finished ${new Date(at).toISOString().slice(0, 10)}]\n${text}`)
    .join("\n\n");
  return paragraphs === "" ? "" : `\n\n${encloseInTags("earlier-tasks-in-this-directory", paragraphs)}`;
}
