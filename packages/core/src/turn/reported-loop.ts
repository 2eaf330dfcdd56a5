import { type AskedCall, tellCalls } from "../calls/asked-call.ts";
import { CallBatch } from "../calls/calls.ts";
import type { EventBody } from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import { isEnded } from "../conversation/message.ts";
import { sayingCall } from "../conversation/tree/call-state.ts";
import type { LoopDriver, ReportedCall, TurnSink } from "../ports/loop.ts";
import { ModelError, type ModelSink, type PromptResult } from "../ports/model.ts";
import { inTime } from "../run/in-time.ts";
import { type Ending, failed } from "../run/mode.ts";
import { assistantMessage, type TurnRun, tell } from "../run/run.ts";
import { SessionError } from "../session/error.ts";
import { ResponseMessage } from "../step/response-message.ts";
import { GRACE, messageOf, notExecuted } from "../toolbox/execute.ts";
import { askForMore } from "./at-limit.ts";

/** A limit ended the turn: told to the loop by what it reports next. */
class LimitReached extends Error {
  override readonly name = "LimitReached";
}

/**
 * Runs a turn by somebody else's loop. However that ends, every call has its result and no response stays open. There is
 * no last word at a limit, as nobody can demand one: the turn ends there.
 */
export function reportedLoop(run: TurnRun, loop: LoopDriver): Promise<Ending> {
  return inTime(
    run,
    () => run.budget.hardTime(),
    async (run) => {
      const turn = new ReportedTurn(run);
      const error = await ended(run, turn, loop);
      const { limit } = turn;
      await turn.close(error ?? undefined);
      if (limit !== undefined) {
        const problem = { code: "limit", message: `The turn reached ${limit}.` };
        return run.agent.limits.policy === "fail"
          ? { reason: "limit", limit, error: problem }
          : { reason: "limit", limit };
      }
      if (run.signal.aborted) {
        return run.budget.timeIsUp ? { reason: "limit", limit: run.budget.timeLimit() } : { reason: "interrupted" };
      }
      if (error) return failed(error);
      return { reason: run.progress.finished ? "finished" : "answered" };
    },
  );
}

/** Waits for the loop, after an abort not for ever; what it threw, if it did. */
async function ended(run: TurnRun, turn: ReportedTurn, loop: LoopDriver): Promise<ModelError | undefined> {
  const { agent, branch, signal } = run;
  const abandoned = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  const abort = () => {
    timer = setTimeout(abandoned.resolve, GRACE);
  };
  if (signal.aborted) return undefined;
  signal.addEventListener("abort", abort, { once: true });
  try {
    const { settings, instructions, toolbox } = agent;
    const given = { instructions: instructions.text, messages: [...branch.prompt()], tools: toolbox.schemas, settings };
    await Promise.race([loop.run(given, turn, signal), abandoned.promise]);
    return undefined;
  } catch (error) {
    if (error instanceof SessionError) throw error;
    if (error instanceof ModelError) return error;
    if (error instanceof LimitReached || signal.aborted) return undefined;
    return new ModelError("provider", messageOf(error), { cause: error, retryable: false });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** A turn as a loop reports it: checks the order of the report and writes it down. */
class ReportedTurn implements TurnSink {
  readonly #run: TurnRun;
  #response: ResponseMessage | undefined;
  /** The last complete response and its calls. */
  #message = "";
  #asked: readonly AskedCall[] = [];
  #closed = false;
  /** The limit that ended the turn, in words. */
  limit: string | undefined;

  constructor(run: TurnRun) {
    this.#run = run;
  }

  async begin(): Promise<ModelSink> {
    this.#mustBeOpen();
    if (this.#response) throw new Error("begin() before the answer under way was completed.");
    await this.#settle("Not executed: the agent went on without it.");
    await this.#makeRoom();
    this.#run.budget.beginStep();
    this.#response = await ResponseMessage.begin(this.#run);
    return this.#response;
  }

  async complete(): Promise<readonly ReportedCall[]> {
    this.#mustBeOpen();
    const response = this.#response;
    if (!response) throw new Error("complete() without an answer under way: call begin() first.");
    if (!response.finish) throw new Error("complete() before the answer's finish was pushed.");
    const { session, origin, agent } = this.#run;
    const { reason } = response.finish;
    response.closed = true;
    this.#response = undefined;
    this.#message = response.id;
    this.#asked = response.calls();
    const finish = this.#asked.length > 0 && reason === "stop" ? "calls" : reason;
    await session.commit([response.completion(finish), ...response.pending()], { durable: true, origin });
    if (this.#asked.length > 0 && agent.callbacks.onCalls) await tellCalls(this.#run, response.id, this.#asked);
    return this.#asked.map(({ id, tool, input }) => ({ id, tool, input }));
  }

  async started(call: string): Promise<void> {
    const { tool } = this.#open(call);
    await this.#write({
      type: "call.executing",
      message: this.#message,
      call,
      tool,
      attempt: 1,
      key: `${this.#message}.${call}`,
    });
  }

  progress(call: string, text: string): void {
    this.#open(call);
    const { session, source, origin } = this.#run;
    session.stream([{ type: "call.output.delta", message: this.#message, call, text }], source, origin);
  }

  async ended(call: string, { output, failed }: { readonly output: string; readonly failed: boolean }): Promise<void> {
    const asked = this.#open(call);
    const type = failed ? "call.failed" : "call.completed";
    await this.#write({ type, ...sayingCall(this.#message, asked), output });
    const message = assistantMessage(this.#run.session, this.#message);
    const settled = message.calls.find(({ id }) => id === call);
    if (settled) await tell(this.#run, "onCall", settled, message);
  }

  async execute(call: string): Promise<PromptResult> {
    const asked = this.#open(call);
    const batch = new CallBatch(this.#run, this.#message);
    const events = await batch.prepare([asked], { logged: true });
    const { session, origin } = this.#run;
    if (events.length > 0) await session.commit(events, { durable: batch.hasEffects, origin });
    await batch.run();
    const settled = assistantMessage(this.#run.session, this.#message).calls.find(({ id }) => id === call);
    return { call, tool: asked.tool, output: settled?.output ?? "", failed: settled?.status !== "completed" };
  }

  async interjected(text: string): Promise<void> {
    this.#mustBeOpen();
    if (this.#response) throw new Error("interjected() in the middle of an answer: complete it first.");
    const { id: run, session, branch } = this.#run;
    const message = createId();
    await this.#settle("Not executed: the user interjected.");
    await this.#write({
      type: "message.added",
      message,
      parentId: branch.leaf,
      run,
      role: "user",
      author: "user",
      parts: [{ type: "text", text }],
    });
    branch.extend(message);
    const added = session.state.messages.get(message);
    if (added?.role === "user") await tell(this.#run, "onInterjection", added);
  }

  /** The turn is over: what is open is closed, and nothing more is taken. */
  async close(error: ModelError | undefined): Promise<void> {
    this.#closed = true;
    const { signal } = this.#run;
    const why = error
      ? `Not executed: the turn broke off: ${error.message}`
      : signal.aborted
        ? notExecuted(signal)
        : "";
    const response = this.#response;
    this.#response = undefined;
    if (response) {
      response.closed = true;
      await response.keep(error ? "error" : "interrupted", why || "Not executed: the turn ended.", error);
    }
    await this.#settle(why || "Not executed: the turn ended.");
  }

  /** Rejects, and remembers why, when a limit leaves no room for another step. */
  async #makeRoom(): Promise<void> {
    const limit = this.#run.budget.takeRoom();
    if (limit === undefined) return;
    const message = `The turn reached ${limit}.`;
    if (this.#run.agent.limits.policy === "ask" && (await askForMore(this.#run, message))) return;
    this.limit = limit;
    throw new LimitReached(message);
  }

  /** Calls of the last response that nobody ended get `why` as their result. */
  async #settle(why: string): Promise<void> {
    if (this.#asked.length === 0) return;
    const { calls } = assistantMessage(this.#run.session, this.#message);
    const open = calls.filter((call) => !isEnded(call.status));
    this.#asked = [];
    const cancelled = open.map((call): EventBody => {
      return { type: "call.cancelled", ...sayingCall(this.#message, call), output: why };
    });
    if (cancelled.length > 0) await this.#write(...cancelled);
  }

  async #write(...events: readonly EventBody[]): Promise<void> {
    await this.#run.session.commit(events, { durable: true, origin: this.#run.origin });
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new Error("The turn has ended; nothing more can be reported.");
  }

  /** A call of the last response that has no result yet. */
  #open(call: string): AskedCall {
    this.#mustBeOpen();
    const asked = this.#asked.find(({ id }) => id === call);
    if (!asked) throw new Error(`Call ${call} is not one of the answer that was completed last.`);
    const { status } = assistantMessage(this.#run.session, this.#message).calls.find(({ id }) => id === call) ?? {};
    if (status === undefined || isEnded(status)) throw new Error(`Call ${call} has its result already.`);
    return asked;
  }
}
