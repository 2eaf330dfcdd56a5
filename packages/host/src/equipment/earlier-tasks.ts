import { enclosed } from "@banyan/core/shown";
import type { ManagedMemory } from "@banyan/memory";

/** Maximum summaries of earlier tasks in the instructions of a task. */
const TASKS_TOLD = 5;

/** Returns the results of the last tasks in a workspace, as a part of the instructions; empty if memory has none (B39). */
export async function earlierTasks(memory: ManagedMemory | undefined, workspace: string): Promise<string> {
  const summaries = (await memory?.summaries(workspace, TASKS_TOLD).catch(() => [])) ?? [];
  const told = summaries
    .map(({ text, at }) => `[finished ${new Date(at).toISOString().slice(0, 10)}]\n${text}`)
    .join("\n\n");
  return told === "" ? "" : `\n\n${enclosed("earlier-tasks-in-this-directory", told)}`;
}
