import { pathTo, type Session, type UserPart } from "@banyan/core";
import { lastUserMessage, OWN_OUTPUT } from "@banyan/core/conversation";
import { runForUser, type UserCommand } from "@banyan/tools/workspace";
import { attachedTextPart } from "../attachments/files.ts";
import type { Host } from "../host/host.ts";

/** The folder in which a user's commands run. */
export interface UserCommandContext extends Pick<Host, "redact"> {
  readonly directory: string;
  /** True if the command runs on another machine than the agent does. */
  readonly isElsewhere?: boolean;
}

/** The result of a user's command. */
export interface CommandRun {
  /** How the command ended: `exited` with a code, or `cancelled` by the signal. */
  readonly end: Awaited<ReturnType<typeof runForUser>>["end"];
  /** The command and its output, without secrets (S10). */
  readonly parts: readonly UserPart[];
}

/** Runs a user's `!command` with the user's rights, without approval (T17). Rejects if the shell cannot be started. */
export async function runUserCommand(
  { redact, directory, isElsewhere = false }: UserCommandContext,
  command: string,
  options: Pick<UserCommand, "signal" | "hurry" | "onOutput">,
): Promise<CommandRun> {
  const { end, report } = await runForUser({ ...options, command, directory, redaction: redact.stream() });
  const typed = { type: "text", text: redact(`!${command}`) } as const;
  const name = isElsewhere ? `${command} (on the user's own machine, in ${directory})` : command;
  return { end, parts: [typed, attachedTextPart(OWN_OUTPUT, redact(name), redact(report))] };
}

/** Returns the mode in which an unfinished run on the path to `at` would resume; undefined without such a run. */
export function unfinishedMode(
  { interrupted, state }: Pick<Session, "interrupted" | "state">,
  at = state.leaf,
): "chat" | "task" | undefined {
  const path = pathTo(state, at);
  const said = lastUserMessage(path);
  const since = new Set(path.slice(said ? path.indexOf(said) : 0).map(({ id }) => id));
  const left = [...interrupted, ...state.waiting.values()];
  return left.findLast(({ call, leaf }) => call === undefined && since.has(leaf ?? ""))?.mode;
}
