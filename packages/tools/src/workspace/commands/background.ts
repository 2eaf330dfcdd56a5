import type { Writable } from "node:stream";
import type { Question, ToolContext } from "@banyan/core";
import { callIn, isEnded } from "@banyan/core/conversation";
import { onAbort } from "@banyan/core/hosts";
import { WorkspaceError } from "../files/error.ts";
import { type CommandEnd, type CommandOptions, runShellCommand } from "./command.ts";
import { RunningCommands } from "./process-family.ts";
import { type AlwaysOpenPorts, type CommandPorts, PublishedPorts } from "./published-ports.ts";
import { TerminalScreen } from "./terminal-screen.ts";

const MOST = { conversation: 10, all: 50 };
const MOST_ENDED = 20;
/** UTF-16 units of output that are kept at least, and that one read returns. */
const KEPT = 256 * 1024;
const READ = 40_000;
/** UTF-16 units that may wait for a command that does not read its input. */
const MOST_UNREAD = 1024 * 1024;
/** The first output is complete after `quiet` milliseconds without output, or after `longest`. */
const FIRST = { quiet: 300, longest: 3000 };
/** The same for the output after an input. */
const ECHO = { quiet: 300, longest: 2000 };
/** Milliseconds between two looks at the ports of a running command. */
const PORT_PACE = 500;
const TITLE = 200;

/** A command to start in the background, and its folder. */
export interface BackgroundStart extends Omit<CommandOptions, "hurry" | "onInput" | "onOutput" | "signal"> {
  readonly command: string;
  /** The ports of the conversation's commands. Absent: none can be opened. */
  readonly ports?: CommandPorts | undefined;
  readonly redaction?: { push(text: string): string; end(): string } | undefined;
}

type CommandWork = Parameters<ToolContext["stay"]>[0];
type CommandWorkEnd = Awaited<CommandWork["over"]>;

type ProcessCaller = Pick<ToolContext, "conversation" | "signal">;

/**
 * The background commands of one workspace, which continue after their tool call, by conversation.
 * @example
 * const background = new BackgroundCommands();
 * new Agent({ model, tools: [shellTool(workspace, {}, background)] });
 */
export class BackgroundCommands {
  /** All running commands, including those in the foreground: they all end with the program. */
  readonly running = new RunningCommands();
  readonly ports: PublishedPorts;
  readonly #known = new Map<string, BackgroundCommand>();
  readonly #starting: string[] = [];

  /** `always`: the ports that a user always opens. Absent: users are asked each time. */
  constructor(always?: AlwaysOpenPorts) {
    this.ports = new PublishedPorts(always);
  }

  /**
   * Starts a command and waits for its first output. If the command has ended by then, returns the whole result; if
   * not, the command stays. Rejects if too many commands run, the command cannot start, or the conversation is closed.
   */
  async start(
    start: BackgroundStart,
    context: ProcessCaller & Pick<ToolContext, "ask" | "call" | "stay">,
  ): Promise<StartedCommand> {
    const { id } = context.conversation;
    // Check before the start: a cancelled command might finish its work first.
    context.signal.throwIfAborted();
    this.#checkRoom(id);
    this.#starting.push(id);
    try {
      const command = new BackgroundCommand(start, this.running);
      {
        using _ = onAbort(context.signal, () => command.end());
        await command.quiet(FIRST);
        await command.offerPorts(context.ask);
        if (context.signal.aborted || command.hasEnded) return { output: command.read(), end: await command.ended };
      }
      const name = await context.stay(command);
      this.#keep(id, name, command);
      command.watchPorts(context);
      return { output: command.read(), name, waiting: command.waiting(name), open: command.open() };
    } finally {
      this.#starting.splice(this.#starting.indexOf(id), 1);
    }
  }

  /** Asks about ports on which commands of the conversation began to listen since their start. */
  async offerPorts({ conversation, ask }: Pick<ToolContext, "conversation" | "ask">): Promise<void> {
    for (const [key, command] of this.#known) if (key.startsWith(`${conversation.id} `)) await command.offerPorts(ask);
  }

  /** Returns output from a position or since the last read. Waits up to `wait` milliseconds for more output. */
  async read(
    name: string,
    { from, wait = 0 }: { readonly from?: number | undefined; readonly wait?: number | undefined },
    { conversation, signal }: ProcessCaller,
  ): Promise<string> {
    const command = this.#of(conversation.id, name);
    if (wait > 0) await command.more(from ?? command.place, wait, signal);
    return `${command.read(from)}${command.standing(name)}`;
  }

  /** Writes to the standard input of a command. Returns the output that follows at once. */
  async write(name: string, text: string, end: boolean, { conversation, signal }: ProcessCaller): Promise<string> {
    const command = this.#of(conversation.id, name);
    if (command.hasEnded) throw new Error(`${name} has ended and takes no input any more.`);
    command.write(name, text, end);
    await command.quiet(ECHO, signal);
    return `${command.read()}${command.standing(name)}`;
  }

  async stop(name: string, { conversation }: ProcessCaller): Promise<string> {
    const command = this.#of(conversation.id, name);
    command.end(true);
    await command.over;
    return `${command.read()}${command.standing(name)}`;
  }

  list({ conversation }: ProcessCaller): string {
    const known = [...this.#known].filter(([key]) => key.startsWith(`${conversation.id} `));
    if (known.length === 0) return "No command runs in the background.";
    return known.map(([key, command]) => command.listed(key.slice(conversation.id.length + 1))).join("\n");
  }

  #of(conversation: string, name: string): BackgroundCommand {
    const command = this.#known.get(`${conversation} ${name}`);
    if (command) return command;
    throw new Error(
      `There is no command ${JSON.stringify(name.slice(0, 100))}. To list all commands, call processes without \`process\`.`,
    );
  }

  #checkRoom(conversation: string): void {
    const all = [...this.#known].filter(([, command]) => !command.hasEnded);
    const here = all.filter(([key]) => key.startsWith(`${conversation} `)).length;
    const starting = this.#starting.filter((id) => id === conversation).length;
    if (here + starting >= MOST.conversation)
      throw new Error(
        `${MOST.conversation} commands run in the background, which is the maximum. Stop one of them first.`,
      );
    if (all.length + this.#starting.length >= MOST.all)
      throw new Error(
        `${MOST.all} commands run in the background in all conversations together, which is the maximum. Stop one of them first.`,
      );
  }

  #keep(conversation: string, name: string, command: BackgroundCommand): void {
    this.#known.set(`${conversation} ${name}`, command);
    const ended = [...this.#known].filter(([, known]) => known.hasEnded);
    for (const [key] of ended.slice(0, Math.max(0, ended.length - MOST_ENDED))) this.#known.delete(key);
  }
}

/** A background command after its start: its name, or its result if it has ended. */
export type StartedCommand =
  | { readonly output: string; readonly name: string; readonly waiting: string; readonly open: string }
  | { readonly output: string; readonly end: CommandEnd };

class BackgroundCommand implements CommandWork {
  readonly over: Promise<CommandWorkEnd>;
  readonly ended: Promise<CommandEnd>;
  readonly #line: string;
  readonly #ports: CommandPorts | undefined;
  /** Addresses of this machine that lead to ports of the conversation's commands. */
  #addresses: readonly string[] = [];
  #renamed: () => Promise<void> = async () => {};
  readonly #stop = new AbortController();
  readonly #timeout: number | undefined;
  readonly #redaction: BackgroundStart["redaction"];
  /** The last part of the output, which may still change, like a progress bar (F82). */
  readonly #screen = new TerminalScreen();
  #text = "";
  #dropped = 0;
  #place = 0;
  #input: Writable | undefined;
  #isWaiting = () => false;
  #outcome: string | undefined;
  /** True if the model stopped the command or waits for its end. */
  #isKnown = false;
  readonly #waiting = new Set<() => void>();

  constructor({ command, redaction, timeout, ports, ...options }: BackgroundStart, running: RunningCommands) {
    this.#ports = ports;
    this.#redaction = redaction;
    const [line = ""] = command.trim().split("\n", 1);
    this.#line = line.length > TITLE ? `${line.slice(0, TITLE)} …` : line;
    this.#timeout = timeout;
    this.ended = runShellCommand(command, running, {
      ...options,
      timeout,
      signal: this.#stop.signal,
      onInput: (input, isWaiting) => {
        this.#input = input;
        this.#isWaiting = isWaiting;
      },
      onOutput: (_, written) => this.#print(this.#screen.push(written)),
    });
    this.over = this.ended.then(
      (end) => {
        this.#showRest();
        if (redaction) this.#text += redaction.end();
        return this.#settle(this.#outcomeOf(end));
      },
      (error: unknown) => this.#settle(error instanceof Error ? error.message.replace(/\.$/, "") : String(error)),
    );
    if (ports) this.over.then(() => ports.closeUnused()).catch(() => {});
  }

  /** The first line of the command, with the addresses of its open ports. */
  get title(): string {
    return this.#addresses.length === 0 ? this.#line : `${this.#line} (${this.#addresses.join(", ")})`;
  }

  stays(renamed: () => Promise<void>): void {
    this.#renamed = renamed;
  }

  /** Asks about the ports of the conversation's commands, while this command runs. */
  async offerPorts(ask: (question: Question) => Promise<string>): Promise<void> {
    if (this.hasEnded || this.#stop.signal.aborted || !this.#ports) return;
    const { title } = this;
    this.#addresses = await this.#ports.offer(ask);
    if (this.title !== title) await this.#renamed();
  }

  /** Asks about ports on which commands begin to listen after the call, until this command ends. */
  watchPorts({ ask, call, conversation }: Pick<ToolContext, "ask" | "call" | "conversation">): void {
    const ports = this.#ports;
    if (!ports || this.hasEnded) return;
    const life = new AbortController();
    const timer = setInterval(() => {
      // The end of a call closes its questions.
      const { status } = callIn(conversation, { call }) ?? {};
      if ((status && !isEnded(status)) || !ports.hasNew()) return;
      // After an error, such as that of a closed conversation, the port stays closed.
      this.offerPorts((question) => ask(question, life.signal)).catch(() => {});
    }, PORT_PACE);
    timer.unref();
    this.over
      .then(() => {
        clearInterval(timer);
        life.abort(new WorkspaceError("system", "the command has ended"));
      })
      .catch(() => {});
  }

  get hasEnded(): boolean {
    return this.#outcome !== undefined;
  }

  get place(): number {
    return this.#place;
  }

  end(isKnown = false): void {
    if (isKnown) this.#isKnown = true;
    this.#stop.abort(new WorkspaceError("system", "it was stopped"));
  }

  write(name: string, text: string, end: boolean): void {
    const input = this.#input;
    if (!input || input.destroyed || input.writableEnded) throw new Error(`The standard input of ${name} is closed.`);
    if (input.writableLength + text.length > MOST_UNREAD)
      throw new Error(`${name} does not read its standard input: earlier input still waits. Nothing was sent.`);
    if (text !== "") input.write(text);
    if (end) input.end();
  }

  /** Returns output since the last read, or from a position. Names omitted parts. */
  read(from?: number): string {
    this.#showRest();
    const end = this.#dropped + this.#text.length;
    const wanted = Math.min(from ?? this.#place, end);
    const first = Math.max(wanted, this.#dropped, from === undefined ? end - READ : 0);
    const last = Math.min(end, first + READ);
    if (from === undefined) this.#place = end;
    const text = this.#text.slice(first - this.#dropped, last - this.#dropped).toWellFormed();
    const before = first > wanted ? leftOut(wanted, first, this.#dropped) : "";
    const behind = last < end ? `\n[There is more: "from": ${last} continues.]` : "";
    return `${before}${text}${behind}`;
  }

  /** Returns the last line of a result: the state of the command. */
  standing(name: string): string {
    const line = this.#text === "" || this.#text.endsWith("\n") ? "" : "\n";
    return `${line}[${name} ${this.#outcome === undefined ? `runs${this.waiting(name)}` : `has ended: ${this.#outcome}`}]`;
  }

  listed(name: string): string {
    return `${name} ${this.#outcome === undefined ? `runs${this.waiting(name)}` : `has ended (${this.#outcome})`}: ${this.title}`;
  }

  /** Returns the part of a sentence about a command that waits for input (F80); empty if the command does not wait. */
  waiting(name: string): string {
    if (!this.#isWaiting()) return "";
    return `, and waits for input: write it with process_input, or end it with {"process":"${name}","typed":"","end":true}`;
  }

  /** Returns the part of a sentence about the open ports; empty if none is open. */
  open(): string {
    return this.#addresses.length === 0 ? "" : `, which the user can open at ${this.#addresses.join(", ")}`;
  }

  async more(from: number, longest: number, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + longest;
    const hasMore = () => {
      this.#showRest();
      return this.#dropped + this.#text.length > from;
    };
    while (!this.hasEnded && !hasMore() && !signal.aborted) {
      const left = deadline - performance.now();
      if (left <= 0) return;
      await this.#change(left, signal);
      if (this.hasEnded) this.#isKnown = true;
    }
  }

  /** Waits until the output pauses after some text, or the command ends. */
  async quiet(
    { quiet, longest }: { readonly quiet: number; readonly longest: number },
    signal?: AbortSignal,
  ): Promise<void> {
    const deadline = performance.now() + longest;
    for (let isFirst = true; !this.hasEnded && !signal?.aborted; isFirst = false) {
      const left = deadline - performance.now();
      if (left <= 0) return;
      if (!(await this.#change(isFirst ? left : Math.min(quiet, left), signal))) return;
    }
  }

  async #change(longest: number, signal?: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), longest);
    const changed = () => resolve(true);
    using _ = onAbort(signal, () => resolve(false));
    this.#waiting.add(changed);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(changed);
    }
  }

  #print(text: string): void {
    this.#text += this.#redaction ? this.#redaction.push(text) : text;
    if (this.#text.length > 2 * KEPT) {
      this.#dropped += this.#text.length - KEPT;
      this.#text = this.#text.slice(-KEPT);
    }
    for (const wake of this.#waiting) wake();
  }

  #showRest(): void {
    const text = this.#screen.take();
    if (text !== "") this.#print(text);
  }

  #settle(outcome: string): CommandWorkEnd {
    this.#outcome = outcome;
    for (const wake of this.#waiting) wake();
    return { outcome, ...(this.#isKnown && { known: true }) };
  }

  #outcomeOf(end: CommandEnd): string {
    switch (end.type) {
      case "exited":
        return `exit code ${end.code}`;
      case "timed-out":
        return `it was ended after ${this.#timeout} ms`;
      case "lost":
        return "its sandbox ended before it";
      case "cancelled":
        return "it was stopped";
    }
  }
}

function leftOut(from: number, to: number, dropped: number): string {
  if (from < dropped) return `[... ${to - from} characters dropped: only the end of the output is kept ...]\n`;
  return `[... ${to - from} characters left out; "from": ${from} reads them ...]\n`;
}
