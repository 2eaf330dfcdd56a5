import type { Session } from "@banyan/core";
import { toolIn } from "@banyan/core/conversation";
import { type Context, context, isSpanContextValid, SpanKind, trace } from "@opentelemetry/api";
import { BANYAN, GENAI, OPERATION, PERSON } from "./conventions.ts";
import {
  type EventOf,
  endSpan,
  type Instruments,
  type OpenSpan,
  type OpenTurn,
  setContent,
  startNamed,
} from "./open-span.ts";

interface OpenCallSpan extends OpenSpan {
  readonly turn: OpenTurn | undefined;
  readonly within: Context;
}

interface OpenQuestionSpan extends OpenSpan {
  readonly turn: OpenTurn | undefined;
}

/** Keeps the spans of tool calls, and of waits for the user. */
export class ToolCalls {
  readonly #session: Pick<Session, "state">;
  readonly #to: Instruments;
  readonly #asked = new Map<string, number>();
  readonly #open = new Map<string, OpenCallSpan>();
  readonly #questions = new Map<string, OpenQuestionSpan>();

  constructor(session: Pick<Session, "state">, to: Instruments) {
    this.#session = session;
    this.#to = to;
  }

  /** Returns the context for the spans of a sub-agent that a call launches. */
  within(call: string | undefined): Context | undefined {
    return call === undefined ? undefined : this.#open.get(call)?.within;
  }

  traceparent(call: string): string | undefined {
    const span = this.#open.get(call)?.span.spanContext();
    if (span === undefined || !isSpanContextValid(span)) return undefined;
    return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, "0")}`;
  }

  asked({ call, at }: EventOf<"call.pending">): void {
    this.#asked.set(call, at);
  }

  started(event: EventOf<"call.executing">, turn: OpenTurn | undefined): void {
    this.#start(event, event.at, event.attempt, turn);
  }

  /** Ends the span of a call. The span of a call that never ran begins at its request. */
  ended(
    event: EventOf<"call.completed" | "call.failed" | "call.denied" | "call.cancelled">,
    turn: OpenTurn | undefined,
  ): void {
    const { type, call, input, output, at } = event;
    const open = this.#open.get(call) ?? this.#start(event, this.#asked.get(call) ?? at, 0, turn);
    this.#asked.delete(call);
    if (input !== undefined) setContent(this.#to, open.span, GENAI.arguments, JSON.stringify(input));
    setContent(this.#to, open.span, GENAI.result, JSON.stringify(output));
    this.#end(call, open, at, type === "call.completed" ? undefined : type.slice("call.".length));
  }

  asking(
    { question, at }: { readonly question: string; readonly at: number },
    type: "approval" | "text" | "limit",
    turn: OpenTurn | undefined,
    call?: string,
  ): void {
    const said = { [BANYAN.question]: type };
    const options = { startTime: new Date(at), kind: SpanKind.INTERNAL, attributes: said };
    const within = this.within(call) ?? turn?.within ?? context.active();
    const span = startNamed(this.#to, question, () => this.#to.tracer.startSpan(PERSON, options, within));
    this.#questions.set(question, { span, at, said, turn: turn ?? this.#open.get(call ?? "")?.turn });
  }

  answered(question: string, at: number): void {
    const open = this.#questions.get(question);
    if (!open) return;
    this.#questions.delete(question);
    if (open.turn) open.turn.waited += at - open.at;
    endSpan(this.#to, open, at, "banyan.person.wait.duration");
  }

  turnEnded(turn: OpenTurn, at: number): void {
    for (const [question, open] of this.#questions) if (open.turn === turn) this.answered(question, at);
    for (const [call, open] of this.#open) if (open.turn === turn) this.#end(call, open, at, "cancelled");
  }

  #start(
    { call, message, tool: named = "" }: { readonly call: string; readonly message: string; readonly tool?: string },
    at: number,
    attempt: number,
    turn: OpenTurn | undefined,
  ): OpenCallSpan {
    const tool = toolIn(this.#session.state, { call, message, tool: named });
    const said = { [GENAI.operation]: OPERATION.tool, [GENAI.tool]: tool };
    const parent = turn?.within ?? context.active();
    const attributes = { ...said, [GENAI.toolType]: "function", [GENAI.call]: call, [BANYAN.attempt]: attempt };
    const options = { startTime: new Date(at), kind: SpanKind.INTERNAL, attributes };
    const span = startNamed(this.#to, `${call} ${attempt}`, () =>
      this.#to.tracer.startSpan(`${OPERATION.tool} ${tool}`, options, parent),
    );
    const open = { span, at, said, turn, within: trace.setSpan(parent, span) };
    this.#open.set(call, open);
    return open;
  }

  #end(call: string, open: OpenCallSpan, at: number, failure: string | undefined): void {
    this.#open.delete(call);
    endSpan(this.#to, open, at, "gen_ai.execute_tool.duration", failure === undefined ? undefined : { type: failure });
  }
}
