import { type AskedCall, tellCalls } from "../calls/asked-call.ts";
import { CallBatch } from "../calls/calls.ts";
import { permitRequest } from "../calls/judge.ts";
import { errorMessage } from "../conversation/error-message.ts";
import type { EventBody } from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import { type About, type Call, type FileChange, isEnded, outputForModel, textOf } from "../conversation/message.ts";
import type { Json } from "../conversation/part.ts";
import { callFields } from "../conversation/tree/call-state.ts";
import { worktreeAt } from "../conversation/tree/path.ts";
import { totalTokens } from "../conversation/usage.ts";
import { ModelError, type ModelSink, type PromptResult } from "../ports/model.ts";
import type { CountTokensUsed } from "../ports/rate-limit.ts";
import type { LoopDriver, ReportedCall, Tool, TurnSink } from "../ports/tool.ts";
import { assistantMessage } from "../run/branch.ts";
import { runInTime } from "../run/limits.ts";
import { failedEnd, type LoopEnd } from "../run/mode.ts";
import { waitForRate } from "../run/patience.ts";
import { notify, type TurnRun } from "../run/run.ts";
import { SessionError } from "../session/error.ts";
import { ResponseMessage } from "../step/response-message.ts";
import { checkTool } from "../toolbox/check-tool.ts";
import { GRACE, notExecuted } from "../toolbox/execute.ts";
import { boundText, DEFAULT_OUTPUT } from "../toolbox/output.ts";
import { Toolbox } from "../toolbox/toolbox.ts";
import { askForMore } from "./at-limit.ts";

/** The loop gets this error from its next report. */
class LimitReached extends Error {
  override readonly name = "LimitReached";
}

/** Runs a turn with an external loop (`LoopDriver`). At the end, every call has its result and no response is open. */
export function reportedLoop(run: TurnRun, loop: LoopDriver): Promise<LoopEnd> {
  return runInTime(
    run,
    () => run.budget.hardTime(),
    async (run) => {
      const turn = new ReportedTurn(run);
      const error = await waitForLoop(run, turn, loop);
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
      if (error) return failedEnd(error);
      if (loop.ownTools) endTask(run);
      return { reason: run.progress.finished ? "finished" : "answered" };
    },
  );
}

/** Waits for the loop, and after an abort only for 3 seconds. Returns the loop's error, if any. */
async function waitForLoop(run: TurnRun, turn: ReportedTurn, loop: LoopDriver): Promise<ModelError | undefined> {
  const { agent, branch, session, signal } = run;
  const abandoned = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  const abort = () => {
    timer = setTimeout(abandoned.resolve, GRACE);
  };
  if (signal.aborted) return undefined;
  signal.addEventListener("abort", abort, { once: true });
  try {
    const { settings, instructions, toolbox, own } = agent;
    const told = loop.ownTools
      ? { instructions: own.instructions, tools: [] }
      : { instructions: instructions.text, tools: toolbox.schemas };
    const given = {
      ...told,
      messages: [...branch.prompt()],
      settings,
      branched: isBranched(run),
      conversation: session.id,
      worktree: worktreeAt(session.state, branch.leaf),
    };
    await Promise.race([loop.run(given, turn, signal), abandoned.promise]);
    return undefined;
  } catch (error) {
    if (error instanceof SessionError) throw error;
    if (error instanceof ModelError) return error;
    if (error instanceof LimitReached || signal.aborted) return undefined;
    return new ModelError("provider", errorMessage(error), { cause: error, retryable: false });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** The last text of a loop without our tools is the result of its task, unless the result must have a schema. */
function endTask({ agent, branch, progress }: TurnRun): void {
  const last = branch.path.at(-1);
  if (agent.mode.name !== "task" || agent.mode !== agent.taskMode || last?.role !== "assistant") return;
  const text = textOf(last);
  if (text !== "") progress.finished = { result: text, summary: undefined };
}

/** True if another run has continued from the last response of the run's path. */
function isBranched({ session, branch: { path } }: TurnRun): boolean {
  const { children } = session.state;
  const last = path.findLastIndex(({ role }) => role === "assistant");
  const since = path.slice(Math.max(last, 0));
  const own = new Set(since.map(({ id }) => id));
  return last >= 0 && since.some(({ id }) => children.get(id)?.some((child) => !own.has(child)));
}

interface UnansweredCall {
  readonly asked: AskedCall;
  readonly message: string;
  /** The call runs or is being decided, so it outlives its response. */
  busy: boolean;
}

/** Writes the report of a loop, and checks its order. */
class ReportedTurn implements TurnSink {
  readonly #run: TurnRun;
  #response: ResponseMessage | undefined;
  #countUsed: CountTokensUsed | undefined;
  readonly #calls = new Map<string, UnansweredCall>();
  #closed = false;
  limit: string | undefined;

  constructor(run: TurnRun) {
    this.#run = run;
  }

  async begin(): Promise<ModelSink> {
    this.#mustBeOpen();
    if (this.#response) throw new Error("begin() was called before the current answer was completed.");
    await this.#settle("Not executed: the agent continued without this call.", ({ busy }) => !busy);
    await this.#makeRoom();
    const { rateLimit } = this.#run.agent;
    // Only the loop knows its request, so its tokens count when they are known.
    this.#countUsed = rateLimit && (await waitForRate(this.#run, rateLimit, { attempt: 1, tokens: 0 }));
    if (rateLimit && !this.#countUsed) throw this.#run.signal.reason;
    this.#run.budget.beginStep();
    this.#response = await ResponseMessage.begin(this.#run);
    return this.#response;
  }

  async complete(): Promise<readonly ReportedCall[]> {
    this.#mustBeOpen();
    const response = this.#response;
    if (!response) throw new Error("complete() was called without a current answer. Call begin() first.");
    if (!response.finish) throw new Error("complete() before the answer's finish was pushed.");
    const { session, origin, agent } = this.#run;
    const { reason, usage } = response.finish;
    this.#countUsed?.(totalTokens(usage));
    response.closed = true;
    this.#response = undefined;
    const calls = response.calls();
    for (const asked of calls) this.#calls.set(asked.id, { asked, message: response.id, busy: false });
    const finish = calls.length > 0 && reason === "stop" ? "calls" : reason;
    await session.commit([response.completion(finish), ...response.pending()], { durable: true, origin });
    if (calls.length > 0 && agent.callbacks.onCalls) await tellCalls(this.#run, response.id, calls);
    return calls.map(({ id, tool, input }) => ({ id, tool, input }));
  }

  async started(call: string, about?: About): Promise<void> {
    const open = this.#open(call);
    const { message, asked } = open;
    open.busy = true;
    const started = { type: "call.executing", message, call, tool: asked.tool, attempt: 1 } as const;
    await this.#write({ ...started, key: `${message}.${call}`, ...(about && { about }) });
  }

  progress(call: string, text: string): void {
    const { message } = this.#open(call);
    const { session, source, origin } = this.#run;
    session.stream([{ type: "call.output.delta", message, call, text }], source, origin);
  }

  async changed(call: string, { path, kind, before, after, added, removed, diff }: FileChange): Promise<void> {
    const { message } = this.#open(call);
    await this.#write({ type: "file.changed", message, call, path, kind, before, after, added, removed, diff });
  }

  async ended(call: string, { output, failed }: { readonly output: string; readonly failed: boolean }): Promise<void> {
    const { message, asked } = this.#open(call);
    this.#calls.delete(call);
    const said = boundText(output, DEFAULT_OUTPUT);
    await this.#write({ type: failed ? "call.failed" : "call.completed", ...callFields(message, asked), output: said });
    const settled = this.#callOf(message, call);
    if (settled) await notify(this.#run, "onCall", settled, assistantMessage(this.#run.session, message));
  }

  async execute(call: string, theirs?: Tool, signal?: AbortSignal): Promise<PromptResult> {
    const open = this.#open(call);
    const { message, asked } = open;
    open.busy = true;
    const batch = new CallBatch(runForCall(this.#run, theirs, signal), message);
    const events = await batch.prepare([asked], { logged: true });
    const { session, origin } = this.#run;
    if (events.length > 0) await session.commit(events, { durable: batch.hasEffects, origin });
    await batch.run();
    const settled = this.#callOf(message, call);
    this.#calls.delete(call);
    if (batch.defect) throw batch.defect;
    const result = {
      call,
      tool: asked.tool,
      output: settled ? outputForModel(settled) : "",
      failed: settled?.status !== "completed",
    };
    return settled?.files ? { ...result, files: settled.files } : result;
  }

  async unasked(call: string, theirs: Tool, input: Json): Promise<void> {
    const permit = await this.#run.agent.permission?.({ ...permitRequest(this.#run, call, theirs, input), done: true });
    const act = `${theirs.name} ran without asking: ${theirs.description}.`;
    if (permit?.decision === "deny") throw new ModelError("provider", `${act} ${permit.reason}`, { retryable: false });
  }

  async interjected(text: string): Promise<void> {
    this.#mustBeOpen();
    if (this.#response)
      throw new Error("interjected() was called in the middle of an answer. Complete the answer first.");
    const { id: run, session, branch } = this.#run;
    const message = createId();
    await this.#settle("Not executed: the user sent another message first.");
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
    if (added?.role === "user") await notify(this.#run, "onInterjection", added);
  }

  /** Closes all open responses and calls. Later reports are rejected. */
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

  /** Rejects when a limit leaves no room for another step, and keeps the limit. */
  async #makeRoom(): Promise<void> {
    const limit = this.#run.budget.takeRoom();
    if (limit === undefined) return;
    const message = `The turn reached ${limit}.`;
    if (this.#run.agent.limits.policy === "ask" && (await askForMore(this.#run, message))) return;
    this.limit = limit;
    throw new LimitReached(message);
  }

  /** Gives open calls `why` as their result: all, or those chosen by `which`. */
  async #settle(why: string, which: (call: UnansweredCall) => boolean = () => true): Promise<void> {
    const cancelled: EventBody[] = [];
    for (const [id, call] of this.#calls) {
      if (!which(call)) continue;
      this.#calls.delete(id);
      const now = this.#callOf(call.message, id);
      if (!now || isEnded(now.status)) continue;
      cancelled.push({ type: "call.cancelled", ...callFields(call.message, now), output: why });
    }
    if (cancelled.length > 0) await this.#write(...cancelled);
  }

  async #write(...events: readonly EventBody[]): Promise<void> {
    await this.#run.session.commit(events, { durable: true, origin: this.#run.origin });
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new Error("The turn has ended; nothing more can be reported.");
  }

  /** Returns a call of a complete response without a result. Throws for any other call. */
  #open(call: string): UnansweredCall {
    this.#mustBeOpen();
    const open = this.#calls.get(call);
    if (open && !isEnded(this.#callOf(open.message, call)?.status ?? "cancelled")) return open;
    const has = open !== undefined || this.#run.session.state.calls.has(call);
    throw new Error(has ? `Call ${call} already has a result.` : `Call ${call} does not belong to a completed answer.`);
  }

  #callOf(message: string, call: string): Call | undefined {
    return assistantMessage(this.#run.session, message).calls.find(({ id }) => id === call);
  }
}

function runForCall(run: TurnRun, tool: Tool | undefined, signal: AbortSignal | undefined): TurnRun {
  return {
    ...run,
    ...(tool && { agent: { ...run.agent, toolbox: Toolbox.of([tool], checkTool) } }),
    ...(signal && { signal: AbortSignal.any([run.signal, signal]) }),
  };
}
