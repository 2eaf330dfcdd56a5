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
import { type ForeignChanges, toldDiff } from "@banyan/tools/workspace";
import type { AcpAgent } from "../acp-agent.ts";
import type { Marker } from "../session/marker.ts";
import { markedParts } from "../session/marker.ts";
import { LiveCall } from "./live-call.ts";
import { allowedOutcome, noteOn, outcomeOf } from "./permission.ts";
import { Spending, usageOf } from "./spending.ts";
import { TheirCall, theirTool } from "./their-call.ts";

/** Milliseconds that calls wait for others of the same response, before they are shown without them. */
const TOGETHER = 100;

/** What a turn is reported with. */
export interface ReportOptions {
  readonly agent: AcpAgent;
  readonly sink: TurnSink;
  /** The interrupt, or the end of the time. */
  readonly signal: AbortSignal;
  readonly changes: ForeignChanges | undefined;
}

/**
 * What an agent tells of its turn, as the turn of a conversation. It is told in the order in which it came, one thing after
 * the other. Calls are gathered until one of them acts: then the response is complete, and they are its calls.
 */
export class Report {
  readonly #agent: AcpAgent;
  readonly #sink: TurnSink;
  readonly #signal: AbortSignal;
  readonly #changes: ForeignChanges | undefined;
  readonly #calls = new Map<string, LiveCall>();
  /** Calls of which the response is not complete. */
  #gathered: LiveCall[] = [];
  #gathering: NodeJS.Timeout | undefined;
  #response: ModelSink | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #plan = "";
  #asked = 0;
  readonly spending = new Spending();
  /** Rejects when something cannot be reported: with that error, which the turn ends with. */
  readonly failed: Promise<never>;
  readonly #fail: (error: unknown) => void;
  #problem: { readonly error: unknown } | undefined;

  constructor({ agent, sink, signal, changes }: ReportOptions) {
    this.#agent = agent;
    this.#sink = sink;
    this.#signal = signal;
    this.#changes = changes;
    const { promise, reject } = Promise.withResolvers<never>();
    // Whoever runs the turn races against it; until then nobody listens.
    promise.catch(() => {});
    this.failed = promise;
    this.#fail = (error) => {
      this.#problem ??= { error };
      reject(error);
    };
  }

  /** What could not be reported, if anything. */
  get problem(): { readonly error: unknown } | undefined {
    return this.#problem;
  }

  /** Whether a call runs, or a person is asked: then the agent may be silent for as long as it likes. */
  get isBusy(): boolean {
    return this.#calls.values().some(({ state }) => state === "running" || state === "judged");
  }

  /** Resolves when all that was told so far is reported. */
  async settled(): Promise<void> {
    await this.#queue;
  }

  /** Takes in what the agent tells of its session. Never rejects: see `failed`. */
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

  /** What the agent asks leave for: judged by our rules, asked of our person, and told to the agent as one of its options. */
  async permission(
    { toolCall, options }: RequestPermissionRequest,
    signal: AbortSignal,
  ): Promise<RequestPermissionOutcome> {
    const call = await this.#enqueue(async () => {
      const known = this.#calls.get(toolCall.toolCallId);
      // Asked about again while it runs, or when it is over, it is a call beside the one that is there.
      const id =
        known?.state === "judged" || known?.state === "over" ? this.#fresh(toolCall.toolCallId) : toolCall.toolCallId;
      const first = this.#callOf(id);
      first.told.take(toolCall);
      await first.note();
      await this.#open(first);
      // Rules go by the name of what the call does, and the call stands in the tree under another name.
      const call = first.isRenamed ? this.#replace(first) : first;
      await this.#open(call);
      return call;
    });
    if (!call) return outcomeOf("cancelled", options);
    const again = call.id !== toolCall.toolCallId;
    const shown = call.told.input;
    return this.#judged(call, signal, {
      preview: () => ({ changes: call.told.diffs.map(toldDiff), notes: noteOn(options) }),
      begin: async (input, context) => {
        if (JSON.stringify(input) !== JSON.stringify(shown)) {
          throw new NotExecutedError(
            "the agent runs its calls as it asked for them and cannot be given other arguments, so it was told no.",
          );
        }
        return allowedOutcome(options, context);
      },
      outcome: again ? "Allowed." : undefined,
      otherwise: (isCancelled) => outcomeOf(isCancelled ? "cancelled" : "denied", options),
    });
  }

  /** What the agent asks in words: a question of a call of its own. */
  async elicitation(request: CreateElicitationRequest, signal: AbortSignal): Promise<CreateElicitationResponse> {
    const call = await this.#enqueue(async () => {
      const call = this.#callOf(this.#fresh("question"));
      call.told.take({ title: request.message, name: "question", rawInput: { question: request.message } });
      await this.#open(call);
      return call;
    });
    if (!call) return { action: "cancel" };
    return this.#judged<CreateElicitationResponse>(call, signal, {
      control: true,
      begin: async (_, { ask }) => {
        // A form has the same shape in the protocol of MCP servers.
        const form = request as Parameters<typeof answerElicitation>[1];
        return (await answerElicitation(`The agent "${this.#agent.name}"`, form, ask)) as CreateElicitationResponse;
      },
      outcome: (response) =>
        "content" in response ? JSON.stringify(response.content) : `It was told: ${response.action}.`,
      otherwise: () => ({ action: "cancel" }),
    });
  }

  /** The agent has ended its turn; what is open comes to its end, and the session is noted. */
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
        ...(call ? partsOf([call]) : []),
        ...markedParts({ ...marker, ...(this.spending.total !== undefined && { cost: this.spending.total }) }),
        {
          type: "finish",
          reason,
          usage: usageOf(usage),
          ...(cost !== undefined && { cost }),
          ...(explanation !== undefined && { explanation }),
        },
      ]);
      // What is interrupted, the conversation closes itself, and says so.
      if (!isInterrupted) {
        const [reported] = await this.#sink.complete();
        call?.opened(reported?.id ?? call.id, reported?.tool ?? call.told.tool);
        await call?.record(unnamed);
      }
      this.#response = undefined;
    });
  }

  /** A call that stands for changes which no call of the agent names. */
  #unnamedCall(changes: readonly FileChange[]): LiveCall {
    const told = new TheirCall(this.#fresh("changes"), this.#agent.name, this.#agent.cwd);
    const locations = changes.map(({ path }) => ({ path }));
    told.take({
      title: "Files that changed while the agent worked, and that none of its calls names",
      kind: "edit",
      locations,
    });
    return new LiveCall(told, this.#sink, undefined);
  }

  /** The turn ends without a word of the agent: what its calls have changed so far stands with them. */
  async breakOff(): Promise<void> {
    await this.#enqueue(async () => {
      for (const call of this.#calls.values()) await call.breakOff();
    });
  }

  /** Nothing more is told: whoever waits for the end of a call waits no more. */
  close(): void {
    clearTimeout(this.#gathering);
    for (const call of this.#calls.values()) call.drop();
  }

  /** Does one thing after the other; nothing more once one of them failed. */
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

  /** The response under way; a new one where there is none. */
  async #responding(): Promise<ModelSink> {
    if (this.#response) return this.#response;
    // A call that waits for nobody goes on beside what is said next.
    for (const call of this.#calls.values()) if (call.state === "open") await call.begin();
    this.#response = await this.#sink.begin();
    return this.#response;
  }

  #callOf(id: string): LiveCall {
    let call = this.#calls.get(id);
    if (!call) {
      const told = new TheirCall(id, this.#agent.name, this.#agent.cwd);
      call = new LiveCall(told, this.#sink, this.#changes);
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
    call.told.take(update);
    const { status } = call.told;
    if (call.state === "over") return status === "completed" ? call.end() : undefined;
    if (status === "pending" || status === "in_progress") await call.note();
    if (status === "pending") return this.#showSoon(call);
    await this.#open(call);
    if (call.state === "open") await call.begin();
    if (status === "in_progress") call.progress();
    else await call.end();
  }

  /** Once its arguments are known, it is shown, with those that come at the same time. */
  #showSoon({ state, told }: LiveCall): void {
    if (state !== "told" || !told.isDescribed) return;
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#enqueue(() => (this.#gathered.length > 0 ? this.#complete() : undefined)).catch(() => {
        // What fails in there ends the turn.
      });
    }, TOGETHER);
  }

  async #open(call: LiveCall): Promise<void> {
    if (call.state === "told") await this.#complete();
  }

  /** The response is whole with the calls that were gathered. */
  async #complete(): Promise<void> {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    const response = await this.#responding();
    const calls = this.#gathered;
    this.#gathered = [];
    // What it cost so far; the tokens are told at the end.
    response.push([
      ...partsOf(calls),
      { type: "finish", reason: "calls", usage: noUsage, cost: this.spending.since() },
    ]);
    this.#response = undefined;
    const reported = await this.#sink.complete();
    calls.forEach((call, index) => {
      call.opened(reported[index]?.id ?? call.id, reported[index]?.tool ?? call.told.tool);
    });
  }

  /** Lets our rules and our person decide about a call; resolves as soon as there is something to tell the agent. */
  async #judged<Told>(
    call: LiveCall,
    signal: AbortSignal,
    how: {
      readonly control?: boolean;
      readonly preview?: Tool["preview"];
      /** It is allowed: what the agent is told. */
      readonly begin: (input: Json, context: ToolContext) => Promise<Told>;
      /** What comes of the call, where that is known at once; otherwise the agent tells it. */
      readonly outcome: string | ((told: Told) => string) | undefined;
      /** It is not allowed, or nobody decided. */
      readonly otherwise: (isCancelled: boolean) => Told;
    },
  ): Promise<Told> {
    const { told } = call;
    const answer = Promise.withResolvers<Told>();
    const tool = theirTool(told, {
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
        // Once the turn is over nobody takes what is reported.
        if (!this.#signal.aborted) this.#fail(error);
      },
    );
    return answer.promise;
  }
}

/** Returns the parts of a response that are its calls. */
function partsOf(calls: readonly LiveCall[]): ModelPart[] {
  return calls.flatMap(({ id, told }, index): ModelPart[] => [
    { type: "call", index, id, tool: told.tool },
    { type: "call-input", index, text: JSON.stringify(told.input) },
    { type: "call-end", index },
  ]);
}

/** Says what is wrong with the reason for which an agent ended its turn; nothing for a reason that is known. */
export function oddEnd(agent: string, stopReason: string): ModelError | undefined {
  if (Object.hasOwn(FINISHES, stopReason)) return undefined;
  const why =
    stopReason === "cancelled"
      ? "cancelled its turn, and nobody here asked for that"
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
    explanation: "The agent stopped: it reached a limit of its own on model calls.",
  },
  refusal: { reason: "filtered", explanation: "The agent refused to go on." },
};
