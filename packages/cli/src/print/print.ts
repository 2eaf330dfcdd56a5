import { type Action, ActionRefusal, actionNamed, readAction } from "@banyan/client/actions";
import { slashIn } from "@banyan/client/words";
import { type ConversationState, type FeedItem, say, type UserPart } from "@banyan/core";
import { noUsage, toolIn } from "@banyan/core/conversation";
import { inEnglish } from "@banyan/core/shown";
import {
  expandSlashPrompt,
  type Host,
  listPrompts,
  openHost,
  type PromptText,
  untrustedContent,
  writtenMessage,
} from "@banyan/host";
import { waitForServers } from "@banyan/host/mcp";
import { ownCommand } from "@banyan/host/own-command";
import { TalkSession } from "../chat/session/talk-session.ts";
import { OwnDesk } from "../chat/talk/own-desk.ts";
import type { AfterCommand } from "../commands/command.ts";
import { AT_OWN_DESK } from "../commands/offered-commands.ts";
import { nextTurn } from "../commands/turn-step.ts";
import { openNamedSession } from "../conversations/named-session.ts";
import { OutputStream } from "../output/output-stream.ts";
import { jsonCost, type PrintResult, turnReport } from "../output/report.ts";
import { verdictOf } from "../output/verdict.ts";
import { type ExitCode, exitCodes, StoppedError, stopOnSignals } from "../program/exit.ts";
import { hostOptions, outputOption } from "../program/host-options.ts";
import { reportedProblem, UsageError } from "../program/problem.ts";
import type { Arguments } from "../program/prompt-arguments.ts";
import { attachedLines } from "../show/attachment-lines.ts";
import { plainLine } from "../show/plain-text.ts";
import { styleFor } from "../show/style.ts";
import { runningProcesses } from "../show/sub-agents.ts";
import { lastResponse, type TurnEnd, turnEndText } from "../show/turn-end.ts";
import { ProgressLines } from "./progress.ts";
import { readStandardInput } from "./standard-input.ts";

/**
 * Runs one turn without a user (T32 to T37): the answer goes to stdout, everything else to stderr. Asks no question.
 * Resolves with the exit code when all output has left the process.
 */
export async function print(args: Arguments): Promise<ExitCode> {
  const stop = new AbortController();
  using _signals = stopOnSignals(stop);
  const stdout = new OutputStream(process.stdout, () =>
    stop.abort(new StoppedError("The program that read banyan's output has stopped reading.", exitCodes.brokenPipe)),
  );
  const stderr = new OutputStream(process.stderr);
  // A user who watches both streams on one terminal sees the answer as it streams.
  const live = args.output === "text" && args.task === undefined && !args.quiet && process.stdout.isTTY === true;
  const progress = new ProgressLines(
    (text) => stderr.write(text),
    styleFor(process.stderr, args.color),
    process.stderr.columns || 100,
    { quiet: args.quiet, said: args.task !== undefined ? "gist" : live ? "nothing" : "whole" },
  );
  const report = turnReport(args.output, (text) => stdout.write(text), { live });
  const printing = new PrintedTurn(args, progress, stop.signal);
  const result = await printing.run(stdout, (item, state) => report.item(item, state));
  report.result(result);
  // The reader who closed the pipe needs no message.
  if (result.error && !stdout.gone) progress.problem(result.error.message);
  await Promise.all([stdout.flush(), stderr.flush()]);
  // Do not delay the result for closing servers, the store, or the telemetry collector (F102).
  const problem = await printing.close().then(() => undefined, reportedProblem);
  if (problem && !result.error) progress.problem(problem.message);
  await stderr.flush();
  await printing.send?.();
  if (stdout.gone) return exitCodes.brokenPipe;
  return result.exitCode === exitCodes.done && problem ? problem.exit : result.exitCode;
}

type OnItem = (item: FeedItem, state: ConversationState) => void;

class PrintedTurn {
  readonly #args: Arguments;
  readonly #progress: ProgressLines;
  readonly #signal: AbortSignal;
  /** Sends the last telemetry; absent before `close`. */
  send: (() => Promise<void>) | undefined;
  #closed: Promise<void> | undefined;
  #host: Host | undefined;
  #desk: OwnDesk | undefined;
  #session: TalkSession | undefined;
  #end: TurnEnd | undefined;
  readonly #denied: PrintResult["denied"][number][] = [];
  readonly #cacheMisses: PrintResult["cacheMisses"][number][] = [];

  constructor(args: Arguments, progress: ProgressLines, signal: AbortSignal) {
    this.#args = args;
    this.#progress = progress;
    this.#signal = signal;
  }

  /** Runs the turn at the reader's pace. Never rejects: an error becomes a result too. */
  async run(reader: OutputStream, onItem: OnItem): Promise<PrintResult> {
    try {
      await this.#takeTurn(reader, onItem);
      this.#signal.throwIfAborted();
      return this.#result(verdictOf(this.#end, this.#denied, this.#answer));
    } catch (error) {
      // The turn may still run: no output may follow the result. Report only the first error.
      await this.close().catch(() => {});
      const { exit, ...problem } = this.#signal.aborted
        ? (this.#signal.reason as StoppedError).problem
        : reportedProblem(error);
      const reason = this.#signal.aborted ? "interrupted" : exit === exitCodes.usage ? "usage" : "failed";
      return this.#result({ reason, exitCode: exit, error: problem });
    }
  }

  async #takeTurn(reader: OutputStream, onItem: OnItem): Promise<void> {
    const signal = this.#signal;
    const notice = (sentence: string) => this.#progress.notice(sentence);
    const prompt = await readPrintPrompt(this.#args, notice, signal);
    const { trust, task, until } = this.#args;
    const host = await openHost({
      ...hostOptions(this.#args, false, signal, trust),
      sending: (send) => {
        this.send = send;
      },
      ...outputOption(this.#args),
      notice: (sentence) => notice(plainLine(sentence)),
    });
    this.#host = host;
    for (const sentence of host.notices) notice(plainLine(sentence));
    const { mcp } = await host.ready();
    // Wait for starting tools, because there is only one turn.
    for (const sentence of mcp ? await waitForServers(mcp, signal) : []) notice(plainLine(sentence));
    if (!trust && untrustedContent(host.workspace).length > 0)
      notice("This project's settings and instructions are not used. --trust turns them on.");
    const message = await askedFor(prompt, host, signal);
    const defect = Promise.withResolvers<never>();
    defect.promise.catch(() => {}); // The race below reports it.
    const desk = new OwnDesk(host, defect.reject, "banyan --print");
    this.#desk = desk;
    const named = await openNamedSession(this.#args, host, { notice, open: (id) => desk.open(id) });
    const client = await desk.client({}, reader);
    const id = named.session?.id ?? (await client.ask("conversation.create", {})).conversation;
    const session = new TalkSession(client, await client.watch(id).loaded);
    this.#session = session;
    notice(host.model.reason);
    if (host.approval === "all") notice("APPROVAL IS OFF: every call runs without asking.");
    const turn: AfterCommand =
      message?.type === "command"
        ? turnIn(message, session, host.agent.name)
        : {
            type: "turn",
            directive: say(await printPromptParts(prompt, message?.said, host, notice, signal)),
            asIs: true,
          };
    if (turn.type !== "turn" || turn.directive.type === "stop") throw new Error("The command sent no message.");
    const { directive, at = named.at, agent, asIs, goal = until?.map((command) => `!${command}`) } = turn;
    // A named agent has its own model, unless the command line names one.
    const usual = agent === undefined ? host.model.name : this.#args.model;
    const model = message?.type === "prompt" ? (message.said.model ?? usual) : usual;
    signal.throwIfAborted();
    signal.addEventListener("abort", () => session.interrupt(undefined).catch(defect.reject), { once: true });
    const over = this.#follow(session, onItem);
    const mode = task === undefined ? "chat" : "task";
    const begun = session
      .turn(directive, { at, mode, model, agent, asIs, goal })
      .then((about) => attachedLines(about).forEach(notice));
    await Promise.race([defect.promise, Promise.all([over, begun])]);
    for (const { id, title } of runningProcesses(session.state))
      notice(plainLine(`Ending the background command ${id}, which is still running: ${title}`));
  }

  /** Shows the conversation until the turn has ended. Rejects if the feed fails. */
  #follow({ watched }: TalkSession, onItem: OnItem): Promise<void> {
    const over = Promise.withResolvers<void>();
    let run: string | undefined;
    const unfollow = watched.follow({
      item: (item) => {
        const { state } = watched;
        if (item.type === "run.started" && item.call === undefined) run = item.run;
        if (item.type === "call.denied") this.#denied.push({ tool: toolIn(state, item), reason: item.output });
        if (item.type === "message.completed" && item.cacheMiss) this.#cacheMisses.push(item.cacheMiss);
        onItem(item, state);
        this.#progress.item(item, state);
        if (item.type !== "run.ended" || item.run !== run) return;
        this.#end = item;
        const mayGoOn = item.reason === "answered" || item.reason === "finished";
        const continues = mayGoOn ? this.#desk?.continues(watched.id, item.leaf) : undefined;
        Promise.resolve(continues).then((more) => {
          if (more) return;
          unfollow();
          over.resolve();
        }, over.reject);
      },
      stands: () => over.reject(watched.problem),
    });
    return over.promise;
  }

  /** Closes the host once. Rejects with the first error. */
  close(): Promise<void> {
    const close = async () => {
      await this.#desk?.[Symbol.asyncDispose]();
      await this.#host?.close();
    };
    this.#closed ??= close();
    return this.#closed;
  }

  get #answer() {
    return this.#end && this.#session && lastResponse(this.#end, this.#session.state);
  }

  #result(verdict: Pick<PrintResult, "reason" | "exitCode" | "error">): PrintResult {
    const end = this.#end;
    const state = this.#session?.state;
    const { usage = noUsage, steps = 0, cost } = end?.spent ?? { cost: 0 };
    return {
      type: "result",
      ...verdict,
      text: end && state ? turnEndText(end, state) : "",
      conversation: this.#session?.id ?? null,
      model: this.#answer?.model ?? this.#host?.model.name ?? null,
      steps,
      usage,
      cacheMisses: this.#cacheMisses,
      cost: jsonCost(cost),
      duration: Math.round(performance.now()),
      denied: this.#denied,
    };
  }
}

interface PrintPrompt {
  readonly asked: string;
  readonly input: string;
}

/** Reads prompt argument and standard input; with both, the input is context. Rejects with `UsageError` without any. */
async function readPrintPrompt(
  args: Arguments,
  notice: (sentence: string) => void,
  signal: AbortSignal,
): Promise<PrintPrompt> {
  const prompt = args.prompt?.trim() === "-" ? "" : (args.prompt ?? "");
  const hasPrompt = prompt.trim() !== "";
  const input = await readStandardInput({ stream: process.stdin, optional: hasPrompt, notice, signal });
  const hasInput = input.trim() !== "";
  if (hasPrompt || hasInput) return { asked: hasPrompt ? prompt : "", input: hasInput ? input : "" };
  const command = ownCommand(args.task === undefined ? '-p "..."' : 'run "..."');
  const advice = `Add a prompt to the command, such as ${command}, or send a prompt to standard input.`;
  throw new UsageError(
    `There is no prompt to answer: ${process.stdin.isTTY ? "no prompt was given" : "the prompt is empty, and so is standard input"}. ${advice}`,
  );
}

/** The meaning of `/name` at the beginning of a prompt: a command for the open conversation, or the text of a prompt. */
type PromptMeaning =
  | { readonly type: "command"; readonly command: Action; readonly argument: string }
  | { readonly type: "prompt"; readonly said: PromptText };

/**
 * Resolves `/name` at the beginning of a prompt (C18); undefined for other text. Rejects with `UsageError` or
 * `PromptError` for an unknown command, and for a command that needs a chat.
 */
async function askedFor(
  { asked, input }: PrintPrompt,
  host: Host,
  signal: AbortSignal,
): Promise<PromptMeaning | undefined> {
  const line = slashIn(asked);
  if (!line) return undefined;
  const name = line.name.toLowerCase();
  const { prompts } = await listPrompts(host, 0, signal);
  if (actionNamed(name) === undefined || prompts.some((prompt) => prompt.name === name)) {
    const said = await expandSlashPrompt(host, asked, { signal });
    return said && { type: "prompt", said };
  }
  const command = actionNamed(name);
  // An action that a prompt can replace only sends a text.
  if (!command?.givesWay)
    throw new UsageError(`/${name} works in a chat only. Start ${ownCommand("")} and type it there.`);
  if (input !== "") throw new UsageError(`/${name} takes no standard input. Describe in words what to do with it.`);
  return { type: "command", command, argument: line.argument };
}

/** Throws `UsageError` for invalid arguments. */
function turnIn(
  { command, argument }: Extract<PromptMeaning, { type: "command" }>,
  session: Pick<TalkSession, "state">,
  agent: string,
): Extract<AfterCommand, { type: "turn" }> {
  const { state } = session;
  const place = {
    ...AT_OWN_DESK,
    state,
    leaf: state.leaf,
    run: undefined,
    agent,
    mode: "chat",
    say: inEnglish,
  } as const;
  try {
    const step = readAction(command, argument, place);
    if (step.type === "turn") return nextTurn(step);
  } catch (error) {
    if (error instanceof ActionRefusal) throw new UsageError(error.message, { cause: error });
    throw error;
  }
  throw new Error(`/${command.name} began no turn.`);
}

/** Attaches files only for names in the user's own text (B46) or a command's text, not in standard input. */
async function printPromptParts(
  { asked, input }: PrintPrompt,
  said: PromptText | undefined,
  host: Host,
  notice: (sentence: string) => void,
  signal: AbortSignal,
): Promise<UserPart[]> {
  const words = said?.parts.map((part) => (part.type === "text" ? part.text : "")).join("") ?? asked;
  const message = said?.asIs
    ? { parts: said.parts, attached: [], problems: [], isRedacted: false }
    : await writtenMessage(host, words, signal, { outside: true });
  const piped = host.redact(input);
  const isRedacted = message.isRedacted || piped !== input;
  for (const line of attachedLines({ ...message, isRedacted })) notice(line);
  if (asked === "") return [{ type: "text", text: piped }];
  const [text, ...others] = message.parts;
  const context = { type: "text", text: `Standard input:\n\n${piped}` } as const;
  return [...(text ? [text] : []), ...(input === "" ? [] : [context]), ...others];
}
