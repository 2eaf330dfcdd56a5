import { isTooDeep } from "../conversation/checked/written-input.ts";
import { errorMessage } from "../conversation/error-message.ts";
import type { Json } from "../conversation/part.ts";
import { orAborted } from "../model/alarm.ts";
import type { PermitRequest } from "../ports/human.ts";
import type { Tool } from "../ports/tool.ts";
import { ALLOWED, DecisionError, knownDecision, type Permit, withHook } from "../ports/verdict.ts";
import type { TurnRun } from "../run/run.ts";
import { checkedInput, isSameInput } from "../toolbox/checked-input.ts";
import { notExecuted } from "../toolbox/execute.ts";
import type { AskedCall } from "./asked-call.ts";

/** The decision about a call: its final output, or the permission to run, with or without a user's approval. */
export type CallVerdict = CallEnd | Runnable;

interface CallEnd {
  readonly ended: "failed" | "denied" | "cancelled";
  readonly output: string;
  /** An error that fails the turn after all calls have their results. */
  readonly defect?: DecisionError;
}

export interface Runnable {
  readonly tool: Tool;
  /** The checked arguments, as logged and shown. */
  readonly input: Json;
  /** The checked arguments in the form for the tool. */
  readonly value: unknown;
  readonly permit: Exclude<Permit, { decision: "deny" }>;
}

/** Decides if a call may run. With `seen`, a user saw the arguments: the check must not change them. Never rejects. */
export async function judge(run: TurnRun, call: AskedCall, { seen = false } = {}): Promise<CallVerdict> {
  const { agent, signal } = run;
  const { toolbox, permission } = agent;
  const tool = toolbox.find(call.tool);
  if (!tool) return { ended: "failed", output: toolbox.unknown(call.tool) };
  if (call.input === undefined) {
    const problem = jsonProblem(call.inputText);
    return {
      ended: "failed",
      output: `The arguments of "${call.tool}" are not JSON: ${problem}. Send one JSON object.`,
    };
  }
  try {
    const checked = await orAborted(toolbox.check(call.tool, call.input), signal);
    if (!checked.ok) {
      return {
        ended: "failed",
        output: `The arguments of "${call.tool}" do not match its schema: ${checked.problem}.`,
      };
    }
    let { input, value } = checkedInput(checked.input);
    if (seen && !isSameInput(input, call.input))
      return { ended: "failed", output: `Not executed: ${otherThanSeen(input)}` };
    const request = permitRequest(run, call.id, tool, input);
    const asked = agent.hooks.beforeCall && (await orAborted(agent.hooks.beforeCall(request), signal));
    const before = knownDecision("hooks.beforeCall", asked);
    if (before?.decision === "deny") return { ended: "denied", output: `Not allowed: ${before.reason}` };
    if (before?.input !== undefined && !seen && !isSameInput(before.input, input)) {
      if (tool.asAsked) return { ended: "denied", output: AS_ASKED };
      const changed = await orAborted(toolbox.check(call.tool, before.input), signal);
      if (!changed.ok) {
        return {
          ended: "failed",
          output: `Not executed: a hook changed the arguments so that they do not match the tool's schema: ${changed.problem}.`,
        };
      }
      ({ input, value } = checkedInput(changed.input));
    }
    const judged = permission ? await orAborted(permission({ ...request, input }), signal) : ALLOWED;
    let permit = withHook(judged, before);
    if (permit?.decision === "ask" && agent.hooks.beforeQuestion)
      permit = withHook(
        permit,
        knownDecision(
          "hooks.beforeQuestion",
          await orAborted(agent.hooks.beforeQuestion({ ...request, input }), signal),
        ),
      );
    // A rule without types may return nothing.
    switch (permit?.decision) {
      case "allow":
      case "ask":
        return { tool, input, value, permit };
      case "deny":
        return { ended: "denied", output: `Not allowed: ${permit.reason}` };
      default:
        permit satisfies never;
        throw new DecisionError("permission", permit);
    }
  } catch (error) {
    if (signal.aborted) return { ended: "cancelled", output: notExecuted(signal) };
    // A schema or a rule that throws is a defect outside this call: nothing runs, and the model gets the error.
    const output = `Not executed: checking this call failed: ${errorMessage(error)}`;
    return { ended: "failed", output, ...(error instanceof DecisionError && { defect: error }) };
  }
}

export function permitRequest({ id, session, signal }: TurnRun, call: string, tool: Tool, input: Json): PermitRequest {
  return { call, run: id, tool, input, conversation: session.state, allowed: session.allowed, signal };
}

/** Returns the reason why a call of `tool` cannot run with the arguments that a user wrote, or nothing. */
export async function unfitAnswer(run: TurnRun, tool: string, written: Json): Promise<string | undefined> {
  const checked = await orAborted(run.agent.toolbox.check(tool, written), run.signal);
  if (!checked.ok) return `The arguments do not match the tool's schema: ${checked.problem}.`;
  const { input } = checkedInput(checked.input);
  return isSameInput(input, written) ? undefined : otherThanSeen(input);
}

function otherThanSeen(input: Json): string {
  return `The tool would change these arguments to ${JSON.stringify(input)}. Send the changed arguments if you agree.`;
}

const AS_ASKED = "Not allowed: a hook changed the arguments, but this agent cannot run a changed call.";

function jsonProblem(text: string): string {
  if (isTooDeep(text)) return "they are nested too deep";
  try {
    JSON.parse(text);
    return "a JSON string inside holds something else";
  } catch (error) {
    return errorMessage(error);
  }
}
