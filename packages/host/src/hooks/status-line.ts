import { z } from "zod";
import { type HookContext, hookFailure, runHook } from "./run-hook.ts";

const COMMAND = "a command, as for sh -c";

/** The schema of the setting `statusLine`, as in Claude Code. */
export const statusLineEntry = z.looseObject(
  { type: z.literal("command", '"command"'), command: z.string(COMMAND).min(1, COMMAND) },
  'an object, as in {"type":"command","command":"~/bin/status.sh"}',
);

/** A user's command for the status line. */
export type StatusLineEntry = z.infer<typeof statusLineEntry>;

/** The first line of the command's output, or why there is none. */
export type StatusLineOutput = { readonly line: string } | { readonly problem: string };

const TIMEOUT = 5_000;

/** Runs a user's status line command with facts as JSON on its input, for at most 5 seconds. Never rejects. */
export async function statusLineSaid(
  command: string,
  facts: object,
  context: HookContext,
  signal: AbortSignal,
): Promise<StatusLineOutput> {
  const end = await runHook({ command, timeout: TIMEOUT }, facts, context, signal);
  if ("problem" in end) return end;
  const [line = ""] = end.stdout.split("\n", 1);
  if (end.code === 0) return { line };
  return { problem: hookFailure(command, end) };
}
