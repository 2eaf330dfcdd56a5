import { noUsage } from "@banyan/core/conversation";
import { nearest } from "@banyan/core/shown";
import { ownCommand } from "@banyan/host/own-command";
import { OutputStream } from "../output/output-stream.ts";
import { turnReport } from "../output/report.ts";
import { exitCodes } from "../program/exit.ts";
import type { OutputFormat } from "../program/prompt-arguments.ts";

/** Prints the error in a command line, and sets the exit code. */
export async function reportMistake({
  message,
  output,
}: {
  readonly message: string;
  readonly output: OutputFormat;
}): Promise<void> {
  const stdout = new OutputStream(process.stdout);
  const stderr = new OutputStream(process.stderr);
  stderr.write(`banyan: ${message}\n`);
  turnReport(output, (text) => stdout.write(text)).result({
    type: "result",
    reason: "usage",
    exitCode: exitCodes.usage,
    text: "",
    conversation: null,
    model: null,
    steps: 0,
    usage: noUsage,
    cacheMisses: [],
    cost: 0,
    duration: Math.round(performance.now()),
    denied: [],
    error: { code: "usage", message },
  });
  process.exitCode = exitCodes.usage;
}

/** Returns the error for a misspelt command, such as `rnu "do it"`. Undefined if the line is a message. */
export function misspeltCommand(name: string, commands: readonly string[]): string | undefined {
  const near = nearest(name, commands).find((command) => command[0] === name[0]);
  if (near === undefined) return undefined;
  return `There is no command ${name}. Did you mean ${ownCommand(near)}? To send this text as a message, add more words in quotes.`;
}
