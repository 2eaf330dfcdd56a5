import type { Agent, AgentOptions } from "../agent/agent.ts";
import { knownPath } from "../agent/chat-options.ts";
import { resume } from "../agent/directive.ts";
import { TurnError } from "../agent/turn-error.ts";
import type { AssistantMessage, Message } from "../conversation/message.ts";
import { checkArguments, OptionError, type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import { latestRun } from "../conversation/tree/asking-run.ts";
import { pathTo } from "../conversation/tree/path.ts";
import type { Session } from "../session/session.ts";

/** Options of `branchFrom`. See {@link branchFrom}. */
export interface BranchFromOptions {
  /** The session that contains the step. */
  readonly session: Session;
  /** The agent of the step, or a changed agent. */
  readonly agent: Agent<unknown>;
  /** The model with which the step is repeated. Default: the agent's model. */
  readonly model?: AgentOptions["model"] | undefined;
}

const OPTIONS: OptionNames<BranchFromOptions> = { session: true, agent: true, model: true };

/**
 * Repeats one step of a conversation, and resolves with the new response, which is a sibling of the response `step`. No
 * tool runs: the new calls are denied. The session's last written message is then the new response. Rejects with
 * `OptionError` if `step` is no response of the session, and with `TurnError` if the model fails.
 * @example
 * const { text, message } = await agent.send("Hello", { session });
 * const other = await branchFrom(message, { session, agent, model: await resolveModel("anthropic/claude-sonnet-5") });
 * console.log(text, textOf(other));
 */
export async function branchFrom(step: Message | undefined, options: BranchFromOptions): Promise<AssistantMessage> {
  checkArguments("branchFrom", { options }, { options: "object" });
  refuseUnknown("branchFrom", options, OPTIONS);
  const { session, model } = options;
  if (options.agent?.options === undefined)
    throw new OptionError("branchFrom needs an agent: pass { session, agent }.");
  if (model !== undefined && (typeof model !== "object" || model === null))
    throw new OptionError("model of branchFrom must be a driver, such as resolveModel(...) returns.");
  const response = responseIn(session, step);
  const path = pathTo(session.state, response.parentId);
  const before = await knownPath(session, path);
  // After a hand-off, another agent has the conversation.
  const agent = options.agent.holderOn(before) ?? options.agent;
  if ("run" in (model ?? agent.options.model))
    throw new OptionError("branchFrom cannot use a driver that runs whole turns; pass a model that responds in steps.");
  const { limits, retry, toolsFor } = agent.options;
  const number = stepNumber(response.id, session);
  const alone = agent.with({
    ...(model && { model }),
    limits: { ...limits, steps: 1, policy: "fail" },
    // Without another attempt, no message follows the response.
    retry: { ...retry, results: 1 },
    toolsFor: toolsFor && (({ messages }) => toolsFor({ step: number, messages })),
    permission: () => ({
      decision: "deny",
      reason: "Not executed: branchFrom repeats only the response of the model.",
    }),
    // The request must stay the same. No other model may respond, and nothing may act on the response.
    compaction: false,
    memory: undefined,
    hooks: undefined,
    modelNamed: undefined,
    fallbacks: undefined,
    callbacks: undefined,
    onTurn: undefined,
  });
  const turn = await alone
    .chat(resume(), { session, at: response.parentId ?? undefined })
    .turn.catch((error: unknown) => {
      // A response with calls ends at the limit of one step, and another response may miss the schema of the result.
      if (error instanceof TurnError && ["limit", "output"].includes(error.code) && error.turn.message)
        return error.turn;
      throw error;
    });
  return turn.message as AssistantMessage;
}

function responseIn(session: Session, step: Message | undefined): AssistantMessage {
  if (session?.state === undefined) throw new OptionError("branchFrom needs a session: pass { session, agent }.");
  const known = session.state.messages.get(step?.id ?? "");
  if (!known) throw new OptionError("branchFrom needs a response of the session; the session has no such message.");
  if (known.role !== "assistant")
    throw new OptionError(`branchFrom needs a response of a model; ${known.id} is a ${known.role} message.`);
  if (known.call !== undefined)
    throw new OptionError(
      `branchFrom cannot repeat a step of a sub-agent; pass the response with the call ${known.call}.`,
    );
  return known;
}

/** The number of a response in its turn, from 1. */
function stepNumber(step: string, { state }: Session): number {
  const responses = pathTo(state, step).filter((message) => message.role === "assistant");
  const turn = latestRun(state, responses.at(-1)?.run ?? "");
  return responses.filter(({ run }) => latestRun(state, run) === turn).length;
}
