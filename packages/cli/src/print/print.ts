import { type ConversationState, type FeedItem, type Session, say, type Turn, type UserPart } from "@banyan/core";
import { noUsage } from "@banyan/core/conversation";
import { type Host, openHost, untrustedContent, writtenMessage } from "@banyan/host";
import { serversSettled } from "@banyan/host/mcp";
import type { Arguments } from "../arguments.ts";
import { type ExitCode, exitCodes, signalExits } from "../exit.ts";
import { hostOptions } from "../host-options.ts";
import { openNamedSession } from "../named-session.ts";
import { OutputStream } from "../output/output-stream.ts";
import { jsonCost, type Result, reportIn } from "../output/report.ts";
import { outputOption } from "../output-schema.ts";
import { type Problem, problemOf, UsageError } from "../problem.ts";
import { attachedLines } from "../show/attached.ts";
import { oneLine } from "../show/plain-text.ts";
import { styleFor } from "../show/style.ts";
import { Progress } from "./progress.ts";
import { readStandardInput } from "./standard-input.ts";
import { verdictOf } from "./verdict.ts";

/**
 * One turn without a person (T32 to T37): the answer on stdout, everything else on stderr. Never asks. Resolves with the
 * exit code once all output has left the process.
 */
export async function print(args: Arguments): Promise<ExitCode> {
  const stop = new AbortController();
  using _signals = stopOnSignals(stop);
  const stdout = new OutputStream(process.stdout, () =>
    stop.abort(new Stopped("The reader of standard output is gone.", exitCodes.brokenPipe)),
  );
  const stderr = new OutputStream(process.stderr);
  // A person who watches both streams on one terminal sees it as it is written.
  const live = args.output === "text" && args.task === undefined && !args.quiet && process.stdout.isTTY === true;
  const progress = new Progress(
    (text) => stderr.write(text),
    styleFor(process.stderr, args.color),
    process.stderr.columns || 100,
    { quiet: args.quiet, said: args.task !== undefined ? "gist" : live ? "nothing" : "whole" },
  );
  const report = reportIn(args.output, (text) => stdout.write(text), { live });
  const printing = new Printing(args, progress, stop.signal);
  const result = await printing.run(async (item, state) => {
    report.item(item, state);
    await stdout.room();
  });
  report.result(result);
  // Whoever closed the pipe knows.
  if (result.error && !stdout.gone) progress.problem(result.error.message);
  await Promise.all([stdout.flush(), stderr.flush()]);
  return stdout.gone ? exitCodes.brokenPipe : result.exitCode;
}

type OnItem = (item: FeedItem, state: ConversationState) => Promise<void>;

/** One printed turn under way. */
class Printing {
  readonly #args: Arguments;
  readonly #progress: Progress;
  readonly #signal: AbortSignal;
  #host: Host | undefined;
  #session: Session | undefined;
  #turn: Turn | undefined;
  readonly #denied: { tool: string; reason: string }[] = [];

  constructor(args: Arguments, progress: Progress, signal: AbortSignal) {
    this.#args = args;
    this.#progress = progress;
    this.#signal = signal;
  }

  /** Never rejects: whatever goes wrong is a result too. */
  async run(onItem: OnItem): Promise<Result> {
    try {
      await this.#takeTurn(onItem);
      await this.#close();
      this.#signal.throwIfAborted();
      return this.#result(verdictOf(this.#turn, this.#denied));
    } catch (error) {
      // The first thing that went wrong is the one to tell.
      await this.#close().catch(() => {});
      const { exit, ...problem } = this.#signal.aborted ? (this.#signal.reason as Stopped).problem : problemOf(error);
      const reason = this.#signal.aborted ? "interrupted" : exit === exitCodes.usage ? "usage" : "failed";
      return this.#result({ reason, exitCode: exit, error: problem });
    }
  }

  async #takeTurn(onItem: OnItem): Promise<void> {
    const signal = this.#signal;
    const notice = (sentence: string) => this.#progress.notice(sentence);
    const prompt = await promptOf(this.#args, notice, signal);
    const { trust, task } = this.#args;
    const host = await openHost({ ...hostOptions(this.#args, false, signal, trust), ...outputOption(this.#args) });
    this.#host = host;
    for (const sentence of host.notices) notice(oneLine(sentence));
    const { mcp } = await host.ready();
    // There is one turn only: a tool that comes later comes never.
    for (const sentence of mcp ? await serversSettled(mcp, signal) : []) notice(oneLine(sentence));
    if (!trust && untrustedContent(host.workspace).length > 0)
      notice("What this project brings (settings, instructions, ...) is not used; --trust uses it.");
    const { session = await host.newSession(), ...place } = await openNamedSession(this.#args, host, { notice });
    this.#session = session;
    notice(host.model.reason);
    if (host.approval === "all") notice("APPROVAL IS OFF: every call runs without asking.");
    signal.throwIfAborted();
    const parts = await partsOf(prompt, host, notice, signal);
    const agent = (task === undefined ? host.agent : await host.taskAgent()).with({
      onTurn: (_conversation, _agent, turn) => {
        this.#turn = turn;
      },
    });
    const interrupt = () => session.interrupt();
    signal.addEventListener("abort", interrupt, { once: true });
    for await (const item of agent.chat(say(parts), { session, client: "banyan --print", ...place })) {
      if (item.type === "run.started" && signal.aborted) interrupt();
      if (item.type === "call.denied") this.#denied.push({ tool: toolOf(session, item.call), reason: item.output });
      await onItem(item, session.state);
      this.#progress.item(item, session.state);
    }
  }

  async #close(): Promise<void> {
    await this.#session?.close();
    await this.#host?.close();
  }

  #result(verdict: Pick<Result, "reason" | "exitCode" | "error">): Result {
    const turn = this.#turn;
    return {
      type: "result",
      ...verdict,
      text: turn?.text ?? "",
      conversation: this.#session?.id ?? null,
      model: turn?.message?.model ?? this.#host?.model.name ?? null,
      steps: turn?.steps ?? 0,
      usage: turn?.usage ?? noUsage,
      cost: jsonCost(turn ? turn.cost : 0),
      duration: Math.round(performance.now()),
      denied: this.#denied,
    };
  }
}

/** What is asked, and what came with it from standard input. */
interface Prompt {
  readonly asked: string;
  readonly input: string;
}

/** The prompt argument, standard input, or the one with the other as its context. Rejects with `UsageError` when there is neither. */
async function promptOf(args: Arguments, notice: (sentence: string) => void, signal: AbortSignal): Promise<Prompt> {
  // A single dash is standard input, as with other programs.
  const prompt = args.prompt?.trim() === "-" ? "" : (args.prompt ?? "");
  const asked = prompt.trim() !== "";
  const input = await readStandardInput({ stream: process.stdin, optional: asked, notice, signal });
  const given = input.trim() !== "";
  if (asked || given) return { asked: asked ? prompt : "", input: given ? input : "" };
  const advice = 'Write it behind the command, as in banyan -p "...", or send it to standard input.';
  throw new UsageError(
    `There is nothing to answer: ${process.stdin.isTTY ? "no prompt was given" : "the prompt is empty, and so is standard input"}. ${advice}`,
  );
}

/** The message that it makes. What stands in standard input names nothing: only a person's own words do (B46). */
async function partsOf(
  { asked, input }: Prompt,
  host: Host,
  notice: (sentence: string) => void,
  signal: AbortSignal,
): Promise<UserPart[]> {
  const message = await writtenMessage(host, asked, signal, { outside: true });
  const piped = host.redact(input);
  const isRedacted = message.isRedacted || piped !== input;
  for (const line of attachedLines({ ...message, isRedacted })) notice(line);
  if (asked === "") return [{ type: "text", text: piped }];
  const [text, ...others] = message.parts;
  const context = { type: "text", text: `Standard input:\n\n${piped}` } as const;
  return [...(text ? [text] : []), ...(input === "" ? [] : [context]), ...others];
}

function toolOf(session: Session, call: string): string {
  const message = session.state.messages.get(session.state.calls.get(call) ?? "");
  return (message?.role === "assistant" && message.calls.find(({ id }) => id === call)?.tool) || "";
}

/** The command is to end before its turn has: a signal came, or nobody reads what it writes. */
class Stopped extends Error {
  override readonly name = "Stopped";
  readonly problem: Problem;

  constructor(message: string, exit: ExitCode) {
    super(message);
    this.problem = { code: "interrupted", message, exit };
  }
}

/** Aborts with `Stopped` when a signal asks the command to end; a second one ends it at once. */
function stopOnSignals(stop: AbortController): Disposable {
  const listeners = Object.entries(signalExits).map(([signal, exit]) => {
    const listener = () => {
      // Whoever signals twice does not want to wait for anything.
      if (stop.signal.aborted) process.exit(exit);
      stop.abort(new Stopped(`Stopped by ${signal}.`, exit));
    };
    process.on(signal, listener);
    return { signal, listener };
  });
  return {
    [Symbol.dispose]() {
      for (const { signal, listener } of listeners) process.off(signal, listener);
    },
  };
}
