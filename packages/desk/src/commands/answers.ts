import {
  type Agent,
  type ConversationState,
  type Permit,
  type Session,
  StoreError,
  UnfitAnswerError,
} from "@banyan/core";
import { type ApprovalQuestion, callIn, turnWaitingFor } from "@banyan/core/conversation";
import { recoveredState } from "@banyan/core/hosts";
import { errorMessage } from "@banyan/core/shown";
import { type ConversationDirectory, rulesFrom } from "@banyan/host";
import type { Result } from "@banyan/protocol";
import type { LiveConversation } from "../live/live-conversation.ts";
import { NotThereError, UnfittingAnswerError } from "../request/problem.ts";
import { agentForTurn } from "./agent-for.ts";
import { continueTurn } from "./turns.ts";
import type { Handlers, Workplace } from "./workplace.ts";

type ListedQuestion = Result<"question.list">["waiting"][number];

type CallDecision = "allow" | "deny";

/** Handlers of the commands that answer questions and remove rules. */
export const answerHandlers: Handlers<"question.list" | "question.answer" | "rule.revoke"> = {
  async "question.list"(_command, desk) {
    return { waiting: (await statesThatMayWait(desk)).flatMap(questionsWaiting) };
  },

  async "question.answer"({ id, conversation, question, answer, approval = "ask", tools }, desk) {
    const live = await desk.conversations.open(conversation);
    const { session } = live;
    const asked = session.state.questions.get(question);
    if (!asked) throw new NotThereError("This question does not exist or was already answered.");
    const { decision } = answer;
    const remember = decision === "answer" ? undefined : answer.remember;
    const call = asked.type === "approval" ? callIn(session.state, asked) : undefined;
    if (remember) rulesFrom({ [decision]: [remember.pattern] }, call === undefined ? [] : [call.tool]);
    if (remember && asked.type !== "approval")
      throw new UnfittingAnswerError("A rule can be saved only with the approval or denial of a tool call.");
    const isPlan = call?.about?.handsIn === true;
    if (approval === "sandbox" && (isPlan || asked.type !== "approval" || decision !== "allow"))
      throw new UnfittingAnswerError("Only the approval of a tool call can also set the approval mode `sandbox`.");
    const turn = turnWaitingFor(session.state, asked);
    // Reject unusable tools before the answer counts, so that the client can answer again.
    if (tools && turn) await agentForTurn(desk, live, { tools }, turn.leaf);
    // If the mode is not available, the question stays open.
    if (approval === "sandbox") await desk.host.useApproval(approval);
    await session.answer(question, answer).catch((error: unknown) => {
      throw error instanceof UnfitAnswerError ? new UnfittingAnswerError(error.message) : error;
    });
    if (approval === "sandbox") await modeChanged(desk);
    else if (isPlan && decision === "allow") {
      desk.host.carryOut(conversation, approval);
      desk.settingsChanged();
    }
    // Only now the answer counts: a late or invalid answer must not leave a rule.
    const isRule = remember !== undefined && decision !== "answer";
    const kept = isRule && remember.scope === "always" ? keepRule(desk, remember.pattern, decision) : undefined;
    if (isRule) await answerCoveredCalls(live, desk, decision);
    const waits = turn && session.state.waiting.has(turn.id);
    const stuck = waits ? await continueTurn(live, desk, turn, { id, tools }) : undefined;
    const problem = kept ?? stuck;
    return problem === undefined ? {} : { problem };
  },

  async "rule.revoke"({ conversation, pattern }, { conversations }) {
    await (await conversations.open(conversation)).session.revoke(pattern);
    return {};
  },
};

/** Returns the states of all open conversations, and of closed conversations with a waiting question. */
export async function statesThatMayWait({
  conversations,
  directory,
}: Pick<Workplace, "conversations" | "directory">): Promise<ConversationState[]> {
  const waiting = await conversations.waiting();
  // Both at once: a conversation that opened during the listing is among the open ones.
  const open = conversations.allOpen.map(({ session }) => session.state);
  const others = waiting.filter((id) => !conversations.ifOpen(id));
  const closed = await Promise.all(others.map((id) => storedStates(directory, id)));
  return [...open, ...closed.flat()];
}

/** Empty if the conversation is gone or cannot be read. */
async function storedStates(directory: ConversationDirectory, id: string): Promise<ConversationState[]> {
  try {
    const { state, isOpen } = await directory.read(id);
    return [isOpen ? state : recoveredState(state)];
  } catch (error) {
    if (error instanceof StoreError) return [];
    throw error;
  }
}

/** In the order in which the questions arose. */
function questionsWaiting(state: ConversationState): ListedQuestion[] {
  const { id, labels, messages, questions } = state;
  const directory = labels.cwd === undefined ? {} : { directory: labels.cwd };
  return questions
    .values()
    .map((question) => {
      const call = question.type === "limit" ? undefined : callIn(state, question);
      const ofSubAgent = messages.get(question.message ?? "")?.call !== undefined;
      return { conversation: id, question, ...(call && { call }), ofSubAgent, ...directory };
    })
    .toArray();
}

/** Stores a rule in the settings. Returns the reason if that fails. */
function keepRule({ host }: Workplace, pattern: string, list: CallDecision): string | undefined {
  try {
    host.remember(pattern, list);
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

/** Answers the waiting calls that a new rule allows or denies. */
async function answerCoveredCalls(live: LiveConversation, desk: Workplace, decision: CallDecision): Promise<void> {
  const { session } = live;
  if (session.state.questions.size === 0) return;
  const agent = await agentForTurn(desk, live, {});
  for (const question of session.state.questions.values()) {
    const permit = question.type === "approval" ? await permitOf(session, agent, question) : undefined;
    if (!permit || permit.decision === "ask" || permit.decision !== decision) continue;
    // Another client may have answered meanwhile: the first answer counts.
    await session.answer(question.id, permit).catch(desk.defect);
  }
}

/** Informs the clients of a new approval mode, and answers the waiting calls that the mode allows. */
export async function modeChanged(desk: Workplace): Promise<void> {
  desk.settingsChanged();
  for (const live of desk.conversations.allOpen) await answerCoveredCalls(live, desk, "allow");
}

/** Returns the decision of the current rules about a waiting call; `undefined` if no rule covers the call. */
async function permitOf(session: Session, { options }: Agent, question: ApprovalQuestion): Promise<Permit | undefined> {
  const { call, message } = question;
  const asked = session.state.messages.get(message);
  const waiting = callIn(session.state, question);
  const tool = options.tools?.find(({ name }) => name === waiting?.tool);
  // Only a user may approve a plan, never a rule or mode.
  if (!options.permission || !tool || waiting?.input === undefined || waiting.about?.handsIn) return undefined;
  const { signal } = new AbortController();
  const { state, allowed } = session;
  const asking = { call, run: asked?.role === "assistant" ? asked.run : "", tool, input: waiting.input };
  return await options.permission({ ...asking, conversation: state, allowed, signal });
}
