import type { Json } from "../conversation/message.ts";
import { isTooDeep } from "../ports/depth.ts";
import type { Permit } from "../ports/human.ts";
import { orAborted } from "../ports/or-aborted.ts";
import type { Tool } from "../ports/tool.ts";
import type { AskedCall } from "./answer.ts";
import { messageOf, notExecuted } from "./execute.ts";
import type { TurnRun } from "./run.ts";

/** What is to become of a call: it ends here with this output, or may run, or a person decides. */
export type Verdict =
  | { readonly ended: "failed" | "denied" | "cancelled"; readonly output: string }
  | { readonly tool: Tool; readonly input: Json; readonly permit: Exclude<Permit, { decision: "deny" }> };

/** Whether a call may run: its tool is there, its arguments fit, and the rules do not deny it. Never rejects. */
export async function judge(run: TurnRun, call: AskedCall): Promise<Verdict> {
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
    const { input } = checked;
    const request = { call: call.id, tool, input, conversation: session.state, signal };
    const permit = permission ? await orAborted(permission(request), signal) : ALLOWED;
    // A rule without types may answer nothing.
    switch (permit?.decision) {
      case "allow":
      case "ask":
        return { tool, input, permit };
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
