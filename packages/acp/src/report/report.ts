import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  PromptResponse,
  RequestPermissionOutcome,
  RequestPermissionRequest,
  SessionUpdate,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk/unstable";
import { type Json, ModelError, type Tool, type ToolContext } from "@banyan/core";
import { type FileChange, noUsage } from "@banyan/core/conversation";
import type { ModelPart, ModelSink, TurnSink } from "@banyan/core/drivers";
import { NotExecutedError } from "@banyan/core/hosts";
import { visibleLine } from "@banyan/core/shown";
import { answerElicitation } from "@banyan/tools/mcp/elicitation";
import { type ForeignChanges, reportedDiff } from "@banyan/tools/workspace";
import type { AcpAgent } from "../connection/options.ts";
import type { Marker } from "../session/marker.ts";
import { markedParts } from "../session/marker.ts";
import { AgentCall, agentCallTool } from "./agent-call.ts";
import { LiveCall } from "./live-call.ts";
import { allowAlwaysWarning, allowedOutcome, permissionOutcome } from "./permission.ts";
import { agentUsage, SessionCost } from "./spending.ts";

/** Milliseconds to wait for further calls of the same response before the calls are shown. */
const TOGETHER = 100;

/** Target conversation and abort signal of an {@link AgentReport}. */
export interface ReportOptions {
  readonly agent: AcpAgent;
  readonly sink: TurnSink;
  /** Aborts when the user interrupts the turn, or the turn's time is over. */
  readonly signal: AbortSignal;
  readonly changes: ForeignChanges | undefined;
}

/**
 * Records an agent's updates as a turn of the conversation, in order of arrival. A response collects calls until the
 * first call runs or asks for permission.
 */
export class AgentReport {
  readonly #agent: AcpAgent;
  readonly #sink: TurnSink;
  readonly #signal: AbortSignal;
  readonly #changes: ForeignChanges | undefined;
  readonly #calls = new Map<string, LiveCall>();
  #gathered: LiveCall[] = [];
  #gathering: NodeJS.Timeout | undefined;
  #response: ModelSink | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #plan = "";
  #asked = 0;
  readonly spending = new SessionCost();
  /** Rejects with the first error of recording, which also fails the turn. */
  readonly failed: Promise<never>;
  readonly #fail: (error: unknown) => void;
  #problem: { readonly error: unknown } | undefined;

  constructor({ agent, sink, signal, changes }: ReportOptions) {
    this.#agent = agent;
    this.#sink = sink;
    this.#signal = signal;
    this.#changes = changes;
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.failed = promise;
    this.#fail = (error) => {
      this.#problem ??= { error };
      reject(error);
    };
  }

  get problem(): { readonly error: unknown } | undefined {
    return this.#problem;
  }

  /** True if a call runs or waits for the user. The agent may then be silent without limit. */
  get isBusy(): boolean {
    return this.#calls.values().some(({ state }) => state === "running" || state === "judged");
  }

  async settled(): Promise<void> {
    await this.#queue;
  }

  /** Records a session update. Never rejects: `failed` reports errors. */
  update(update: SessionUpdate): Promise<unknown> {
    return this.#enqueue(async () => {
      switch (update.sessionUpdate) {
        case "agent_message_chunk":
          return this.#say("text", update.content.type === "text" ? update.content.text : `[${update.content.type}]`);
        case "agent_thought_chunk":
          return this.#say("reasoning", update.content.type === "text" ? update.content.text : "");
        case "tool_call":
        case "tool_call_update":
          return this.#take(update);
        case "plan":
          return this.#showPlan(update.entries);
        case "usage_update":
          return this.spending.take(update.cost);
      }
    });
  }

  /** Answers a permission request with one of the agent's options. Rules or the user decide. */
  async permission(
    { toolCall, options }: RequestPermissionRequest,
    signal: AbortSignal,
  ): Promise<RequestPermissionOutcome> {
    const call = await this.#enqueue(async () => {
      const known = this.#calls.get(toolCall.toolCallId);
      // A second request about a judged or ended call becomes a new call.
      const id =
        known?.state === "judged" || known?.state === "over" ? this.#fresh(toolCall.toolCallId) : toolCall.toolCallId;
      const first = this.#callOf(id);
      first.agentCall.take(toolCall);
      await first.note();
      await this.#open(first);
      // Rules match the tool name, which has changed since the call was recorded, so record a new call.
      const call = first.isRenamed ? this.#replace(first) : first;
      await this.#open(call);
      return call;
    });
    if (!call) return permissionOutcome("cancelled", options);
    const again = call.id !== toolCall.toolCallId;
    const shown = call.agentCall.input;
    return this.#judged(call, signal, {
      preview: () => ({ changes: call.agentCall.diffs.map(reportedDiff), notes: allowAlwaysWarning(options) }),
      begin: async (input, context) => {
        if (JSON.stringify(input) !== JSON.stringify(shown)) {
          throw new NotExecutedError("the agent cannot run a call with changed arguments, so the call was denied.");
        }
        return allowedOutcome(options, context);
      },
      outcome: again ? "Allowed." : undefined,
      otherwise: (isCancelled) => permissionOutcome(isCancelled ? "cancelled" : "denied", options),
    });
  }

  /** Asks the user a question of the agent, recorded as a call. */
  async elicitation(request: CreateElicitationRequest, signal: AbortSignal): Promise<CreateElicitationResponse> {
    const call = await this.#enqueue(async () => {
      const call = this.#callOf(this.#fresh("question"));
      call.agentCall.take({ title: request.message, name: "question", rawInput: { question: request.message } });
      await this.#open(call);
      return call;
    });
    if (!call) return { action: "cancel" };
    return this.#judged<CreateElicitationResponse>(call, signal, {
      control: true,
      begin: async (_, { ask }) => {
        const form = request as Parameters<typeof answerElicitation>[1];
        return (await answerElicitation(`The agent "${this.#agent.name}"`, form, ask)) as CreateElicitationResponse;
      },
      outcome: (response) => ("content" in response ? JSON.stringify(response.content) : `Answer: ${response.action}.`),
      otherwise: () => ({ action: "cancel" }),
    });
  }

  /** The agent ended its turn: ends open calls, and records the session marker in the last response. */
  async finish({ stopReason, usage }: PromptResponse, marker: Omit<Marker, "cost">): Promise<void> {
    await this.#enqueue(async () => {
      const { reason, explanation } = FINISHES[stopReason] ?? FINISHES.end_turn;
      const isInterrupted = this.#signal.aborted;
      if (this.#gathered.length > 0) await this.#complete();
      for (const call of this.#calls.values()) await (isInterrupted ? call.breakOff() : call.leave());
      if (isInterrupted && !this.#response) return;
      const response = await this.#responding();
      const cost = this.spending.rest();
      const unnamed = isInterrupted ? [] : ((await this.#changes?.unnamed()) ?? []);
      const call = unnamed.length > 0 ? this.#unnamedCall(unnamed) : undefined;
      response.push([
        ...(call ? callParts([call]) : []),
        ...markedParts({ ...marker, ...(this.spending.total !== undefined && { cost: this.spending.total }) }),
        {
          type: "finish",
          reason,
          usage: agentUsage(usage),
          ...(cost !== undefined && { cost }),
          ...(explanation !== undefined && { explanation }),
        },
      ]);
      // The conversation itself closes and reports an interrupted response.
      if (!isInterrupted) {
        const [reported] = await this.#sink.complete();
        call?.opened(reported?.id ?? call.id, reported?.tool ?? call.agentCall.tool);
        await call?.record(unnamed);
      }
      this.#response = undefined;
    });
  }

  #unnamedCall(changes: readonly FileChange[]): LiveCall {
    const agentCall = new AgentCall(this.#fresh("changes"), this.#agent.name, this.#agent.cwd);
    const locations = changes.map(({ path }) => ({ path }));
    agentCall.take({
      title: "Changed files that the agent did not report",
      kind: "edit",
      locations,
    });
    return new LiveCall(agentCall, this.#sink, undefined);
  }

  /** The turn ends without the agent's answer: records what its calls changed so far. */
  async breakOff(): Promise<void> {
    await this.#enqueue(async () => {
      for (const call of this.#calls.values()) await call.breakOff();
    });
  }

  close(): void {
    clearTimeout(this.#gathering);
    for (const call of this.#calls.values()) call.drop();
  }

  /** Runs work in order of arrival. Skips all work after the first failure. */
  #enqueue<T>(work: () => Promise<T> | T): Promise<T | undefined> {
    const done = this.#queue
      .then(() => (this.#problem ? undefined : work()))
      .catch((error: unknown) => {
        this.#fail(error);
        return undefined;
      });
    this.#queue = done;
    return done;
  }

  async #say(kind: "text" | "reasoning", text: string): Promise<void> {
    if (text === "") return;
    await this.#push([{ type: kind, text }]);
  }

  async #showPlan(entries: Extract<SessionUpdate, { sessionUpdate: "plan" }>["entries"]): Promise<void> {
    const marks = { pending: " ", in_progress: "~", completed: "x" } as const;
    const plan = entries.map(({ content, status }) => `- [${marks[status] ?? " "}] ${content}`).join("\n");
    if (plan === this.#plan || plan === "") return;
    this.#plan = plan;
    await this.#push([{ type: "part-end" }, { type: "reasoning", text: `Plan:\n${plan}` }, { type: "part-end" }]);
  }

  async #push(parts: readonly ModelPart[]): Promise<void> {
    const response = await this.#responding();
    if (!response.push(parts)) await response.ready();
  }

  async #responding(): Promise<ModelSink> {
    if (this.#response) return this.#response;
    // Open calls need no permission, so they run while the next response streams.
    for (const call of this.#calls.values()) if (call.state === "open") await call.begin();
    this.#response = await this.#sink.begin();
    return this.#response;
  }

  #callOf(id: string): LiveCall {
    let call = this.#calls.get(id);
    if (!call) {
      const agentCall = new AgentCall(id, this.#agent.name, this.#agent.cwd);
      call = new LiveCall(agentCall, this.#sink, this.#changes);
      this.#calls.set(id, call);
      this.#gathered.push(call);
    }
    return call;
  }

  #replace(call: LiveCall): LiveCall {
    const next = call.replace();
    this.#calls.set(call.id, next);
    this.#gathered.push(next);
    return next;
  }

  #fresh(name: string): string {
    return `${name}#${++this.#asked}`;
  }

  async #take(update: ToolCallUpdate): Promise<void> {
    const call = this.#callOf(update.toolCallId);
    call.agentCall.take(update);
    const { status } = call.agentCall;
    if (call.state === "over") return status === "completed" ? call.end() : undefined;
    if (status === "pending" || status === "in_progress") await call.note();
    if (status === "pending") return this.#showSoon(call);
    await this.#open(call);
    if (call.state === "open") await call.begin();
    if (status === "in_progress") call.progress();
    else await call.end();
  }

  /** Shows a call once its arguments are known, together with calls that arrive at the same time. */
  #showSoon({ state, agentCall }: LiveCall): void {
    if (state !== "announced" || !agentCall.isDescribed) return;
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#enqueue(() => (this.#gathered.length > 0 ? this.#complete() : undefined)).catch(() => {});
    }, TOGETHER);
  }

  async #open(call: LiveCall): Promise<void> {
    if (call.state === "announced") await this.#complete();
  }

  async #complete(): Promise<void> {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    const response = await this.#responding();
    const calls = this.#gathered;
    this.#gathered = [];
    // The agent reports its tokens only at the end of the turn, but its cost so far at any time.
    response.push([
      ...callParts(calls),
      { type: "finish", reason: "calls", usage: noUsage, cost: this.spending.since() },
    ]);
    this.#response = undefined;
    const reported = await this.#sink.complete();
    calls.forEach((call, index) => {
      call.opened(reported[index]?.id ?? call.id, reported[index]?.tool ?? call.agentCall.tool);
    });
  }

  /** Lets rules and the user decide about a call. Resolves as soon as the agent can be answered. */
  async #judged<Answer>(
    call: LiveCall,
    signal: AbortSignal,
    how: {
      readonly control?: boolean;
      readonly preview?: Tool["preview"];
      /** Called for an allowed call. Returns the answer to the agent. */
      readonly begin: (input: Json, context: ToolContext) => Promise<Answer>;
      /** Result of the call. If undefined, the agent's later updates contain the result. */
      readonly outcome: string | ((answer: Answer) => string) | undefined;
      /** Returns what the agent learns about a call that failed, or that was denied or cancelled. */
      readonly otherwise: (isCancelled: boolean) => Answer;
    },
  ): Promise<Answer> {
    const { agentCall } = call;
    const answer = Promise.withResolvers<Answer>();
    const tool = agentCallTool(agentCall, {
      ...(how.control && { control: true }),
      ...(how.preview && { preview: how.preview }),
      async execute(input, context) {
        const said = await how.begin(input as Json, context);
        answer.resolve(said);
        if (how.outcome === undefined) return call.result(context);
        return typeof how.outcome === "function" ? how.outcome(said) : how.outcome;
      },
    });
    call.execute(tool, signal).then(
      () => answer.resolve(how.otherwise(this.#signal.aborted || signal.aborted)),
      (error: unknown) => {
        answer.resolve(how.otherwise(true));
        // After an interrupt the turn is over, and nothing receives the error.
        if (!this.#signal.aborted) this.#fail(error);
      },
    );
    return answer.promise;
  }
}

function callParts(calls: readonly LiveCall[]): ModelPart[] {
  return calls.flatMap(({ id, agentCall }, index): ModelPart[] => [
    { type: "call", index, id, tool: agentCall.tool },
    { type: "call-input", index, text: JSON.stringify(agentCall.input) },
    { type: "call-end", index },
  ]);
}

/** Returns an error for a stop reason that an agent must not report. Returns undefined for any other reason. */
export function unexpectedEndError(agent: string, stopReason: string): ModelError | undefined {
  if (Object.hasOwn(FINISHES, stopReason)) return undefined;
  const why =
    stopReason === "cancelled"
      ? "cancelled its turn by itself"
      : `ended its turn with the reason ${JSON.stringify(visibleLine(stopReason))}, which Banyan does not know`;
  return new ModelError("provider", `The agent "${agent}" ${why}.`, { retryable: false });
}

const FINISHES: Readonly<
  Record<string, { readonly reason: "stop" | "length" | "filtered"; readonly explanation?: string }>
> & { readonly end_turn: { readonly reason: "stop"; readonly explanation?: string } } = {
  end_turn: { reason: "stop" },
  max_tokens: { reason: "length" },
  max_turn_requests: {
    reason: "length",
    explanation: "The agent stopped: it reached its own limit on model calls.",
  },
  refusal: { reason: "filtered", explanation: "The agent refused to continue." },
};
