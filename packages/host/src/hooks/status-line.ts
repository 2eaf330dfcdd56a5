import { z } from "zod";
import { type HookPlace, hookFailure, runHook } from "./run-hook.ts";

const COMMAND = "a command, as for sh -c";

/** The form of the setting `statusLine`, which Claude Code has too. */
export const statusLineEntry = z.looseObject(
  { type: z.literal("command", '"command"'), command: z.string(COMMAND).min(1, COMMAND) },
  'an object, as in {"type":"command","command":"~/bin/status.sh"}',
);

/** A user's own status line. */
export type StatusLineEntry = z.infer<typeof statusLineEntry>;

/** The first line of the command's output, unchanged, or why there is none. */
export type StatusLineOutput = { readonly line: string } | { readonly problem: string };

/** Timeout in milliseconds: the status describes the current moment. */
const TIMEOUT = 5_000;

/** Runs the command of a status line with facts as JSON on its input, within the limits of a hook and 5 seconds. Never rejects. */
export async function statusLineSaid(
  command: string,
  facts: object,
  place: HookPlace,
  signal: AbortSignal,
): Promise<StatusLineOutput> {
  const end = await runHook({ command, timeout: TIMEOUT }, facts, place, signal);
  if ("problem" in end) return end;
  const [line = ""] = end.stdout.split("\n", 1);
  if (end.code === 0) return { line };
  return { problem: hookFailure(command, end) };
}
