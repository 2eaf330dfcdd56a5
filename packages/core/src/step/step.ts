import { tellCalls } from "../calls/asked-call.ts";
import { CallBatch } from "../calls/calls.ts";
import type { AssistantMessage, Finish } from "../conversation/message.ts";
import type { ModelDriver, ModelError, ModelRequest } from "../ports/model.ts";
import { Patience, waitToRetry } from "../run/patience.ts";
import { assistantMessage, type StandIn, type TurnRun, tell } from "../run/run.ts";
import { messageOf, notExecuted } from "../toolbox/execute.ts";
import { callModel } from "./model-call.ts";
import { ResponseMessage } from "./response-message.ts";

/**
 * How a step went. `calls`: the model waits for their results, which are there. `told`: it asked for no call, and is told
 * what came of its message. `paused`: the provider is to go on. `replaced`: another model is to answer.
 */
export type StepEnd =
  | { readonly type: "calls"; readonly message: AssistantMessage }
  | { readonly type: "told"; readonly message: AssistantMessage }
  | { readonly type: "paused"; readonly message: AssistantMessage }
  | { readonly type: "ended"; readonly message: AssistantMessage }
  | { readonly type: "failed"; readonly error: ModelError }
  | { readonly type: "replaced" }
  | { readonly type: "aborted" };

const CUT_OFF =
  "Not executed: your message was cut off by the output limit. Send shorter messages, or fewer calls in one.";
const FILTERED = "Not executed: your message was cut off by the provider's content filter.";
const NO_TOOLS = "Not executed: no tools can be used any more in this turn.";

/** One model call and the calls that it asks for. `standIn`: who goes on where the model stays out, if anybody does. */
export async function takeStep(
  run: TurnRun,
  model: ModelDriver,
  toolChoice: "auto" | "none",
  standIn?: StandIn,
): Promise<StepEnd> {
  const { agent, branch } = run;
  const request: ModelRequest = {
    instructions: agent.instructions.text,
    messages: branch.prompt(),
    tools: agent.toolbox.schemas,
    toolChoice,
    settings: agent.settings,
  };
  // What followers do with a message comes before its calls.
  const eager = toolChoice === "auto" && run.followers.size === 0;
  run.followers.failed = false;
  const patience = new Patience(agent, run.budget.steps > 1);
  for (;;) {
    const response = await ResponseMessage.begin(run, { eager });
    const error = await callModel(run, model, request, response);
    response.closed = true;
    if (!error) return await complete(run, response, toolChoice);
    response.eager?.discard(error);

    if (run.signal.aborted) {
      await response.keep("interrupted", notExecuted(run.signal));
      await drop(run, messageOf(run.signal.reason));
      return { type: "aborted" };
    }
    await tell(run, "onModelError", error);
    const delay = patience.after(error, response.begun);
    if (delay === undefined) {
      const by = await standIn?.(error);
      if (by) {
        // The answer of the other stands in the place of what this one had begun.
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

/** The response is whole: logs it together with its calls, and runs them. */
async function complete(run: TurnRun, response: ResponseMessage, toolChoice: "auto" | "none"): Promise<StepEnd> {
  const { session, origin } = run;
  const message = response.id;
  const finish = response.finish as NonNullable<ResponseMessage["finish"]>;
  const asked = response.calls();
  const cut = finish.reason === "length" ? CUT_OFF : finish.reason === "filtered" ? FILTERED : undefined;
  const reason = asked.length > 0 && !cut ? "calls" : finish.reason === "calls" ? "stop" : finish.reason;
  const refusal = cut ?? (toolChoice === "none" ? NO_TOOLS : undefined);
  if (refusal !== undefined) response.eager?.discard(new Error(refusal));
  const completed = response.completion(reason);
  const followed = run.followers.size > 0;
  if (asked.length === 0) {
    // The end of the run follows, and takes it along to the disk; what followers do must not come before it.
    await session.commit([completed], { durable: followed, origin });
    const told = followed && (await follow(run, message, reason));
    return {
      type: told ? "told" : reason === "paused" ? "paused" : "ended",
      message: assistantMessage(session, message),
    };
  }
  // The answer and the intents of what starts first are one commit, on the disk before an effect. `git push` runs, and the
  // machine loses its power before the result is written: the intent alone tells the next process that it may have been
  // pushed, so that it says "whether it took effect is unknown" and does not push again.
  const batch = new CallBatch(run, message, response.eager);
  const { onCalls } = run.agent.callbacks;
  // Who hears of the calls before they start hears of them before their intents are in the log.
  const judged = await batch.prepare(asked, { refusal, later: followed || onCalls !== undefined });
  await session.commit([completed, ...judged], { durable: batch.hasEffects || followed, origin });
  if (followed) await follow(run, message, reason);
  if (onCalls) await tellCalls(run, message, asked);
  await batch.run();
  // A call that began early and was cancelled has no result for anybody.
  response.eager?.discard(new Error("nobody waits for it any more"));
  return { type: toolChoice === "none" ? "ended" : "calls", message: assistantMessage(session, message) };
}

/**
 * Whoever listened to the response does what it listened for, if the response is whole. Returns whether the model is told
 * something.
 */
function follow(run: TurnRun, message: string, finish: Finish): Promise<boolean> {
  if (run.signal.aborted) return run.followers.drop(messageOf(run.signal.reason));
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

/** Whoever listened to a response that is not whole listened in vain. */
async function drop({ followers }: TurnRun, reason: string): Promise<void> {
  if (followers.size > 0) await followers.drop(reason);
}
