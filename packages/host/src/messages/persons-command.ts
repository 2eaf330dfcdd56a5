import { pathTo, type Session, type UserPart } from "@banyan/core";
import { lastSaid, OWN_OUTPUT } from "@banyan/core/conversation";
import { type PersonsCommand, runByPerson } from "@banyan/tools/workspace";
import { named } from "../attachments/files.ts";
import type { Host } from "../host.ts";

/** Where a person's commands run. */
export interface CommandPlace extends Pick<Host, "redact"> {
  readonly directory: string;
  /** It is on another machine than the agent, which is told so. */
  readonly isElsewhere?: boolean;
}

/** What came of a command that a person ran. */
export interface CommandRun {
  /** `exited`, with a code, or `cancelled` by the signal. */
  readonly end: Awaited<ReturnType<typeof runByPerson>>["end"];
  /** The command and its output as they go into a conversation, without secrets (S10). */
  readonly parts: readonly UserPart[];
}

/**
 * Runs a command that a person typed as `!command`, with the rights and the variables that they have themselves (T17):
 * nobody is asked. Rejects when the shell cannot be started.
 */
export async function runPersonsCommand(
  { redact, directory, isElsewhere = false }: CommandPlace,
  command: string,
  options: Pick<PersonsCommand, "signal" | "hurry" | "onOutput">,
): Promise<CommandRun> {
  const { end, told } = await runByPerson({ ...options, command, directory, redaction: redact.stream() });
  const typed = { type: "text", text: redact(`!${command}`) } as const;
  const name = isElsewhere ? `${command} (on the person's own machine, in ${directory})` : command;
  return { end, parts: [typed, named(OWN_OUTPUT, redact(name), redact(told))] };
}

/**
 * The mode of the run that a process left in the middle, or that waits for a user, on the way to a message (the one written last
 * when absent): whoever resumes it goes on in that mode. Nothing where no run was left, or where a user has said something since.
 */
export function modeLeft(
  { interrupted, state }: Pick<Session, "interrupted" | "state">,
  at = state.leaf,
): "chat" | "task" | undefined {
  const path = pathTo(state, at);
  const said = lastSaid(path);
  const since = new Set(path.slice(said ? path.indexOf(said) : 0).map(({ id }) => id));
  const left = [...interrupted, ...state.waiting.values()];
  return left.findLast(({ call, leaf }) => call === undefined && since.has(leaf ?? ""))?.mode;
}
