import { formatTook } from "@banyan/client/words";
import type { UserPart } from "@banyan/core";
import { counted } from "@banyan/core/shown";
import { type CommandRun, runUserCommand, type UserCommandContext } from "@banyan/host";
import { reportedProblem } from "../../program/problem.ts";
import { plainLine } from "../../show/plain-text.ts";
import type { FeedView } from "../../terminal/questions/feed-view.ts";

export interface OwnCommandsOptions {
  readonly context: UserCommandContext;
  readonly view: FeedView;
  /** Returns the folder of the worktree in which the user's branch works, if there is one on this machine. */
  worktree(): Promise<string | undefined>;
  /** Adds the command and its output to the conversation, and begins the conversation if needed. */
  add(parts: readonly UserPart[]): Promise<void>;
}

const MOST_LINES = 2_000;
/** Longer lines are split at this length, so that whole lines need not be kept. */
const PIECE = /.{2000}/gsu;

/** Runs the user's shell commands. The model gets the output of `!command`, but not of `!!command` (T17). */
export class OwnCommands {
  readonly #options: OwnCommandsOptions;
  readonly #running = new Set<{
    readonly stop: AbortController;
    readonly hurry: AbortController;
  }>();

  constructor(options: OwnCommandsOptions) {
    this.#options = options;
  }

  /** Runs a line that begins with `!`. Rejects if the shell cannot be started. */
  async run(line: string): Promise<void> {
    const { view, add } = this.#options;
    const [, signs = "", command = ""] = /^(!!?)\s*(.*)$/s.exec(line.trim()) ?? [];
    if (command === "")
      return view.note("Type a command after the !, such as !git status. The agent does not see a command after !!.");
    const since = Date.now();
    const context = await this.#context();
    const { end, parts } = await this.#execute(command, context);
    const took = formatTook(Date.now() - since);
    const isSaid = context.isElsewhere || context.directory !== this.#options.context.directory;
    const where = isSaid ? `, ${context.isElsewhere ? "here " : ""}in ${plainLine(context.directory)}` : "";
    // The command has run: a failure to tell the agent must not look like a failed command.
    const known =
      signs === "!"
        ? await add(parts).then(
            () => TOLD,
            (error) => `The agent could not be told about the command: ${plainLine(reportedProblem(error).message)}`,
          )
        : "The agent does not see the command.";
    view.note(`${wordFor(end)}${took}${where}. ${known}`);
  }

  /** The folder of commands: the worktree of the user's branch, or else Banyan's own folder. */
  async #context(): Promise<UserCommandContext> {
    const { context, worktree } = this.#options;
    const folder = await worktree();
    return folder === undefined ? context : { ...context, directory: folder, isElsewhere: false };
  }

  async #execute(command: string, context: UserCommandContext): Promise<CommandRun> {
    const { view } = this.#options;
    const running = { stop: new AbortController(), hurry: new AbortController() };
    const output = new OutputLines((text) => view.line(text));
    this.#running.add(running);
    using _ = view.busyWith(`running ${command}`);
    try {
      return await runUserCommand(context, command, {
        signal: running.stop.signal,
        hurry: running.hurry.signal,
        onOutput: (text) => output.push(text),
      });
    } finally {
      output.end();
      this.#running.delete(running);
    }
  }

  /** Ends running commands; kills those that were already told to end (T3). Returns whether any was running. */
  stop(): boolean {
    const deaf = [...this.#running].filter(({ stop }) => stop.signal.aborted);
    for (const { stop } of this.#running) stop.abort();
    for (const { hurry } of deaf) hurry.abort();
    if (deaf.length > 0) this.#options.view.note("Killing the commands that are still running.");
    return this.#running.size > 0;
  }
}

const TOLD = "The agent sees the output with your next message.";

function wordFor(end: CommandRun["end"]): string {
  if (end.type !== "exited") return "Stopped";
  return end.code === 0 ? "Done" : `Exit code ${end.code}`;
}

class OutputLines {
  readonly #show: (line: string) => void;
  #partial = "";
  #count = 0;

  constructor(show: (line: string) => void) {
    this.#show = show;
  }

  push(text: string): void {
    const lines = (this.#partial + text).split("\n");
    this.#partial = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
    for (const piece of this.#partial.match(PIECE) ?? []) {
      this.#line(piece);
      this.#partial = this.#partial.slice(piece.length);
    }
  }

  end(): void {
    if (this.#partial !== "") this.#line(this.#partial);
    if (this.#count > MOST_LINES) this.#show(`… (${counted(this.#count - MOST_LINES, "more line")})`);
  }

  #line(line: string): void {
    this.#count++;
    if (this.#count <= MOST_LINES) this.#show(line.replaceAll("\t", "    "));
  }
}
