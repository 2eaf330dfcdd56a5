import { type AskedCall, tellCalls } from "../calls/asked-call.ts";
import { CallBatch } from "../calls/calls.ts";
import { requestTokens } from "../context/tokens.ts";
import { errorMessage } from "../conversation/error-message.ts";
import type { AssistantMessage, Finish } from "../conversation/message.ts";
import { totalTokens } from "../conversation/usage.ts";
import { type ModelDriver, ModelError, type ModelRequest, type ToolChoice } from "../ports/model.ts";
import { assistantMessage } from "../run/branch.ts";
import { Patience, waitForRate, waitToRetry } from "../run/patience.ts";
import { type FallbackModel, notify, type TurnRun } from "../run/run.ts";
import { notExecuted } from "../toolbox/execute.ts";
import { callModel } from "./model-call.ts";
import { ResponseMessage } from "./response-message.ts";

/**
 * How a step ended. `calls`: the results of the calls are ready for the model. `told`: the model asked for no call, but
 * followers have a message for it. `paused`: the provider must continue. `refused`: the output guard refused the
 * response. `replaced`: another model must answer.
 */
export type StepEnd =
  | { readonly type: "calls"; readonly message: AssistantMessage }
  | { readonly type: "told"; readonly message: AssistantMessage }
  | { readonly type: "paused"; readonly message: AssistantMessage }
  | { readonly type: "ended"; readonly message: AssistantMessage }
  | { readonly type: "failed"; readonly error: ModelError }
  | { readonly type: "refused"; readonly reason: string }
  | { readonly type: "replaced" }
  | { readonly type: "aborted" };

const CUT_OFF =
  "Not executed: your message was cut off by the output limit. Send shorter messages, or fewer calls in one message.";
const FILTERED = "Not executed: your message was cut off by the provider's content filter.";
const NO_TOOLS = "Not executed: no tools can be used any more in this turn.";

/** Makes one model call, and runs the tool calls of the response. `standIn` returns a fallback for a failed model. */
export async function takeStep(
  run: TurnRun,
  model: ModelDriver,
  toolChoice: ToolChoice,
  standIn?: FallbackModel,
): Promise<StepEnd> {
  const { agent, branch } = run;
  const request: ModelRequest = {
    instructions: agent.instructions.text,
    messages: branch.prompt(),
    tools: agent.toolbox.schemas,
    toolChoice,
    settings: agent.settings,
    output: agent.mode.output?.schema,
  };
  // Followers act on a message before its calls run, and a guard may refuse the calls, so no call may begin early.
  const eager = toolChoice !== "none" && run.followers.size === 0 && !agent.guards?.output;
  run.followers.failed = false;
  const patience = new Patience(agent, run.budget.steps > 1);
  for (;;) {
    const { rateLimit } = agent;
    const tokens = rateLimit?.countsTokens ? requestTokens(run) : 0;
    const countUsed = rateLimit && (await waitForRate(run, rateLimit, { attempt: patience.attempt, tokens }));
    if (rateLimit && !countUsed) return { type: "aborted" };
    const response = await ResponseMessage.begin(run, { eager, guards: agent.guards });
    const error = await callModel(run, model, request, response);
    if (response.finish) countUsed?.(totalTokens(response.finish.usage));
    response.closed = true;
    if (!error) {
      const guard = agent.guards?.output;
      const refusal = guard && (await response.refusal(guard));
      return refusal === undefined ? await complete(run, response, toolChoice) : await refuse(run, response, refusal);
    }
    response.eager?.discard(error);

    if (run.signal.aborted) {
      await response.keep("interrupted", notExecuted(run.signal));
      await drop(run, errorMessage(run.signal.reason));
      return { type: "aborted" };
    }
    await notify(run, "onModelError", error);
    const delay = patience.after(error, response.begun);
    if (delay === undefined) {
      const by = await standIn?.(error);
      if (by) {
        // The fallback's answer replaces the unfinished response.
        await response.abandon(error.message);
        await drop(run, `the answer broke off: ${error.message}`);
        return { type: "replaced" };
      }
      await response.keep("error", `Not executed: the answer broke off: ${error.message}`, error);
      await drop(run, `the answer broke off: ${error.message}`);
      return { type: "failed", error };
    }
    await response.abandon(error.message);
    run.followers.restart();
    if (!(await waitToRetry(run, patience.attempt, delay, error))) return { type: "aborted" };
  }
}

/** Discards a response that the output guard refused, or could not check before an abort. None of its calls counts. */
async function refuse(run: TurnRun, response: ResponseMessage, reason: string): Promise<StepEnd> {
  response.eager?.discard(new Error(reason));
  await response.abandon(reason);
  await drop(run, reason);
  return run.signal.aborted ? { type: "aborted" } : { type: "refused", reason };
}

async function complete(run: TurnRun, response: ResponseMessage, toolChoice: ToolChoice): Promise<StepEnd> {
  const { session, origin } = run;
  const message = response.id;
  const finish = response.finish as NonNullable<ResponseMessage["finish"]>;
  const asked = response.calls();
  const cut = finish.reason === "length" ? CUT_OFF : finish.reason === "filtered" ? FILTERED : undefined;
  const reason = asked.length > 0 && !cut ? "calls" : finish.reason === "calls" ? "stop" : finish.reason;
  const unforced = cut || reason === "paused" ? undefined : missingCall(run, toolChoice, asked);
  const refusal = cut ?? unforced?.refusal ?? (toolChoice === "none" ? NO_TOOLS : undefined);
  if (refusal !== undefined) response.eager?.discard(new Error(refusal));
  const completed = response.completion(reason);
  const followed = run.followers.size > 0;
  if (asked.length === 0) {
    // Followers act only after this event is on the disk. Without followers, the commit at the end of the run flushes
    // it.
    await session.commit([completed], { durable: followed, origin });
    const told = followed && (await runFollowers(run, message, reason));
    if (unforced) return { type: "failed", error: unforced.error };
    return {
      type: told ? "told" : reason === "paused" ? "paused" : "ended",
      message: assistantMessage(session, message),
    };
  }
  // The response and the intents of the first calls are one commit, on the disk before any effect. After a power cut,
  // an intent without a result tells the next process that the call may have run. So `git push` does not run twice.
  const batch = new CallBatch(run, message, response.eager);
  const { onCalls } = run.agent.callbacks;
  // `onCalls` must run before the intents are in the log.
  const judged = await batch.prepare(asked, { refusal, later: followed || onCalls !== undefined });
  await session.commit([completed, ...judged], { durable: batch.hasEffects || followed, origin });
  if (followed) await runFollowers(run, message, reason);
  if (onCalls) await tellCalls(run, message, asked);
  await batch.run();
  response.eager?.discard(new Error("its caller no longer waits"));
  if (batch.defect) throw batch.defect;
  if (unforced) return { type: "failed", error: unforced.error };
  return { type: toolChoice === "none" ? "ended" : "calls", message: assistantMessage(session, message) };
}

/** Returns the error of a response without the call that `toolChoice` forces, and the result of its other calls. */
function missingCall({ agent }: TurnRun, toolChoice: ToolChoice, asked: readonly AskedCall[]) {
  if (toolChoice === "auto" || toolChoice === "none") return undefined;
  const { tool } = toolChoice === "required" ? {} : toolChoice;
  if (tool === undefined ? asked.length > 0 : asked.some((call) => (call.via ?? call.tool) === tool)) return undefined;
  const demand = tool === undefined ? "calling a tool" : `calling "${tool}"`;
  const fact = `${agent.model.id} responded without ${demand}, which the agent's toolChoice forces`;
  const advice = "use a model that supports forced calls, or leave out toolChoice";
  return { error: new ModelError("invalid-request", { fact, advice }), refusal: `Not executed before ${demand}.` };
}

/** Lets the followers act on a complete response, or drops them. Returns true if the model gets a message. */
function runFollowers(run: TurnRun, message: string, finish: Finish): Promise<boolean> {
  if (run.signal.aborted) return run.followers.drop(errorMessage(run.signal.reason));
  switch (finish) {
    case "stop":
    case "calls":
    case "paused":
      return run.followers.complete(message, run.signal);
    case "length":
      return run.followers.drop("your message was cut off by the output limit");
    default:
      return run.followers.drop("your message was cut off by the provider's content filter");
  }
}

async function drop({ followers }: TurnRun, reason: string): Promise<void> {
  if (followers.size > 0) await followers.drop(reason);
}
