import { ModelError, type Tool, type ToolContext } from "@banyan/core";
import type { FileChange } from "@banyan/core/conversation";
import type { TurnSink } from "@banyan/core/drivers";
import { orAborted } from "@banyan/core/hosts";
import { cutTo, visibleLine } from "@banyan/core/shown";
import type { ForeignCall, ForeignChanges } from "@banyan/tools/workspace";
import { type AgentCall, agentCallTool } from "./their-call.ts";

/** Maximum characters of an act in its description. */
const LONGEST_ACT = 200;

/**
 * ```
 * told ──▶ open ──▶ running ──▶ over        the response is complete; the agent runs the call; the call has its result
 *            ╰────▶ judged  ──▶ over        rules and the user decide, and the agent runs the call if allowed
 * ```
 */
export type CallState = "told" | "open" | "running" | "judged" | "over";

/** A call of an agent in the conversation, which gives the call exactly one result. */
export class LiveCall {
  readonly told: AgentCall;
  readonly #sink: TurnSink;
  readonly #changes: ForeignChanges | undefined;
  readonly #noted: ForeignCall | undefined;
  #state: CallState = "told";
  /** Id of the call in the conversation. */
  #ours = "";
  /** Tool name of the call in the conversation. */
  #name = "";
  /** Output shown so far. */
  #shown = "";
  /** Set while an allowed call runs. */
  #context: ToolContext | undefined;
  readonly #end = Promise.withResolvers<void>();
  /** Acts of the call when the agent asked for permission. */
  #asked: ReadonlySet<string> = new Set();
  #executed: Promise<unknown> | undefined;
  #isSettled = false;
  /** Cancels a pending decision. */
  readonly #takenBack = new AbortController();

  constructor(told: AgentCall, sink: TurnSink, changes: ForeignChanges | undefined, noted = changes?.begin()) {
    this.told = told;
    this.#sink = sink;
    this.#changes = changes;
    this.#noted = noted;
    // Not every call awaits this promise.
    this.#end.promise.catch(() => {});
  }

  /** The agent's id of the call. */
  get id(): string {
    return this.told.id;
  }

  get state(): CallState {
    return this.#state;
  }

  /** The response with this call is complete, and recorded the call under this id and tool name. */
  opened(ours: string, name: string): void {
    this.#ours = ours;
    this.#name = name;
    this.#state = "open";
  }

  /** True if the call is recorded under another tool name than the agent's latest update implies. */
  get isRenamed(): boolean {
    return this.#state === "open" && this.#name !== this.told.tool;
  }

  /** Closes this call, and returns a new call with the same agent id for later updates. */
  replace(): LiveCall {
    this.#state = "over";
    return new LiveCall(this.told, this.#sink, this.#changes, this.#noted);
  }

  /** Records the current contents of files that the call may change. */
  async note(): Promise<void> {
    for (const path of this.told.changing) await this.#noted?.note(path);
  }

  /** The call runs without asking for permission. */
  async begin(): Promise<void> {
    this.#state = "running";
    await this.#sink.started(this.#ours, { ...this.told.about, folder: this.told.folder });
  }

  /** Shows the output since the last update. */
  progress(): void {
    const { output } = this.told;
    const isMore = output.startsWith(this.#shown);
    const text = isMore ? output.slice(this.#shown.length) : `\n${output}`;
    if (text === "" || (this.#state === "judged" && !this.#context)) return;
    this.#shown = output;
    if (this.#context) this.#context.progress(text);
    else this.#sink.progress(this.#ours, text);
  }

  /** The agent reports the end of the call. Rejects if rules do not allow what the agent did without permission. */
  async end(): Promise<void> {
    if (this.#state === "over") return this.#afterNo();
    const isJudged = this.#state === "judged";
    this.#state = "over";
    const isUnanswered = isJudged && !this.#context;
    // Cancel the pending decision: the agent went on without waiting for it.
    if (isUnanswered) this.#takenBack.abort(new Error("the agent went on without an answer"));
    const changed = await this.#noteChanges(isUnanswered);
    // A failed call may be one that the agent itself refused, so only changes prove that the call ran.
    const isDone = this.told.status === "completed" || changed > 0;
    const { output } = this.told;
    if (!isJudged) await this.#sink.ended(this.#ours, { output, failed: this.told.status === "failed" });
    if (isDone) await this.#judgeLate();
    if (isJudged) this.#end.resolve();
  }

  /** The turn ended without a result of this call. Rejects like `end`. */
  async leave(): Promise<void> {
    const { output } = this.told;
    const untold = `${output}${output && "\n"}[The agent ended its turn without a result of this call.]`;
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

  /** Lets rules judge what the agent did without permission: the whole call, or acts beyond the permission. */
  async #judgeLate(): Promise<void> {
    if (this.#context && comparableActs(this.told).every((act) => this.#asked.has(act))) return;
    const execute = () => {
      throw new Error("The agent has run this call already.");
    };
    const { command, url, paths = [], title = "" } = this.told.about;
    const act = command ?? (paths.map(({ path }) => path).join(", ") || (url ?? title));
    const description = cutTo(visibleLine(act), LONGEST_ACT);
    await this.#sink.unasked(this.#ours, agentCallTool(this.told, { execute, description }), this.told.input);
  }

  /** The agent ends a denied call. Rejects if the agent changed files despite the denial. */
  async #afterNo(): Promise<void> {
    if (!this.#executed || this.#context || this.#isSettled) return;
    this.#isSettled = true;
    const changes = (await this.#noted?.settle(this.told.diffs)) ?? [];
    const files = changes.map(({ path }) => path).join(", ");
    if (files !== "") throw new ModelError("provider", `${this.told.agent} got a denial, and changed ${files} anyway.`);
  }

  /** The agent is gone: rejects a pending result and cancels a pending decision. */
  drop(): void {
    this.#end.reject(new Error("the agent is gone"));
    this.#takenBack.abort(new Error("the agent is gone"));
  }

  /** Lets rules and the user decide about the call, and runs `tool` if allowed. Resolves when the call has its result. */
  execute(tool: Tool, signal: AbortSignal): Promise<unknown> {
    this.#state = "judged";
    this.#asked = new Set(comparableActs(this.told));
    const until = AbortSignal.any([signal, this.#takenBack.signal]);
    const executed = this.#sink.execute(this.#ours, tool, until).finally(() => {
      this.#state = "over";
    });
    this.#executed = executed.catch(() => {});
    return executed;
  }

  /** Resolves with the agent's output for an allowed call. Rejects if the call failed or was aborted. */
  async result(context: ToolContext): Promise<string> {
    this.#context = context;
    await orAborted(this.#end.promise, context.signal);
    if (this.told.status === "failed") throw new Error(this.told.output || "it gives no reason");
    return this.told.output;
  }

  /** Records the files that the call changed, and returns their count. A call without a decision (`isCounted`) only counts. */
  async #noteChanges(isCounted = false): Promise<number> {
    this.#isSettled = true;
    const changes = (await this.#noted?.settle(this.told.diffs)) ?? [];
    if (isCounted) return changes.length;
    const unnamed = this.told.effects === "none" ? [] : ((await this.#changes?.unnamed()) ?? []);
    for (const change of [...changes, ...unnamed]) await this.#sink.changed(this.#ours, change);
    // Changes that the call does not name are not counted: a user may have made them.
    return changes.length;
  }

  /** The turn breaks off: records what the call has changed so far. */
  async breakOff(): Promise<void> {
    if (this.#state === "running" || (this.#state === "judged" && this.#context)) await this.#noteChanges();
  }

  /** Records `changes` as made by this call, and ends the call. */
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

/** Acts and files of a call as comparable strings. */
function comparableActs({ about: { command, url, paths = [] } }: AgentCall): readonly string[] {
  const files = paths.map(({ path, access }) => `${access} ${path}`);
  return [...(command === undefined ? [] : [`run ${command}`]), ...(url === undefined ? [] : [`ask ${url}`]), ...files];
}
