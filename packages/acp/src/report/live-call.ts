import { ModelError, type Tool, type ToolContext } from "@banyan/core";
import type { FileChange } from "@banyan/core/conversation";
import type { TurnSink } from "@banyan/core/drivers";
import { orAborted } from "@banyan/core/hosts";
import { cutTo, visibleLine } from "@banyan/core/shown";
import type { ForeignCall, ForeignChanges } from "@banyan/tools/workspace";
import { type AgentCall, agentCallTool } from "./agent-call.ts";

/** Maximum characters of a command, path or URL in a description. */
const LONGEST_ACT = 200;

/**
 * State of an agent's call. `announced`: the response with the call is not complete. `open`: the conversation has recorded
 * the call. `running`: the agent runs the call without asking. `judged`: rules or the user decide about the call.
 * `over`: the call has its result.
 */
export type CallState = "announced" | "open" | "running" | "judged" | "over";

/** An agent's call as the conversation records it. The call gets exactly one result. */
export class LiveCall {
  readonly agentCall: AgentCall;
  readonly #sink: TurnSink;
  readonly #changes: ForeignChanges | undefined;
  readonly #noted: ForeignCall | undefined;
  #state: CallState = "announced";
  #ours = "";
  #name = "";
  #shown = "";
  #context: ToolContext | undefined;
  readonly #end = Promise.withResolvers<void>();
  /** Commands, files and URLs of the call when the agent asked for permission. */
  #asked: ReadonlySet<string> = new Set();
  #executed: Promise<unknown> | undefined;
  #isSettled = false;
  readonly #takenBack = new AbortController();

  constructor(agentCall: AgentCall, sink: TurnSink, changes: ForeignChanges | undefined, noted = changes?.begin()) {
    this.agentCall = agentCall;
    this.#sink = sink;
    this.#changes = changes;
    this.#noted = noted;
    this.#end.promise.catch(() => {});
  }

  get id(): string {
    return this.agentCall.id;
  }

  get state(): CallState {
    return this.#state;
  }

  /** The response is complete: records the call under this id and tool name. */
  opened(ours: string, name: string): void {
    this.#ours = ours;
    this.#name = name;
    this.#state = "open";
  }

  /** True if the agent has renamed the tool since the call was recorded. */
  get isRenamed(): boolean {
    return this.#state === "open" && this.#name !== this.agentCall.tool;
  }

  /** Closes this call, and returns a new call with the same agent id for later updates. */
  replace(): LiveCall {
    this.#state = "over";
    return new LiveCall(this.agentCall, this.#sink, this.#changes, this.#noted);
  }

  async note(): Promise<void> {
    for (const path of this.agentCall.changing) await this.#noted?.note(path);
  }

  /** Marks a call that the agent runs without asking for permission. */
  async begin(): Promise<void> {
    this.#state = "running";
    await this.#sink.started(this.#ours, { ...this.agentCall.about, folder: this.agentCall.folder });
  }

  progress(): void {
    const { output } = this.agentCall;
    const isMore = output.startsWith(this.#shown);
    const text = isMore ? output.slice(this.#shown.length) : `\n${output}`;
    if (text === "" || (this.#state === "judged" && !this.#context)) return;
    this.#shown = output;
    if (this.#context) this.#context.progress(text);
    else this.#sink.progress(this.#ours, text);
  }

  /** The agent reports the end of the call. Rejects if rules deny what the agent did without permission. */
  async end(): Promise<void> {
    if (this.#state === "over") return this.#afterNo();
    const isJudged = this.#state === "judged";
    this.#state = "over";
    const isUnanswered = isJudged && !this.#context;
    if (isUnanswered) this.#takenBack.abort(new Error("the agent went on without an answer"));
    const changed = await this.#noteChanges(isUnanswered);
    // A failed call may be one that the agent itself refused, so only changed files prove that the call ran.
    const isDone = this.agentCall.status === "completed" || changed > 0;
    const { output } = this.agentCall;
    if (!isJudged) await this.#sink.ended(this.#ours, { output, failed: this.agentCall.status === "failed" });
    if (isDone) await this.#judgeLate();
    if (isJudged) this.#end.resolve();
  }

  /** The turn ended without a result of this call. Rejects like `end`. */
  async leave(): Promise<void> {
    const { output } = this.agentCall;
    const untold = `${output}${output && "\n"}[The agent ended its turn without a result for this call.]`;
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
    if (this.#context && comparableActs(this.agentCall).every((act) => this.#asked.has(act))) return;
    const execute = () => {
      throw new Error("The agent has already run this call.");
    };
    const { command, url, paths = [], title = "" } = this.agentCall.about;
    const act = command ?? (paths.map(({ path }) => path).join(", ") || (url ?? title));
    const description = cutTo(visibleLine(act), LONGEST_ACT);
    await this.#sink.unasked(this.#ours, agentCallTool(this.agentCall, { execute, description }), this.agentCall.input);
  }

  /** The agent ends a denied call. Rejects if the agent changed files despite the denial. */
  async #afterNo(): Promise<void> {
    if (!this.#executed || this.#context || this.#isSettled) return;
    this.#isSettled = true;
    const changes = (await this.#noted?.settle(this.agentCall.diffs)) ?? [];
    const files = changes.map(({ path }) => path).join(", ");
    if (files !== "")
      throw new ModelError(
        "provider",
        `The agent "${this.agentCall.agent}" changed ${files} although its call was denied.`,
      );
  }

  /** The agent is gone: rejects a pending result, and cancels a pending decision. */
  drop(): void {
    this.#end.reject(new Error("the agent is gone"));
    this.#takenBack.abort(new Error("the agent is gone"));
  }

  /** Lets rules and the user decide, and runs `tool` if they allow the call. Resolves when the call has its result. */
  execute(tool: Tool, signal: AbortSignal): Promise<unknown> {
    this.#state = "judged";
    this.#asked = new Set(comparableActs(this.agentCall));
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
    if (this.agentCall.status === "failed") throw new Error(this.agentCall.output || "it gives no reason");
    return this.agentCall.output;
  }

  /** Records the files that the call changed, and returns their number. With `isCounted`, only counts them. */
  async #noteChanges(isCounted = false): Promise<number> {
    this.#isSettled = true;
    const changes = (await this.#noted?.settle(this.agentCall.diffs)) ?? [];
    if (isCounted) return changes.length;
    const unnamed = this.agentCall.effects === "none" ? [] : ((await this.#changes?.unnamed()) ?? []);
    for (const change of [...changes, ...unnamed]) await this.#sink.changed(this.#ours, change);
    // Leave out changes that the call does not name: a user may have made them.
    return changes.length;
  }

  /** The turn breaks off: records the files that the call has changed so far. */
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

function comparableActs({ about: { command, url, paths = [] } }: AgentCall): readonly string[] {
  const files = paths.map(({ path, access }) => `${access} ${path}`);
  return [...(command === undefined ? [] : [`run ${command}`]), ...(url === undefined ? [] : [`ask ${url}`]), ...files];
}
