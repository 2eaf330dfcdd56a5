import { createId, type Session, type UserPart } from "@banyan/core";
import { type CommandRun, type Host, runPersonsCommand } from "@banyan/host";
import { counted, formatDuration } from "../show/amounts.ts";
import type { FeedView } from "../terminal/feed-view.ts";
import type { Standpoint } from "./standpoint.ts";

/** Where commands run, and what becomes of them. */
export interface OwnCommandsOptions {
  readonly host: Pick<Host, "redact" | "workspace">;
  readonly view: FeedView;
  readonly standpoint: Standpoint;
  /** The conversation, begun if there is none yet. */
  open(): Promise<Session>;
  /** Whether the agent works. */
  isWorking(): boolean;
}

/** Lines of an output that are shown. */
const MOST_LINES = 2_000;

/** Commands that a person runs: the model gets the output of `!command`, and knows nothing of `!!command` (T17). */
export class OwnCommands {
  readonly #options: OwnCommandsOptions;
  readonly #running = new Set<AbortController>();

  constructor(options: OwnCommandsOptions) {
    this.#options = options;
  }

  /** Runs a line that begins with `!`. Rejects when the shell cannot be started. */
  async run(line: string): Promise<void> {
    const { host, view } = this.#options;
    const [, signs = "", command = ""] = /^(!!?)\s*(.*)$/s.exec(line.trim()) ?? [];
    if (command === "") return view.note("Write a command behind it, as in !git status; !! keeps it from the agent.");
    const stop = new AbortController();
    const output = new OutputLines((text) => view.line(text));
    const since = Date.now();
    this.#running.add(stop);
    using _ = view.busyWith(`running ${command}`);
    try {
      const { end, parts } = await runPersonsCommand(host, command, {
        signal: stop.signal,
        onOutput: (text) => output.push(text),
      });
      output.end();
      if (signs === "!") await this.#add(parts);
      const known = signs === "!" ? "the agent gets it with what you say next" : "the agent does not get it";
      view.note(`${wordFor(end)}, ${formatDuration(Date.now() - since)}; ${known}`);
    } finally {
      this.#running.delete(stop);
    }
  }

  /** The model is told with what is said next; at once, while it works. */
  async #add(parts: readonly UserPart[]): Promise<void> {
    const { open, standpoint, isWorking } = this.#options;
    const session = await open();
    if (isWorking()) return void (await session.say(parts));
    const [message, parentId] = [createId(), standpoint.below];
    const added = { type: "message.added", message, parentId, role: "user", author: "user", parts } as const;
    await session.commit([added], { durable: true });
    standpoint.standAt(message);
  }

  /** Ends what runs. Answers whether there was anything. */
  stop(): boolean {
    const isRunning = this.#running.size > 0;
    for (const stop of this.#running) stop.abort();
    return isRunning;
  }
}

function wordFor(end: CommandRun["end"]): string {
  if (end.type !== "exited") return "stopped";
  return end.code === 0 ? "done" : `exit code ${end.code}`;
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
