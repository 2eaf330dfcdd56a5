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

/** A user's message after a crash, which must be answered. */
const HELLO = "Are you there?";

/**
 * Continues a conversation whose process was killed. `resume`: resumes every branch, then sends a message. `say`: sends
 * a message on every branch as if nothing had happened, then delivers waiting inputs. Allows every call. Answers all
 * questions, those of the killed process first.
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
      // A waiting input is delivered on its own branch.
      await chat(resume(), left.at === null ? {} : { at: newestLeaf(session.state, left.at) });
    }
  }
  return asked;
}

/** A completed branch has nothing to resume. */
function unlessComplete(error: unknown): void {
  if (!(error instanceof DirectiveError) || error.code !== "nothing-to-resume") throw error;
}
