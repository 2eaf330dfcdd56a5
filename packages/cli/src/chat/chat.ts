import { setImmediate } from "node:timers/promises";
import type { Arguments } from "../arguments.ts";
import type { ExitCode } from "../exit.ts";
import { atTerminal } from "./at-terminal.ts";

/**
 * A chat with a person at the terminal. The prompt takes keys before what the chat needs is loaded (T40). Resolves with
 * the exit code once the terminal is as it was before.
 */
export function chat(args: Arguments): Promise<ExitCode> {
  return atTerminal(args, async ({ terminal, unsent, signal, starting, met: onTalk }) => {
    const notices: string[] = [];
    await loadInParts();
    const { mayUseProject } = await import("./trust-question.ts");
    const trusted = await mayUseProject(args, terminal, (sentence) => notices.push(sentence));
    starting();
    const { converse } = await import("./converse.ts");
    return converse({ args, terminal, unsent, trusted, notices, signal, onTalk });
  });
}

/** Loads what takes longest, so that keys are heard in between. */
async function loadInParts(): Promise<void> {
  await import("@banyan/core");
  await setImmediate();
  await import("@banyan/host");
  await setImmediate();
  await import("@banyan/server/desk");
  await setImmediate();
}
