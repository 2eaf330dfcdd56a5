import { ModelError, type Tool, type ToolContext } from "@banyan/core";
import type { FileChange } from "@banyan/core/conversation";
import type { TurnSink } from "@banyan/core/drivers";
import { cutTo, visibleLine } from "@banyan/core/shown";
import type { ForeignCall, ForeignChanges } from "@banyan/tools/workspace";
import { type TheirCall, theirTool } from "./their-call.ts";

/** Characters of an act in the sentence about it. */
const LONGEST_ACT = 200;

/**
 * ```
 * told ──▶ open ──▶ running ──▶ over        its response is complete; it runs on the agent's side; it has its result
 *            ╰────▶ judged  ──▶ over        our rules and our person decide about it, and it runs if they say so
 * ```
 */
export type CallState = "told" | "open" | "running" | "judged" | "over";

/** A call of an agent on its way through our tree, where it gets exactly one result. */
export class LiveCall {
  readonly told: TheirCall;
  readonly #sink: TurnSink;
  readonly #changes: ForeignChanges | undefined;
  readonly #noted: ForeignCall | undefined;
  #state: CallState = "told";
  /** Its id in our tree. */
  #ours = "";
  /** The name of its tool in our tree. */
  #name = "";
  /** What was shown of its output. */
  #shown = "";
  /** While it runs with leave. */
  #context: ToolContext | undefined;
  readonly #end = Promise.withResolvers<void>();
  /** The call as the agent asked for permission. */
  #asked: ReadonlySet<string> = new Set();
  #executed: Promise<unknown> | undefined;
  #isSettled = false;
  /** Takes back what is being decided about. */
  readonly #takenBack = new AbortController();

  constructor(told: TheirCall, sink: TurnSink, changes: ForeignChanges | undefined, noted = changes?.begin()) {
    this.told = told;
    this.#sink = sink;
    this.#changes = changes;
    this.#noted = noted;
    // Not every call waits for its end.
    this.#end.promise.catch(() => {});
  }

  /** As the agent calls it. */
  get id(): string {
    return this.told.id;
  }

  get state(): CallState {
    return this.#state;
  }

  /** Its response is complete, with the call under this id and this name of its tool. */
  opened(ours: string, name: string): void {
    this.#ours = ours;
    this.#name = name;
    this.#state = "open";
  }

  /** Whether its response names another tool than what the agent tells by now. */
  get isRenamed(): boolean {
    return this.#state === "open" && this.#name !== this.told.tool;
  }

  /** Gives it up for another one of the same id: nothing more is told of it. */
  replace(): LiveCall {
    this.#state = "over";
    return new LiveCall(this.told, this.#sink, this.#changes, this.#noted);
  }

  /** Keeps what stands in the files that it may be about to change. */
  async note(): Promise<void> {
    for (const path of this.told.changing) await this.#noted?.note(path);
  }

  /** It runs without asking. */
  async begin(): Promise<void> {
    this.#state = "running";
    await this.#sink.started(this.#ours, { ...this.told.about, folder: this.told.folder });
  }

  /** Shows what it has said since the last time. */
  progress(): void {
    const { output } = this.told;
    const isMore = output.startsWith(this.#shown);
    const text = isMore ? output.slice(this.#shown.length) : `\n${output}`;
    if (text === "" || (this.#state === "judged" && !this.#context)) return;
    this.#shown = output;
    if (this.#context) this.#context.progress(text);
    else this.#sink.progress(this.#ours, text);
  }

  /** The agent says that it is over. Rejects when a rule denies or asks about what the agent did without leave. */
  async end(): Promise<void> {
    if (this.#state === "over") return this.#afterNo();
    const isJudged = this.#state === "judged";
    this.#state = "over";
    const isUnanswered = isJudged && !this.#context;
    // Nobody has decided yet, and it is too late.
    if (isUnanswered) this.#takenBack.abort(new Error("the agent went on without an answer"));
    const changed = await this.#noteChanges(isUnanswered);
    // An agent that refuses its own call says that the call failed.
    const isDone = this.told.status === "completed" || changed > 0;
    const { output } = this.told;
    if (!isJudged) await this.#sink.ended(this.#ours, { output, failed: this.told.status === "failed" });
    if (isDone) await this.#judgeLate();
    if (isJudged) this.#end.resolve();
  }

  /** The turn is over, and the agent has said nothing of how this ended. Rejects as `end` does. */
  async leave(): Promise<void> {
    const { output } = this.told;
    const untold = `${output}${output && "\n"}[The agent ended its turn and told no result of this.]`;
    switch (this.#state) {
      case "running": {
        this.#state = "over";
        const changed = await this.#noteChanges();
        await this.#sink.ended(this.#ours, { output: untold, failed: true });
        if (changed > 0) await this.#judgeLate();
        return;
      }
      case "judged":
        this.#state = "over";
        if (!this.#context) return this.#takenBack.abort(new Error("the agent ended its turn without an answer"));
        await this.#noteChanges();
        this.#end.reject(new Error(untold));
        await this.#executed;
    }
  }

  /** Has rules judge what the agent did without leave: all of the call, or more than the agent asked leave for. */
  async #judgeLate(): Promise<void> {
    if (this.#context && actsOf(this.told).every((act) => this.#asked.has(act))) return;
    const execute = () => {
      throw new Error("The agent has run this call already.");
    };
    const { command, url, paths = [], title = "" } = this.told.about;
    const act = command ?? (paths.map(({ path }) => path).join(", ") || (url ?? title));
    const description = cutTo(visibleLine(act), LONGEST_ACT);
    await this.#sink.unasked(this.#ours, theirTool(this.told, { execute, description }), this.told.input);
  }

  /** The agent was told no, and says that the call is over. Rejects when it changed files all the same. */
  async #afterNo(): Promise<void> {
    if (!this.#executed || this.#context || this.#isSettled) return;
    this.#isSettled = true;
    const changes = (await this.#noted?.settle(this.told.diffs)) ?? [];
    const files = changes.map(({ path }) => path).join(", ");
    if (files !== "")
      throw new ModelError("provider", `${this.told.agent} was told no, and changed ${files} all the same.`);
  }

  /** Nothing more is told of it. */
  drop(): void {
    this.#end.reject(new Error("the agent is gone"));
    this.#takenBack.abort(new Error("the agent is gone"));
  }

  /** Has it decided about, and run where that is allowed: `tool` says how. Resolves when it has its result. */
  execute(tool: Tool, signal: AbortSignal): Promise<unknown> {
    this.#state = "judged";
    this.#asked = new Set(actsOf(this.told));
    const until = AbortSignal.any([signal, this.#takenBack.signal]);
    const executed = this.#sink.execute(this.#ours, tool, until).finally(() => {
      this.#state = "over";
    });
    this.#executed = executed.catch(() => {});
    return executed;
  }

  /** It was allowed: resolves with what the agent tells of it, rejects when it failed. */
  async result(context: ToolContext): Promise<string> {
    this.#context = context;
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(context.signal.reason);
    if (context.signal.aborted) abort();
    else context.signal.addEventListener("abort", abort, { once: true });
    try {
      await Promise.race([this.#end.promise, aborted.promise]);
    } finally {
      context.signal.removeEventListener("abort", abort);
    }
    if (this.told.status === "failed") throw new Error(this.told.output || "it says no more");
    return this.told.output;
  }

  /** Returns how many files the call has changed. A call without a place in the tree any more only counts them. */
  async #noteChanges(isCounted = false): Promise<number> {
    this.#isSettled = true;
    const changes = (await this.#noted?.settle(this.told.diffs)) ?? [];
    if (isCounted) return changes.length;
    const unnamed = this.told.effects === "none" ? [] : ((await this.#changes?.unnamed()) ?? []);
    for (const change of [...changes, ...unnamed]) await this.#sink.changed(this.#ours, change);
    // A user may have changed what the call does not name.
    return changes.length;
  }

  /** The turn breaks off: what the call has changed so far stands with it. */
  async breakOff(): Promise<void> {
    if (this.#state === "running" || (this.#state === "judged" && this.#context)) await this.#noteChanges();
  }

  /** Gives the call changes that it stands for, and its end. */
  async record(changes: readonly FileChange[]): Promise<void> {
    await this.begin();
    this.#state = "over";
    for (const change of changes) await this.#sink.changed(this.#ours, change);
    await this.#sink.ended(this.#ours, {
      output: `Changed ${changes.map(({ path }) => path).join(", ")}.`,
      failed: false,
    });
  }
}

/** The acts and files of a call, as texts that can be compared. */
function actsOf({ about: { command, url, paths = [] } }: TheirCall): readonly string[] {
  const files = paths.map(({ path, access }) => `${access} ${path}`);
  return [...(command === undefined ? [] : [`run ${command}`]), ...(url === undefined ? [] : [`ask ${url}`]), ...files];
}
