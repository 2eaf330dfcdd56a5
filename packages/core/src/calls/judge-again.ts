import { writtenInput } from "../conversation/checked/written-input.ts";
import { type About, type Call, isEnded } from "../conversation/message.ts";
import type { Json } from "../conversation/part.ts";
import { openApproval } from "../conversation/tree/asking-run.ts";
import { denialText, OUTCOME_UNKNOWN } from "../past/answers.ts";
import type { PreviewContext } from "../ports/tool.ts";
import type { TurnRun } from "../run/run.ts";
import { isSameInput } from "../toolbox/checked-input.ts";
import { aboutTool, describeCall } from "../toolbox/execute.ts";
import { type CallVerdict, judge } from "./judge.ts";

/**
 * Decides about a call that was open when its process stopped (B24). A decision that a user made on this machine stays
 * valid. A decision that only the log contains gives no permission (S17). A call that was running runs again only if a
 * second run is harmless. If not, the outcome of the call is unknown. Never rejects.
 */
export async function judgeAgain(run: TurnRun, call: Call) {
  for (;;) {
    const { approved } = call;
    const { about, ...verdict } = await verdictOn(run, call);
    const open = openApproval(run.session.state, call.id);
    const answering = open && run.session.answering(open.id);
    // If a user has answered meanwhile, the answer counts.
    if (!answering && (isEnded(call.status) || call.approved === approved))
      return { verdict, about, open, isAsShown: !("ended" in verdict) && isWhatUserSaw(call, verdict.input, about) };
    await answering?.catch(() => {});
  }
}

async function verdictOn(run: TurnRun, call: Call): Promise<CallVerdict & { readonly about?: About | undefined }> {
  const { id, tool, inputText, approved } = call;
  if (approved === false) return { ended: "denied", output: denialText(undefined) };
  // The model's original arguments are checked again, because a check may reject its own output.
  const changed = call.executedInput;
  const input = changed ?? writtenInput(inputText);
  const verdict = await judge(run, { id, tool, inputText, input }, { seen: changed !== undefined });
  const started = call.status === "executing";
  const { effects = "external" } = run.agent.toolbox.find(tool) ?? {};
  if (started && effects === "external") return { ended: "failed", output: OUTCOME_UNKNOWN };
  if ("ended" in verdict) return verdict;
  // A user's permission holds only for the arguments and the folder that the user saw (S15, S17).
  const about = await aboutJudgedCall(run, verdict, tool);
  const isAllowed = run.session.isAllowed(call) && isWhatUserSaw(call, verdict.input, about);
  return isAllowed ? { ...verdict, about, permit: { decision: "allow" } } : { ...verdict, about };
}

function isWhatUserSaw({ executedInput, input, about: shown }: Call, now: Json, about: About | undefined): boolean {
  return isSameInput(now, executedInput ?? input) && shown?.folder === about?.folder;
}

export async function aboutJudgedCall(run: TurnRun, verdict: CallVerdict, name: string): Promise<About | undefined> {
  if (!("ended" in verdict)) return describeCall(verdict.tool, verdict.value, previewContext(run));
  const tool = run.agent.toolbox.find(name);
  return tool && aboutTool(tool);
}

export function previewContext({ agent, session, branch, signal }: TurnRun): PreviewContext {
  return { context: agent.context, conversation: session.state, path: branch.path, signal };
}
