import type { Session } from "@banyan/core";
import { type FeedItem, type LiveRun, noUsage } from "@banyan/core/conversation";
import type { FeedListener } from "@banyan/core/hosts";
import { context, SpanKind, trace } from "@opentelemetry/api";
import { BANYAN, GENAI, OPERATION, splitModelName } from "./conventions.ts";
import { ModelCalls } from "./model-calls.ts";
import { type EventOf, endSpan, type Instruments, type OpenTurn, startNamed, usageAttributes } from "./open-span.ts";
import { eventsOfRuns } from "./past-runs.ts";
import { ToolCalls } from "./tool-calls.ts";

/** Events without a span, listed so that a new type of event does not compile until somebody decides about its span. */
type UnreportedType =
  | `conversation.${"created" | "brought-in"}`
  | "content.stored"
  | `memory.${"recalled" | "dismissed" | "skipped"}`
  | `message.${"checkpoint" | "labelled" | "starred" | "removed" | "restored" | "left-out"}`
  | `call.${"following" | "followed" | "output.delta" | "draft.delta"}`
  | `process.${"started" | "ended"}`
  | `input.${"queued" | "edited" | "withdrawn" | "delivered"}`
  | `model.${"changed" | "replaced" | "waiting"}`
  | "approval.withdrawn"
  | "context.not-shortened"
  | "file.changed"
  | "goal.checked"
  | "title.changed"
  | "rule.revoked"
  | "turn.waiting"
  | "request.changed"
  | "callback.failed"
  | "feed.reset"
  | "chat.ended";

/**
 * Keeps the open spans of one session. Times come from the events, so they are also right for runs of another process.
 * Only the time of a response's first part comes from the clock of this process.
 */
export class SessionSpans implements FeedListener {
  readonly #session: Session;
  readonly #to: Instruments;
  readonly #turns = new Map<string, OpenTurn>();
  readonly #models: ModelCalls;
  readonly #calls: ToolCalls;
  /** Runs that began before this object was created. */
  readonly #before: Map<string, LiveRun>;
  /** The ends of runs whose beginnings this object has not received. */
  readonly #endedUnheard: EventOf<"run.ended">[] = [];

  constructor(session: Session, to: Instruments) {
    this.#session = session;
    this.#to = to;
    this.#models = new ModelCalls(session, to);
    this.#calls = new ToolCalls(session, to);
    this.#before = new Map([...session.interrupted, ...session.state.runs.values()].map((run) => [run.id, run]));
  }

  items(items: readonly FeedItem[]): void {
    for (const item of items) this.#tell(item);
    const ended = this.#endedUnheard.splice(0);
    if (ended.length > 0)
      this.#tellPast(ended).catch(() => {
        for (const item of ended) this.#endBefore(item);
      });
  }

  traceparent(call: string): string | undefined {
    return this.#calls.traceparent(call);
  }

  /** The session is closed or broken: ends all open spans, the innermost first. */
  ended(error?: unknown): void {
    const code = error === undefined ? "closed" : "session";
    for (const turn of [...this.#turns.values()].reverse()) {
      this.#endTurn(turn, Date.now(), { reason: "interrupted", leaf: null, error: { code, message: "" } });
    }
  }

  #tell(item: FeedItem): void {
    switch (item.type) {
      case "text.delta":
      case "reasoning.delta":
      case "call.input.delta":
        this.#models.heard(item.message);
        return;
      case "run.started":
        this.#begin(item);
        return;
      case "run.ended":
        this.#end(item);
        return;
      case "message.started": {
        const turn = this.#turns.get(item.run);
        if (turn) this.#models.asked(item, turn);
        return;
      }
      case "message.completed":
        this.#models.completed(item);
        return;
      case "message.abandoned":
        this.#models.abandoned(item);
        return;
      case "model.retrying": {
        const turn = this.#turns.get(item.run);
        if (turn) this.#models.retrying(item, turn);
        return;
      }
      case "context.shortening": {
        const turn = this.#turns.get(item.run);
        if (turn) turn.shortening = Date.now();
        return;
      }
      case "message.added":
        if (item.role === "summary") this.#summarized(item);
        return;
      case "usage.counted": {
        const turn = item.purpose === "summary" ? this.#shortening() : undefined;
        this.#models.aside(item, item.purpose, turn);
        if (turn) turn.shortening = undefined;
        return;
      }
      case "call.pending":
        this.#calls.asked(item);
        return;
      case "call.executing":
        this.#calls.started(item, this.#turnOf(item.message));
        return;
      case "call.completed":
      case "call.failed":
      case "call.denied":
      case "call.cancelled":
        this.#calls.ended(item, this.#turnOf(item.message));
        return;
      case "call.approval-requested":
        this.#calls.asking(item, "approval", this.#turnOf(item.message));
        return;
      case "question.asked":
        this.#calls.asking(item, "text", this.#turnOf(item.message), item.call);
        return;
      case "run.paused":
        this.#calls.asking(item, "limit", this.#turns.get(item.run));
        return;
      case "call.approval-resolved":
      case "question.answered":
      case "run.continued":
        this.#calls.answered(item.question, item.at);
        return;
      default:
        item.type satisfies UnreportedType;
    }
  }

  #begin(started: EventOf<"run.started">): void {
    const { run, agent, model, mode, call, at } = started;
    const names = splitModelName(model);
    const said = { [GENAI.operation]: OPERATION.turn, [GENAI.provider]: names.provider, [GENAI.agent]: agent };
    // A sub-agent's span belongs to the call that launched it. A turn's span belongs to the application's current span.
    const parent = this.#calls.within(call) ?? context.active();
    const attributes = {
      ...said,
      [GENAI.conversation]: this.#session.id,
      [GENAI.model]: names.model,
      [BANYAN.run]: run,
      [BANYAN.mode]: mode,
    };
    const options = { startTime: new Date(at), kind: SpanKind.INTERNAL, attributes };
    const start = () => this.#to.tracer.startSpan(`${OPERATION.turn} ${agent}`, options, parent);
    const span = startNamed(this.#to, run, start);
    const within = trace.setSpan(parent, span);
    const nothing = { shortening: undefined, usage: noUsage, cost: 0, waited: 0 };
    this.#turns.set(run, { span, at, said, started, within, ...nothing });
  }

  #end(ended: EventOf<"run.ended">): void {
    const turn = this.#turns.get(ended.run);
    if (turn) this.#endTurn(turn, ended.at, ended);
    else this.#endedUnheard.push(ended);
  }

  /** Reports from the log the runs that another process began and did not end. */
  async #tellPast(ended: readonly EventOf<"run.ended">[]): Promise<void> {
    const runs = ended.map(({ run }) => run);
    const until = Math.max(...ended.map(({ seq }) => seq));
    const events = await eventsOfRuns(this.#session, runs, until);
    // The dead process measured the steps of these runs, so record only the durations of the runs here.
    const [{ "gen_ai.invoke_agent.duration": turns, ...others }, silent] = [this.#to.histograms, { record() {} }];
    const muted = Object.fromEntries(Object.keys(others).map((name) => [name, silent]));
    const histograms = { ...muted, "gen_ai.invoke_agent.duration": turns } as Instruments["histograms"];
    new SessionSpans(this.#session, { ...this.#to, histograms }).items(events);
  }

  /** Reports the end of a run whose log cannot be read, as a single span. */
  #endBefore(ended: EventOf<"run.ended">): void {
    const before = this.#before.get(ended.run);
    if (!before) return;
    this.#begin(this.#startOf(before, ended));
    const turn = this.#turns.get(ended.run);
    if (turn) this.#endTurn(turn, ended.at, ended);
  }

  /** Builds the first event of a run from the facts that are known without its log. */
  #startOf({ id, startedAt, ...run }: LiveRun, { seq, epoch }: EventOf<"run.ended">): EventOf<"run.started"> {
    const response = run.leaf === null ? undefined : this.#session.state.messages.get(run.leaf);
    const model = response?.role === "assistant" ? response.model : "";
    const unknown = { settings: {}, limits: {}, instructions: "", tools: "" };
    return { type: "run.started", run: id, ...run, model, ...unknown, at: startedAt, seq, epoch };
  }

  #endTurn(turn: OpenTurn, at: number, how: Pick<EventOf<"run.ended">, "reason" | "leaf" | "error">): void {
    const { span, usage, cost } = turn;
    const { reason, leaf, error } = how;
    const type = error?.code ?? (reason === "failed" ? "_OTHER" : undefined);
    this.#models.turnEnded(turn, at, type ?? reason);
    this.#calls.turnEnded(turn, at);
    span.setAttributes({
      ...usageAttributes(usage, cost),
      [BANYAN.outcome]: reason,
      ...(leaf === null ? {} : { [BANYAN.leaf]: leaf }),
      ...(turn.waited === 0 ? {} : { [BANYAN.waited]: turn.waited }),
    });
    const failure = type === undefined ? undefined : { type, message: error?.message };
    endSpan(this.#to, turn, at, "gen_ai.invoke_agent.duration", failure);
    this.#turns.delete(turn.started.run);
  }

  #summarized({ run, usage, ...summary }: EventOf<"message.added">): void {
    this.#models.summarized();
    if (!usage) return;
    const turn = run === undefined ? this.#shortening() : this.#turns.get(run);
    this.#models.aside({ ...summary, usage, model: turn?.started.model ?? "" }, "summary", turn);
    if (turn) turn.shortening = undefined;
  }

  #shortening(): OpenTurn | undefined {
    return this.#turns.values().find(({ shortening }) => shortening !== undefined);
  }

  /** Returns the turn of a response, or the later turn that continues with the calls of the response. */
  #turnOf(message: string): OpenTurn | undefined {
    const own = this.#models.turnOf(message);
    if (own) return own;
    const resumed = this.#session.state.runs.values().find(({ leaf }) => leaf === message);
    return this.#turns.get(resumed?.id ?? "");
  }
}
