import type { UserPart } from "@banyan/core";
import { runByPerson } from "@banyan/tools/workspace";
import { named } from "./attachments/files.ts";
import type { Host } from "./host.ts";

/** What came of a command that a person ran. */
export interface CommandRun {
  /** `exited`, with a code, or `cancelled` by the signal. */
  readonly end: Awaited<ReturnType<typeof runByPerson>>["end"];
  /** The command and its output as they go into a conversation, without secrets (S10). */
  readonly parts: readonly UserPart[];
}

/**
 * Runs a command that a person typed as `!command`, in the workspace, with the rights and the variables that they have
 * themselves (T17): nobody is asked. Rejects when the shell cannot be started.
 */
export async function runPersonsCommand(
  host: Pick<Host, "redact" | "workspace">,
  command: string,
  { signal, onOutput }: { readonly signal: AbortSignal; readonly onOutput: (text: string) => void },
): Promise<CommandRun> {
  const redaction = host.redact.stream();
  const { end, told } = await runByPerson({ command, directory: host.workspace, signal, onOutput, redaction });
  const typed = { type: "text", text: host.redact(`!${command}`) } as const;
  return { end, parts: [typed, named("output", host.redact(command), host.redact(told))] };
}
