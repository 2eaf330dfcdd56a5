import { setTimeout as sleep } from "node:timers/promises";
import type { EventBody } from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import type { AssistantMessage, Finish } from "../conversation/message.ts";
import { costOf, noUsage } from "../conversation/usage.ts";
import { ModelError, type ModelRequest } from "../ports/model.ts";
import { SessionError } from "../session/error.ts";
import { Answer, type AskedCall } from "./answer.ts";
import { CallBatch, notExecuted } from "./calls.ts";
import { messageOf } from "./execute.ts";
import { answerOf, type TurnRun, tell } from "./run.ts";

/** How a step went. `calls`: the model waits for their results, which are there. */
export type StepEnd =
  | { readonly type: "calls"; readonly message: AssistantMessage }
  | { readonly type: "answer"; readonly message: AssistantMessage }
  | { readonly type: "failed"; readonly error: ModelError }
  | { readonly type: "aborted" };

const CUT_OFF =
  "Not executed: your message was cut off by the output limit. Send shorter messages, or fewer calls in one.";
const NO_TOOLS = "Not executed: no tools can be used any more in this turn.";

/** One model call and the calls that it asks for. */
export async function takeStep(run: TurnRun, toolChoice: "auto" | "none"): Promise<StepEnd> {
  const { session, agent, branch } = run;
  const request: ModelRequest = {
    instructions: agent.instructions.text,
    messages: branch.prompt(),
    tools: agent.toolbox.schemas,
    toolChoice,
    settings: agent.settings,
  };
  const { attempts = 4 } = agent.retry;
  for (let attempt = 1; ; attempt++) {
    const message = createId();
    const started = {
      type: "message.started",
      message,
      parentId: branch.leaf,
      run: run.id,
      model: agent.model.id,
    } as const;
    await session.commit([started], { origin: run.origin });
    branch.extend(message);
    if (agent.callbacks.onMessage) tell(run, "onMessage", answerOf(session, message));

    const answer = new Answer(session, message, run.origin, run.reader);
    const error = await stream(run, request, answer);
    answer.closed = true;
    if (!error) return await complete(run, message, answer, toolChoice);

    if (run.signal.aborted) {
      await keep(run, message, answer, "interrupted", undefined);
      return { type: "aborted" };
    }
    const delay = attempt < attempts ? delayBefore(attempt, error, run) : undefined;
    if (delay === undefined) {
      await keep(run, message, answer, "error", error);
      return { type: "failed", error };
    }
    await abandon(run, message, answer, error.message);
    session.notify(
      { type: "model.retrying", run: run.id, attempt: attempt + 1, delay, reason: error.message },
      run.origin,
    );
    try {
      await sleep(delay, undefined, { signal: run.signal });
    } catch {
      // Only an abort of the run ends the wait early.
      return { type: "aborted" };
    }
  }
}

/** Calls the model and answers what went wrong, if anything did. An abort of the run answers an error at once. */
async function stream(run: TurnRun, request: ModelRequest, answer: Answer): Promise<ModelError | undefined> {
  const { idle = 120_000 } = run.agent.retry;
  const call = new AbortController();
  const aborted = Promise.withResolvers<never>();
  const abort = () => {
    call.abort(run.signal.reason);
    aborted.reject(run.signal.reason);
  };
  if (run.signal.aborted) return new ModelError("provider", "The run was interrupted.");
  run.signal.addEventListener("abort", abort, { once: true });
  const watch = setTimeout(function check() {
    const silent = run.reader?.full ? 0 : performance.now() - answer.heardAt;
    if (silent < idle) return void watch.refresh();
    const stalled = new ModelError(
      "stalled",
      `${run.agent.model.id} has said nothing for ${idle / 1000} s; its stream counts as broken.`,
    );
    call.abort(stalled);
    aborted.reject(stalled);
  }, idle);
  try {
    await Promise.race([run.agent.model.stream(request, answer, call.signal), aborted.promise]);
    if (answer.finish) return undefined;
    return new ModelError("broken-stream", `The stream of ${run.agent.model.id} ended in the middle of an answer.`);
  } catch (error) {
    if (error instanceof ModelError) return error;
    if (error instanceof SessionError) throw error;
    return new ModelError("provider", messageOf(error), { cause: error, retryable: false });
  } finally {
    clearTimeout(watch);
    run.signal.removeEventListener("abort", abort);
  }
}

/** Milliseconds to wait before the next attempt; nothing when there must be none. */
function delayBefore(attempt: number, error: ModelError, run: TurnRun): number | undefined {
  if (!error.retryable) return undefined;
  const { delay = 1_000, maxDelay = 60_000 } = run.agent.retry;
  if (error.retryAfter !== undefined) return error.retryAfter <= maxDelay ? error.retryAfter : undefined;
  // Some spread, so that clients that failed together do not come back together.
  return Math.min(maxDelay, delay * 2 ** (attempt - 1) * (0.75 + Math.random() / 2));
}

/** The answer is whole: logs it together with its calls, and runs them. */
async function complete(run: TurnRun, message: string, answer: Answer, toolChoice: "auto" | "none"): Promise<StepEnd> {
  const { session, origin } = run;
  const finish = answer.finish as NonNullable<Answer["finish"]>;
  const asked = answer.calls();
  const cut = finish.reason === "length" || finish.reason === "filtered";
  const reason = asked.length > 0 && !cut ? "calls" : finish.reason === "calls" ? "stop" : finish.reason;
  const refusal = cut ? CUT_OFF : toolChoice === "none" ? NO_TOOLS : undefined;
  const completed = completion(run, message, answer, reason);
  if (asked.length === 0) {
    await session.commit([completed], { durable: true, origin });
    return { type: "answer", message: answerOf(session, message) };
  }
  const batch = new CallBatch(run, message);
  const judged = await batch.prepare(asked, refusal);
  await session.commit([completed, ...judged], { durable: true, origin });
  if (run.agent.callbacks.onCalls) tell(run, "onCalls", answerOf(session, message).calls, answerOf(session, message));
  await batch.run();
  return { type: toolChoice === "none" ? "answer" : "calls", message: answerOf(session, message) };
}

/** The answer broke off: what came of it is kept, and its calls are not run. */
async function keep(
  run: TurnRun,
  message: string,
  answer: Answer,
  finish: Finish,
  error: ModelError | undefined,
): Promise<void> {
  if (!answer.begun) return abandon(run, message, answer, error?.message ?? "interrupted before the first word");
  const asked: readonly AskedCall[] = answer.calls();
  const why = error ? `Not executed: the answer broke off: ${error.message}` : notExecuted(run.signal);
  const events: EventBody[] = [completion(run, message, answer, finish, error)];
  for (const { id, tool, inputText, input } of asked) {
    const pending = { type: "call.pending", message, call: id, tool, inputText } as const;
    events.push(input === undefined ? pending : { ...pending, input });
    events.push({ type: "call.cancelled", message, call: id, output: why });
  }
  await run.session.commit(events, { durable: true, origin: run.origin });
}

async function abandon(run: TurnRun, message: string, answer: Answer, reason: string): Promise<void> {
  const usage = answer.finish?.usage;
  const spent = usage ? { usage, cost: costOf(usage, run.agent.model.price) } : {};
  if (usage) run.budget.count(usage, costOf(usage, run.agent.model.price));
  run.branch.shorten();
  await run.session.commit([{ type: "message.abandoned", message, reason, ...spent }], { origin: run.origin });
}

function completion(run: TurnRun, message: string, answer: Answer, finish: Finish, error?: ModelError): EventBody {
  const usage = answer.finish?.usage ?? noUsage;
  const cost = costOf(usage, run.agent.model.price);
  run.budget.count(usage, cost);
  return {
    type: "message.completed",
    message,
    parts: answer.parts(),
    finish,
    usage,
    ...(cost === undefined ? {} : { cost }),
    ...(error ? { error: error.message } : {}),
  };
}
