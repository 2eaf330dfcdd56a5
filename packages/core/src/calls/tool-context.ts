import { fieldsProblem } from "../conversation/checked/question-fields.ts";
import type { EventBody } from "../conversation/event.ts";
import type { Preview } from "../conversation/message.ts";
import type { Json } from "../conversation/part.ts";
import { answerRecord, answerText, RepeatedQuestions, textAnswerEvent } from "../past/answers.ts";
import type { OuterContext, Tool } from "../ports/tool.ts";
import type { Question } from "../ports/tool-values.ts";
import type { Answer, Permit } from "../ports/verdict.ts";
import type { TurnRun } from "../run/run.ts";
import { isReaderGone } from "../session/error.ts";

export interface RunningCall {
  readonly message: string;
  readonly call: string;
  readonly attempt: number;
  readonly key: string;
  readonly tool: Tool;
  readonly input: Json;
  /** The preview that the user agreed to. */
  readonly agreed?: Preview | undefined;
}

/** Returns the context that a tool's `execute` gets. `signal`: aborts when the call must end. */
export function toolContext(run: TurnRun, running: RunningCall, signal: AbortSignal): OuterContext {
  const { session, branch, agent, budget, source, origin } = run;
  const { message, call, attempt, key, agreed } = running;
  const isRepeatable = running.tool.effects !== "external";
  const again = new RepeatedQuestions(session.state, call);
  return {
    context: agent.context,
    call,
    attempt,
    key,
    agreed,
    signal,
    hurry: run.hurry(),
    conversation: session.state,
    path: branch.path,
    wholePath: () => session.wholePath(branch.path),
    step: budget.steps,
    agent: agent.name,
    client: run.client,
    progress: (text) => session.stream([{ type: "call.output.delta", message, call, text }], source, origin),
    interject: async (text) => {
      await session.say(text, { run: run.id });
    },
    follow(follower) {
      if ("run" in agent.model)
        throw new Error(`${agent.model.id} runs its own turns, so no tool can follow its text.`);
      run.begun.check();
      run.followers.follow(call, message, follower);
    },
    draft({ index: draft, path, start, end, text, problems }) {
      const more = { ...(start !== undefined && end !== undefined && { start, end }), ...(problems && { problems }) };
      session.stream([{ type: "call.draft.delta", message, call, draft, path, text, ...more }], source, origin);
    },
    async changed({ path, kind, before, after, added, removed, diff, formatter }) {
      const change = { path, kind, before, after, added, removed, diff, ...(formatter !== undefined && { formatter }) };
      await session.commit([{ type: "file.changed", message, call, ...change }], { durable: true, origin });
    },
    stay: (staying) => session.processes.stay({ message, call }, staying),
    permit: (input) => permit(run, running, input),
    ask: (question, life) =>
      life
        ? askUser(run, running, undefined, question, life)
        : run.begun.begin([signal, run.signal], (until) => askUser(run, running, again, question, until)),
    launch: (task) =>
      run.begun.begin([signal, run.signal], (until) => agent.launch(run, { call, signal: until, isRepeatable }, task)),
    finish(result, summary) {
      if (agent.mode.name !== "task")
        throw new Error("There is no task to finish: this is a conversation. Just answer.");
      if (run.followers.failed)
        throw new Error("Not finished: another part of the same message failed. Read its error first, then finish.");
      run.progress.finished = { result, summary };
    },
    summarize: async (summary) => (await import("../context/summary-message.ts")).planSummary(run, message, summary),
  };
}

async function permit(run: TurnRun, { call, tool, input }: RunningCall, changed = input): Promise<Permit> {
  const { id, session, agent, signal } = run;
  const asked = { call, run: id, tool, input: changed, conversation: session.state, allowed: session.allowed, signal };
  return agent.permission ? agent.permission(asked) : { decision: "allow" };
}

/** `again`: absent for a background process, whose turn continues or has ended. */
async function askUser(
  run: TurnRun,
  { message, call, tool }: RunningCall,
  again: RepeatedQuestions | undefined,
  { text, choices, fields, default: otherwise }: Question,
  signal: AbortSignal,
): Promise<string> {
  const { session, agent, origin, survives: lasts } = run;
  const write = (...events: readonly EventBody[]) => session.commit(events, { durable: true, origin });
  const problem = fields && fieldsProblem(fields);
  if (problem !== undefined) throw new RangeError(problem);
  const { known, withdrawn = [] } = again?.next(text) ?? {};
  if (withdrawn.length > 0) await write(...withdrawn);
  if (known?.answer) return answerText(known.answer);
  if (agent.unattended && otherwise !== undefined) return otherwise;
  if (agent.unattended)
    throw new Error("No user can be asked here, and the question has no default answer. Decide yourself.");
  const { id: question, answer: reply } = session.ask(undefined, known?.question);
  if (!known) {
    const open = { type: "question.asked", message, call, question, text } as const;
    const offered = { ...(choices && { choices }), ...(fields && { fields }) };
    const more = { ...(otherwise !== undefined && { default: otherwise }) };
    await write({ ...open, ...offered, ...more, ...(again && lasts && { survives: tool.effects !== "external" }) });
  }
  let answer: Answer;
  try {
    using _ = again && run.budget.stopClock();
    answer = await reply(signal);
  } catch (error) {
    // If only this process goes away, the question stays open in the log. In all other cases it is withdrawn.
    if (!(again && lasts && isReaderGone(signal)))
      await write({ type: "question.answered", question, withdrawn: true });
    throw error;
  }
  const given = answerRecord(answer);
  await write(textAnswerEvent(question, given));
  return answerText(given);
}
