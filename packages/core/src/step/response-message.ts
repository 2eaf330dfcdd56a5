import { type AskedCall, pendingCall } from "../calls/asked-call.ts";
import { EagerCalls } from "../calls/eager.ts";
import { writtenInput } from "../conversation/checked/written-input.ts";
import { errorMessage } from "../conversation/error-message.ts";
import type { EventBody } from "../conversation/event.ts";
import type { DeltaBody } from "../conversation/feed-item.ts";
import { createId } from "../conversation/id.ts";
import type { AssistantMessage, Finish } from "../conversation/message.ts";
import type { Part, ProviderData } from "../conversation/part.ts";
import { callFields } from "../conversation/tree/call-state.ts";
import { type Cost, cleanCost, cleanUsage, costOf, noUsage } from "../conversation/usage.ts";
import { ResponseSize } from "../model/response-size.ts";
import type { Guards, GuardVerdict } from "../ports/guards.ts";
import type { ModelError, ModelPart, ModelSink } from "../ports/model.ts";
import { assistantMessage } from "../run/branch.ts";
import { outputVerdict } from "../run/guard-messages.ts";
import { noticeOnce, notify, type TurnRun } from "../run/run.ts";

/** `held`: nothing of the call is published before the forwarded tool is known. */
type StreamingCall = { id: string; tool: string; part: number; text: string; via?: string; held?: boolean } & {
  provider?: ProviderData | undefined;
};

/** A response, from its first part to its end in the log. Publishes its parts as deltas. */
export class ResponseMessage implements ModelSink {
  readonly id: string;
  readonly #run: TurnRun;
  readonly #open = new Map<number, StreamingCall>();
  readonly #calls: StreamingCall[] = [];
  readonly #provider = new Map<number, ProviderData>();
  readonly #sources: Part[] = [];
  /** Actions of the provider, each with the index of the part that it precedes. */
  readonly #provided: { readonly before: number; readonly part: Part }[] = [];
  #part = -1;
  #kind: "text" | "reasoning" | undefined;
  finish: Extract<ModelPart, { type: "finish" }> | undefined;
  /** Number of reads from the model, and number of reads with parts. */
  heard = 0;
  said = 0;
  readonly #size: ResponseSize;
  /** All parts of the response, for the output guard. */
  readonly #guarded: ModelPart[] | undefined;
  /** True until the output guard has passed the parts: nobody has received them. */
  #holds: boolean;
  /** The text of the output guard in place of the text and reasoning that readers have seen. */
  #replacement: string | undefined;
  /** Once closed, the response accepts no parts. */
  closed = false;
  readonly eager: EagerCalls | undefined;

  private constructor(run: TurnRun, id: string, eager: boolean, guards: Guards | undefined) {
    this.#run = run;
    this.#guarded = guards?.output && [];
    this.#holds = guards?.output !== undefined && guards.hold !== false;
    this.id = id;
    this.#size = new ResponseSize(run.agent.bounds);
    this.eager = eager && run.agent.toolbox.hasEager ? new EagerCalls(run, id) : undefined;
  }

  /** Begins a response at the end of the run's branch. With `eager`, its calls may begin before the response ends. */
  static async begin(
    run: TurnRun,
    { eager = false, guards }: { readonly eager?: boolean; readonly guards?: Guards | undefined } = {},
  ): Promise<ResponseMessage> {
    const { session, branch, agent, budget, origin } = run;
    const id = createId();
    const started = { type: "message.started", message: id, parentId: branch.leaf, run: run.id } as const;
    await session.commit([{ ...started, model: agent.model.id }], { origin });
    branch.extend(id);
    budget.ask();
    if (agent.callbacks.onMessage) await notify(run, "onMessage", assistantMessage(session, id));
    return new ResponseMessage(run, id, eager, guards);
  }

  push(parts: readonly ModelPart[]): boolean {
    if (this.closed || this.finish) return true;
    this.heard++;
    if (parts.length === 0) return !this.#run.reader?.full;
    this.said++;
    this.#size.add(parts);
    this.#guarded?.push(...parts);
    if (this.#holds) this.finish = finishIn(parts);
    else this.#receive(parts);
    return !this.#run.reader?.full;
  }

  #receive(parts: readonly ModelPart[]): void {
    const { followers } = this.#run;
    if (followers.size > 0) followers.hear(parts);
    const deltas: DeltaBody[] = [];
    for (const part of parts) if (!this.finish) this.#take(part, deltas);
    if (deltas.length > 0) this.#run.session.stream(deltas, this.#run.source, this.#run.origin);
  }

  /** Lets the output guard check the complete response. Returns the reason of a refusal or of an abort. */
  async refusal(guard: NonNullable<Guards["output"]>): Promise<string | undefined> {
    const parts = this.#guarded ?? [];
    let verdict: GuardVerdict;
    try {
      verdict = await outputVerdict(this.#run, guard, parts);
    } catch (error) {
      return errorMessage(error);
    }
    if (verdict && "refuse" in verdict) return verdict.refuse;
    if (this.#holds) {
      this.#holds = false;
      this.finish = undefined;
      this.#receive(verdict ? withText(parts, verdict.replace) : parts);
    } else if (verdict) {
      this.#replacement = verdict.replace;
      this.#run.followers.restart([{ type: "text", text: verdict.replace }]);
    }
    return undefined;
  }

  async ready(): Promise<void> {
    await this.#run.reader?.room();
    // The wait for a full reader does not count as silence of the model.
    this.heard++;
  }

  /** True once the response has a part that a user could see, now or after the output guard. */
  get begun(): boolean {
    return this.#part >= 0 || (this.#guarded?.length ?? 0) > 0;
  }

  /** The parts received so far, without empty ones. */
  parts(): Part[] {
    const streamed = (this.#run.session.state.messages.get(this.id) as AssistantMessage | undefined)?.parts ?? [];
    const parts: Part[] = [];
    let provided = 0;
    const provide = (index: number) => {
      for (let next = this.#provided[provided]; next && next.before <= index; next = this.#provided[++provided]) {
        parts.push(next.part);
      }
    };
    streamed.forEach((part, index) => {
      provide(index);
      const provider = this.#provider.get(index);
      if (part.type !== "text" && part.type !== "reasoning") parts.push({ ...part });
      else if (provider) parts.push({ ...part, provider });
      else if (part.text !== "") parts.push({ ...part });
    });
    provide(Number.POSITIVE_INFINITY);
    for (const call of this.#calls) {
      const part = parts.find((other) => other.type === "call" && other.call === call.id);
      if (part && call.provider) Object.assign(part, { provider: call.provider });
    }
    if (this.#replacement === undefined) return [...parts, ...this.#sources];
    const kept = parts.filter(({ type }) => type !== "text" && type !== "reasoning");
    return this.#replacement === "" ? kept : [{ type: "text", text: this.#replacement }, ...kept];
  }

  calls(): AskedCall[] {
    return this.#calls.map(({ id, tool, text, via }) => {
      const asked = { id, tool, inputText: text, input: writtenInput(text) };
      return via === undefined ? asked : { ...asked, via };
    });
  }

  /** Returns the event that completes the response, and counts its cost. */
  completion(finish: Finish, error?: ModelError): EventBody {
    const { budget, session, source, origin } = this.#run;
    const held = this.#calls.filter((call) => call.held).map((call) => this.#shown(call));
    if (held.length > 0) session.stream(held, source, origin);
    const usage = this.finish?.usage ?? noUsage;
    const cost = this.#cost();
    const said = error?.message ?? this.finish?.explanation;
    budget.countResponse(usage, cost);
    const completed = { type: "message.completed", message: this.id, parts: this.parts(), finish, usage } as const;
    const miss = session.spending.cacheMisses.foundIn(this.id, usage);
    return { ...completed, ...(cost !== undefined && { cost }), ...(said !== undefined && { error: said }), ...miss };
  }

  /** Returns the events of the calls before they are checked. */
  pending(): EventBody[] {
    return this.calls().map((call) => pendingCall(this.id, call));
  }

  /** Keeps the parts of a broken response. Its calls get `why` as their result. */
  async keep(finish: "interrupted" | "error", why: string, error?: ModelError): Promise<void> {
    if (this.#part < 0) return this.abandon(error?.message ?? "interrupted before the first word");
    const cancelled = this.calls().map((call): EventBody => {
      return { type: "call.cancelled", ...callFields(this.id, call), output: why };
    });
    const { session, origin } = this.#run;
    await session.commit([this.completion(finish, error), ...this.pending(), ...cancelled], { durable: true, origin });
  }

  /** Discards a response that nothing has acted on. Its reserved room is kept, because usually a retry follows. */
  async abandon(reason: string): Promise<void> {
    const { session, branch, budget, origin } = this.#run;
    const usage = this.finish?.usage;
    const cost = usage && this.#cost();
    if (usage) budget.count(usage, cost);
    branch.shorten();
    const abandoned = { type: "message.abandoned", message: this.id, reason } as const;
    await session.commit([usage ? { ...abandoned, usage, cost } : abandoned], { origin });
  }

  /** The cost that the provider reported, or the cost by price. A response without usage costs nothing. */
  #cost(): Cost {
    return cleanCost(this.finish?.cost) ?? costOf(this.finish?.usage ?? noUsage, this.#run.agent.model.price);
  }

  #take(part: ModelPart, deltas: DeltaBody[]): void {
    switch (part.type) {
      case "text":
      case "reasoning":
        if (this.#kind !== part.type) {
          this.#kind = part.type;
          this.#part++;
        } else if (part.text === "") return;
        deltas.push({
          type: part.type === "text" ? "text.delta" : "reasoning.delta",
          message: this.id,
          part: this.#part,
          text: part.text,
        });
        return;
      case "part-end":
        if (part.provider && this.#kind) this.#provider.set(this.#part, part.provider);
        this.#kind = undefined;
        return;
      case "call": {
        this.#kind = undefined;
        const call: StreamingCall = { id: this.#freeId(part.id), tool: part.tool, part: ++this.#part, text: "" };
        this.#open.set(part.index, call);
        this.#calls.push(call);
        if (this.#run.agent.toolbox.find(call.tool)?.forwards) call.held = true;
        else deltas.push(this.#inputDelta(call, ""));
        return;
      }
      case "call-input": {
        const call = this.#open.get(part.index);
        if (!call || part.text === "") return;
        call.text += part.text;
        if (!call.held) deltas.push(this.#inputDelta(call, part.text));
        return;
      }
      case "call-end": {
        const call = this.#open.get(part.index);
        this.#open.delete(part.index);
        if (!call) return;
        call.provider = part.provider;
        if (call.held) deltas.push(this.#shown(call));
        if (this.eager) this.#mayBegin(this.eager, call);
        return;
      }
      case "note":
        noticeOnce(this.#run, part.text);
        return;
      case "source":
        this.#sources.push(part);
        return;
      case "provider":
        this.#kind = undefined;
        this.#provided.push({ before: this.#part + 1, part });
        return;
      case "finish":
        this.finish = finishIn([part]);
    }
  }

  /** Replaces a call of a forwarding tool by the forwarded call. */
  #shown(call: StreamingCall): DeltaBody {
    const forwarded = this.#run.agent.toolbox.forwarded(call.tool, call.text);
    if (forwarded) Object.assign(call, { via: call.tool, tool: forwarded.tool, text: forwarded.inputText });
    call.held = false;
    return this.#inputDelta(call, call.text);
  }

  #mayBegin(eager: EagerCalls, { id }: StreamingCall): void {
    const calls = this.calls();
    const index = calls.findIndex((call) => call.id === id);
    const asked = calls[index];
    if (asked) eager.consider(asked, calls.slice(0, index));
  }

  #inputDelta(call: StreamingCall, text: string): DeltaBody {
    return { type: "call.input.delta", message: this.id, part: call.part, call: call.id, tool: call.tool, text };
  }

  /** Returns the provider's id, or a new id if it is missing or already used in this conversation. */
  #freeId(id: string): string {
    const { calls, runs, messages } = this.#run.session.state;
    const streams = (leaf: string | null) => {
      const message = leaf === null ? undefined : messages.get(leaf);
      return message?.role === "assistant" && message.calls.some((call) => call.id === id);
    };
    const taken = id === "" || calls.has(id) || [...runs.values()].some(({ leaf }) => streams(leaf));
    return taken || this.#calls.some((call) => call.id === id) ? `call_${createId()}` : id;
  }
}

function finishIn(parts: readonly ModelPart[]): ResponseMessage["finish"] {
  const finish = parts.find((part) => part.type === "finish");
  return finish && { ...finish, usage: cleanUsage(finish.usage) };
}

/** Returns the parts with this text in place of all text, reasoning and sources. */
function withText(parts: readonly ModelPart[], text: string): ModelPart[] {
  const kept = parts.filter(({ type }) => !["text", "reasoning", "part-end", "source"].includes(type));
  return [{ type: "text", text }, ...kept];
}
