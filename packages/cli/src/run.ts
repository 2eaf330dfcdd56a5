import { ownCommand } from "@banyan/host/own-command";
import type { AttachArguments } from "./attach/arguments.ts";
import { type ExitCode, exitCodes } from "./program/exit.ts";
import { type Arguments, NO_WORDS } from "./program/prompt-arguments.ts";
import type { Terminal } from "./terminal/contract/terminal.ts";

/** Runs a chat if stdin and stdout are terminals, or else one printed turn. Exits after all output has been written. */
export async function runBanyan(args: Arguments = NO_WORDS): Promise<void> {
  const person = process.stdin.isTTY && process.stdout.isTTY && !args.print;
  if (person && args.output !== "text") {
    process.stderr.write(`banyan: --output ${args.output} works with --print only.\n`);
    process.exitCode = exitCodes.usage;
    return;
  }
  if (person && args.task !== undefined && !args.prompt?.trim()) {
    process.stderr.write(`banyan: --no-chat-mode needs a task, such as ${ownCommand("--task 'tidy up the tests'")}.\n`);
    process.exitCode = exitCodes.usage;
    return;
  }
  const code = person ? await runChat(args) : await (await import("./print/print.ts")).print(args);
  // An idle connection of a provider, or an open pipe, must not keep the process alive.
  process.exit(code);
}

/** `banyan attach`: joins a conversation of a server. The prompt accepts keys before modules are loaded (T40). */
export async function runAttach(args: AttachArguments): Promise<ExitCode> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    process.stderr.write(
      "banyan: attach needs a terminal. docs/protocol.md describes how programs talk to a server.\n",
    );
    return exitCodes.usage;
  }
  const { runAtTerminal } = await import("./chat/talk/at-terminal.ts");
  return runAtTerminal(args, async (sitting) => {
    sitting.starting();
    const { joinServer } = await import("./attach/join.ts");
    return joinServer(args, sitting);
  });
}

/**
 * The prompt accepts keys before modules are loaded (T40). Resolves with the exit code when the terminal is restored.
 */
async function runChat(args: Arguments): Promise<ExitCode> {
  const { runAtTerminal } = await import("./chat/talk/at-terminal.ts");
  return runAtTerminal(args, async ({ terminal, unsent, signal, starting, met: onTalk }) => {
    const notices: string[] = [];
    await loadInParts(terminal);
    const { mayUseProject } = await import("./chat/user/trust-question.ts");
    const trusted = await mayUseProject(args, terminal, (sentence) => notices.push(sentence));
    starting();
    const { converseAtTerminal } = await import("./chat/talk/converse.ts");
    return converseAtTerminal({ args, terminal, unsent, trusted, notices, signal, onTalk });
  });
}

/** Loads the slowest modules, and handles and draws keys in between, because nothing is drawn while a module loads. */
async function loadInParts({ live }: Terminal): Promise<void> {
  const parts = [() => import("@banyan/core"), () => import("@banyan/host"), () => import("@banyan/desk")];
  for (const load of parts) {
    await keysAreHeard();
    live?.draw();
    await load();
  }
  await keysAreHeard();
}

/** Like `setImmediate` of `node:timers/promises`, without loading that module before the first frame. */
function keysAreHeard(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
