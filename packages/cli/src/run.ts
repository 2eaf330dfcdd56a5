import { ownCommand } from "@banyan/host/own-command";
import type { Arguments } from "./arguments.ts";
import { exitCodes } from "./exit.ts";

/**
 * Runs the command: a chat when a person sits at both ends, else one printed turn. The process ends when all that was
 * written has left it.
 */
export async function run(args: Arguments): Promise<void> {
  const person = process.stdin.isTTY && process.stdout.isTTY && !args.print;
  if (person && args.output !== "text") {
    process.stderr.write(`banyan: --output ${args.output} goes with --print; a chat is written for a person.\n`);
    process.exitCode = exitCodes.usage;
    return;
  }
  if (person && args.task !== undefined && !args.prompt?.trim()) {
    process.stderr.write(`banyan: --no-chat-mode needs a task, as in ${ownCommand("--task 'tidy up the tests'")}.\n`);
    process.exitCode = exitCodes.usage;
    return;
  }
  const code = person
    ? await (await import("./chat/at-terminal.ts")).chat(args)
    : await (await import("./print/print.ts")).print(args);
  // Nothing may keep the process: a provider's idle connection, or a pipe that nobody closes.
  process.exit(code);
}
