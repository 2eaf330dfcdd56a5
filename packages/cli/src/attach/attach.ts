import { atTerminal } from "../chat/at-terminal.ts";
import { type ExitCode, exitCodes } from "../exit.ts";
import type { AttachArguments } from "./arguments.ts";

/**
 * `banyan attach`: a person at this terminal, and a conversation on a server. The prompt takes keys before what this needs
 * is loaded (T40).
 */
export async function attach(args: AttachArguments): Promise<ExitCode> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    process.stderr.write(
      "banyan: attach is for a person at a terminal; docs/protocol.md tells how programs talk to a server.\n",
    );
    return exitCodes.usage;
  }
  return atTerminal(args, async (sitting) => {
    sitting.starting();
    const { join } = await import("./join.ts");
    return join(args, sitting);
  });
}
