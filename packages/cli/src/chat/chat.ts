import { setImmediate } from "node:timers/promises";
import type { Arguments } from "../arguments.ts";
import type { ExitCode } from "../exit.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { atTerminal } from "./at-terminal.ts";

/**
 * A chat with a person at the terminal. The prompt takes keys before what the chat needs is loaded (T40). Resolves with
 * the exit code once the terminal is as it was before.
 */
export function chat(args: Arguments): Promise<ExitCode> {
  return atTerminal(args, async ({ terminal, unsent, signal, starting, met: onTalk }) => {
    const notices: string[] = [];
    await loadInParts(terminal);
    const { mayUseProject } = await import("./trust-question.ts");
    const trusted = await mayUseProject(args, terminal, (sentence) => notices.push(sentence));
    starting();
    const { converse } = await import("./converse.ts");
    return converse({ args, terminal, unsent, trusted, notices, signal, onTalk });
  });
}

/** Loads what takes longest, so that keys are heard in between, and seen: nothing else is drawn while something is loaded. */
async function loadInParts({ live }: Terminal): Promise<void> {
  const parts = [() => import("@banyan/core"), () => import("@banyan/host"), () => import("@banyan/server/desk")];
  for (const load of parts) {
    await setImmediate();
    live?.draw();
    await load();
  }
  await setImmediate();
}
