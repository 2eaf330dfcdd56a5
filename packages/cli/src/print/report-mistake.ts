import { noUsage } from "@banyan/core/conversation";
import type { OutputFormat } from "../arguments.ts";
import { exitCodes } from "../exit.ts";
import { OutputStream } from "../output/output-stream.ts";
import { reportIn } from "../output/report.ts";

/** Says what is wrong with a command line that could not be read, and sets the exit code. */
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
  reportIn(output, (text) => stdout.write(text)).result({
    type: "result",
    reason: "usage",
    exitCode: exitCodes.usage,
    text: "",
    conversation: null,
    model: null,
    steps: 0,
    usage: noUsage,
    cost: 0,
    duration: Math.round(performance.now()),
    denied: [],
    error: { code: "usage", message },
  });
  process.exitCode = exitCodes.usage;
}
