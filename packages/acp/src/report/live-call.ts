import type { Tool, ToolContext } from "@banyan/core";
import type { TurnSink } from "@banyan/core/drivers";
import type { ForeignCall } from "@banyan/tools/workspace";
import type { TheirCall } from "./their-call.ts";

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
  readonly #noted: ForeignCall | undefined;
  #state: CallState = "told";
  /** Its id in our tree. */
  #ours = "";
  /** What was shown of its output. */
  #shown = "";
  /** While it runs with leave. */
  #context: ToolContext | undefined;
  readonly #end = Promise.withResolvers<void>();
  /** Takes back what is being decided about. */
  readonly #takenBack = new AbortController();

  constructor(told: TheirCall, sink: TurnSink, noted: ForeignCall | undefined) {
    this.told = told;
    this.#sink = sink;
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

  /** Its response is complete. */
  opened(ours: string): void {
    this.#ours = ours;
    this.#state = "open";
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

  /** The agent says that it is over. */
  async end(): Promise<void> {
    const isJudged = this.#state === "judged";
    this.#state = "over";
    if (isJudged && !this.#context) {
      // Nobody has decided yet, and it is too late.
      this.#takenBack.abort(new Error("the agent went on without an answer"));
      return;
    }
    await this.#noteChanges();
    if (isJudged) this.#end.resolve();
    else await this.#sink.ended(this.#ours, { output: this.told.output, failed: this.told.status === "failed" });
  }

  /** The turn is over, and the agent has said nothing of how this ended. */
  async leave(): Promise<void> {
    const { output } = this.told;
    const untold = `${output}${output && "\n"}[The agent ended its turn and told no result of this.]`;
    switch (this.#state) {
      case "running":
        this.#state = "over";
        await this.#noteChanges();
        await this.#sink.ended(this.#ours, { output: untold, failed: true });
        return;
      case "judged":
        this.#state = "over";
        if (!this.#context) return this.#takenBack.abort(new Error("the agent ended its turn without an answer"));
        await this.#noteChanges();
        this.#end.reject(new Error(untold));
        await this.#executed;
    }
  }

  /** Nothing more is told of it. */
  drop(): void {
    this.#end.reject(new Error("the agent is gone"));
    this.#takenBack.abort(new Error("the agent is gone"));
  }

  #executed: Promise<unknown> | undefined;

  /** Has it decided about, and run where that is allowed: `tool` says how. Resolves when it has its result. */
  execute(tool: Tool, signal: AbortSignal): Promise<unknown> {
    this.#state = "judged";
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

  async #noteChanges(): Promise<void> {
    for (const change of (await this.#noted?.settle(this.told.diffs)) ?? [])
      await this.#sink.changed(this.#ours, change);
  }
}
