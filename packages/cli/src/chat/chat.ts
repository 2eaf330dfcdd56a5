import type { Session } from "@banyan/core";
import { type Host, openHost } from "@banyan/host";
import manifest from "../../package.json" with { type: "json" };
import type { Arguments } from "../arguments.ts";
import { type ExitCode, exitCodes, signalExits } from "../exit.ts";
import { hostOptions } from "../host-options.ts";
import { openNamedSession } from "../named-session.ts";
import { problemOf } from "../problem.ts";
import { oneLine, visible } from "../show/plain-text.ts";
import { styleFor } from "../show/style.ts";
import { wrap } from "../show/wrap.ts";
import { openTerminal } from "../terminal/open-terminal.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { lastExchange, saidBefore } from "./exchange.ts";
import { leftBehind } from "./left-behind.ts";
import { Talk } from "./talk.ts";

/** A chat with a person at the terminal. Resolves with the exit code once the terminal is as it was before. */
export async function chat(args: Arguments): Promise<ExitCode> {
  const notices: string[] = [];
  let host: Host | undefined;
  try {
    host = await openHost(hostOptions(args, true, new AbortController().signal));
    const named = await openNamedSession(args, host, (sentence) => notices.push(sentence));
    return await talkAt(args, host, named, notices);
  } catch (error) {
    const { message, exit } = problemOf(error);
    process.stderr.write(`banyan: ${oneLine(message)}\n`);
    return exit;
  } finally {
    await host?.close();
  }
}

async function talkAt(
  args: Arguments,
  host: Host,
  { session, at }: { readonly session?: Session; readonly at?: string },
  notices: readonly string[],
): Promise<ExitCode> {
  let exit: ExitCode = exitCodes.done;
  const style = styleFor(process.stdout, args.color);
  const terminal = openTerminal({
    input: process.stdin,
    output: process.stdout,
    style,
    plain: args.plain,
    history: session ? saidBefore(session.state, at ?? session.state.leaf) : [],
    onTyped: (message, later) => talk.typed(message, later),
    onInterrupt: () => talk.interrupt(),
  });
  const talk = new Talk(host, terminal, session, at);
  const leave = (code: ExitCode) => {
    exit = code;
    talk.leave();
    terminal.close();
  };
  // A terminal that went away cannot be written to any more.
  process.stdout.on("error", () => leave(exitCodes.hangup));
  // A defect that ends the process must not leave its modes behind.
  process.once("exit", () => terminal.close());
  process.on("SIGINT", () => terminal.interrupt());
  process.once("SIGTERM", () => leave(signalExits.SIGTERM));
  process.once("SIGHUP", () => leave(signalExits.SIGHUP));
  try {
    greet(terminal, args, host, notices);
    if (session) remind(terminal, host, session, at ?? session.state.leaf);
    await talk.run(args.prompt?.trim() ? args.prompt : undefined);
  } finally {
    await talk.close();
    terminal.freshLine();
    if (talk.session?.state.messages.size) terminal.write(style.dim(`resume: banyan --resume ${talk.session.id}\n`));
    terminal.close();
  }
  return exit;
}

/** Where a conversation stands, and what was left behind in it. */
function remind(terminal: Terminal, host: Host, session: Session, leaf: string | null): void {
  const { columns, style } = terminal;
  const lines = lastExchange(session.state, leaf, host.agent.name, columns, style);
  for (const line of [...lines, ...leftBehind(session, columns, style)]) terminal.write(`${line}\n`);
}

function greet(terminal: Terminal, args: Arguments, host: Host, notices: readonly string[]): void {
  const { style } = terminal;
  const say = (sentence: string) => terminal.write(`${wrap(sentence, terminal.columns)}\n`);
  const { name, reason } = host.model;
  say(`${style.bold(`banyan ${manifest.version}`)} in ${visible(host.workspace)}`);
  say(style.dim(oneLine(reason)));
  if (name.startsWith("demo/")) say(style.warning("This is the offline demo: a few rules, not a language model."));
  if (host.approval === "edits") say(style.warning("Approval: files of this directory are changed without asking."));
  if (host.approval === "all") {
    const from = args.approval === "all" ? "--approval all" : "the settings";
    const loud = `APPROVAL IS OFF (${from}): every call runs without asking. Use this in a sandbox only.`;
    say(style.bad(style.bold(loud)));
  }
  for (const notice of notices) say(style.warning(oneLine(notice)));
  say(style.dim("/help lists the commands; Ctrl-C interrupts."));
}
