import type { Json } from "../conversation/message.ts";
import { orAborted } from "../model/alarm.ts";
import { isTooDeep } from "../model/depth.ts";
import type { Permit } from "../ports/human.ts";
import type { Tool } from "../ports/tool.ts";
import type { TurnRun } from "../run/run.ts";
import { checkedInput, isSameInput } from "../toolbox/checked-input.ts";
import { messageOf, notExecuted } from "../toolbox/execute.ts";
import type { AskedCall } from "./asked-call.ts";

/** What is to become of a call: it ends here with this output, or may run, or a person decides. */
export type Verdict =
  | { readonly ended: "failed" | "denied" | "cancelled"; readonly output: string }
  | {
      readonly tool: Tool;
      /** As judged: what is logged and shown. */
      readonly input: Json;
      /** The same, for the tool. */
      readonly value: unknown;
      readonly permit: Exclude<Permit, { decision: "deny" }>;
    };

/**
 * Whether a call may run: its tool is there, its arguments fit, and the rules do not deny it. With `seen`, its arguments
 * are what a person saw, and the check must leave them as they are. Never rejects.
 */
export async function judge(run: TurnRun, call: AskedCall, { seen = false } = {}): Promise<Verdict> {
  const { agent, session, signal } = run;
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
      return { ended: "failed", output: `The arguments of "${call.tool}" do not fit: ${checked.problem}.` };
    }
    const { input, value } = checkedInput(checked.input);
    if (seen && !isSameInput(input, call.input))
      return { ended: "failed", output: `Not executed: ${otherThanSeen(input)}` };
    const asked = { call: call.id, run: run.id, tool, input };
    const request = { ...asked, conversation: session.state, allowed: session.allowed, signal };
    const permit = permission ? await orAborted(permission(request), signal) : ALLOWED;
    // A rule without types may return nothing.
    switch (permit?.decision) {
      case "allow":
      case "ask":
        return { tool, input, value, permit };
      case "deny":
        return { ended: "denied", output: `Not allowed: ${permit.reason}` };
      default:
        permit satisfies never;
        throw new TypeError("the rules answered with no decision that is known");
    }
  } catch (error) {
    if (signal.aborted) return { ended: "cancelled", output: notExecuted(signal) };
    // A schema or a rule that throws is a defect of the surroundings: nothing runs, and the model is told.
    return { ended: "failed", output: `Not executed: checking this call failed: ${messageOf(error)}` };
  }
}

/** Why arguments that a person wrote do not run: the check makes others of them. Nothing when they can. */
export async function unfitAnswer(run: TurnRun, tool: string, written: Json): Promise<string | undefined> {
  const checked = await orAborted(run.agent.toolbox.check(tool, written), run.signal);
  if (!checked.ok) return `These arguments do not fit: ${checked.problem}.`;
  const { input } = checkedInput(checked.input);
  return isSameInput(input, written) ? undefined : otherThanSeen(input);
}

function otherThanSeen(input: Json): string {
  return `With these arguments the call would run as ${JSON.stringify(input)}. Send them like that, if that is meant.`;
}

const ALLOWED = { decision: "allow" } as const;

function jsonProblem(text: string): string {
  if (isTooDeep(text)) return "they are nested too deep";
  try {
    JSON.parse(text);
    return "a JSON string inside holds something else";
  } catch (error) {
    return messageOf(error);
  }
}
