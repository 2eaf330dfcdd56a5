import type { UserPart } from "@banyan/core";
import { counted, formatTook } from "@banyan/core/shown";
import { type CommandPlace, type CommandRun, runPersonsCommand } from "@banyan/host";
import { problemOf } from "../../problem.ts";
import { oneLine } from "../../show/plain-text.ts";
import type { FeedView } from "../../terminal/feed-view.ts";

/** Where commands run, and what becomes of them. */
export interface OwnCommandsOptions {
  readonly place: CommandPlace;
  readonly view: FeedView;
  /** Adds the command and its output to the conversation, begun if there is none yet. */
  add(parts: readonly UserPart[]): Promise<void>;
}

/** Lines of an output that are shown. */
const MOST_LINES = 2_000;
/** As many characters of a line that does not end are a line of their own, so that they need not be kept. */
const PIECE = /.{2000}/gsu;

/** Commands that a person runs: the model gets the output of `!command`, and knows nothing of `!!command` (T17). */
export class OwnCommands {
  readonly #options: OwnCommandsOptions;
  readonly #running = new Set<{
    readonly stop: AbortController;
    /** For one that does not hear that it is to stop. */
    readonly hurry: AbortController;
  }>();

  constructor(options: OwnCommandsOptions) {
    this.#options = options;
  }

  /** Runs a line that begins with `!`. Rejects when the shell cannot be started. */
  async run(line: string): Promise<void> {
    const { place, view, add } = this.#options;
    const [, signs = "", command = ""] = /^(!!?)\s*(.*)$/s.exec(line.trim()) ?? [];
    if (command === "")
      return view.note("Type a command after it, such as !git status. With !! the agent does not see it.");
    const since = Date.now();
    const { end, parts } = await this.#execute(command);
    const took = formatTook(Date.now() - since);
    const where = place.isElsewhere ? `, here in ${oneLine(place.directory)}` : "";
    // It has run: when the agent cannot be told, it is not to be run again.
    const known = signs === "!" ? await add(parts).then(() => TOLD, untold) : "The agent does not see this.";
    view.note(`${wordFor(end)}${took}${where}. ${known}`);
  }

  async #execute(command: string): Promise<CommandRun> {
    const { place, view } = this.#options;
    const running = { stop: new AbortController(), hurry: new AbortController() };
    const output = new OutputLines((text) => view.line(text));
    this.#running.add(running);
    using _ = view.busyWith(`running ${command}`);
    try {
      return await runPersonsCommand(place, command, {
        signal: running.stop.signal,
        hurry: running.hurry.signal,
        onOutput: (text) => output.push(text),
      });
    } finally {
      output.end();
      this.#running.delete(running);
    }
  }

  /** Ends what runs, and what was to end before, at once (T3). Returns whether there was anything. */
  stop(): boolean {
    const deaf = [...this.#running].filter(({ stop }) => stop.signal.aborted);
    for (const { stop } of this.#running) stop.abort();
    for (const { hurry } of deaf) hurry.abort();
    if (deaf.length > 0) this.#options.view.note("Killing the commands that are still running.");
    return this.#running.size > 0;
  }
}

const TOLD = "The agent sees this with your next message.";

function untold(error: unknown): string {
  return `The agent does not see this: ${oneLine(problemOf(error).message)}`;
}

function wordFor(end: CommandRun["end"]): string {
  if (end.type !== "exited") return "Stopped";
  return end.code === 0 ? "Done" : `Exit code ${end.code}`;
}

/** Hands an output on line by line; of one that does not end, the first lines. */
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
