import {
  type Agent,
  type ChatOptions,
  DirectiveError,
  leaves,
  newestLeaf,
  resume,
  type Session,
  say,
} from "@banyan/core";

/** What a person says after a crash to see whether somebody answers. */
const HELLO = "Are you there?";

/**
 * What a person does about a conversation whose process was killed. `resume`: goes on with every branch, then says
 * something. `say`: says something on every branch, as if nothing had happened, then lets go what still waits. Allows
 * every call. Answers the questions that were asked, those of the process that was killed first.
 */
export async function goOn(session: Session, agent: Agent, how: "resume" | "say"): Promise<string[]> {
  const asked: string[] = [];
  const chat = async (directive: Parameters<Agent["chat"]>[0], options: ChatOptions) => {
    for await (const item of agent.chat(directive, { ...options, session })) {
      if (item.type === "question.asked")
        await session.answer(item.question, { decision: "answer", text: "Anywhere." });
      if (item.type !== "call.approval-requested") continue;
      asked.push(item.call);
      await session.answer(item.question, { decision: "allow" });
    }
  };
  for (const question of session.openQuestions) {
    if (question.type === "approval") asked.push(question.call);
    const text = question.type === "text";
    await session.answer(question.id, text ? { decision: "answer", text: "Anywhere." } : { decision: "allow" });
  }
  const branches = leaves(session.state);
  if (how === "resume") {
    for (const at of branches) await chat(resume(), { at }).catch(unlessComplete);
    await chat(say(HELLO), {});
  } else {
    for (const at of branches) await chat(say(HELLO), { at });
    if (branches.length === 0) await chat(say(HELLO), {});
    for (let [left] = session.state.inbox; left; [left] = session.state.inbox) {
      // What waits is delivered on the branch that it was written to.
      await chat(resume(), left.at === null ? {} : { at: newestLeaf(session.state, left.at) });
    }
  }
  return asked;
}

/** A branch on which everything was answered needs nobody. */
function unlessComplete(error: unknown): void {
  if (!(error instanceof DirectiveError) || error.code !== "nothing-to-resume") throw error;
}
