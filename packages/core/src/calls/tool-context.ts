import { planSummary } from "../context/compaction.ts";
import { fieldsProblem } from "../conversation/asked.ts";
import type { Json, Preview } from "../conversation/message.ts";
import type { Answer, Permit } from "../ports/human.ts";
import type { Question, Tool, ToolContext } from "../ports/tool.ts";
import type { TurnRun } from "../run/run.ts";

/** A call that is about to run. */
export interface RunningCall {
  readonly message: string;
  readonly call: string;
  readonly attempt: number;
  readonly key: string;
  readonly tool: Tool;
  /** As it was judged. */
  readonly input: Json;
  /** What a person was shown of it. */
  readonly agreed?: Preview | undefined;
}

/** What a call knows of its turn and can do in it; `signal` is the end of the call. */
export function toolContext(run: TurnRun, running: RunningCall, signal: AbortSignal): Omit<ToolContext, "attach"> {
  const { session, branch, agent, budget, source, origin } = run;
  const { message, call, attempt, key, agreed } = running;
  return {
    call,
    attempt,
    key,
    agreed,
    signal,
    hurry: run.hurry,
    conversation: session.state,
    path: branch.path,
    step: budget.steps,
    agent: agent.name,
    client: run.client,
    progress: (text) => session.stream([{ type: "call.output.delta", message, call, text }], source, origin),
    interject: async (text) => {
      await session.say(text, { run: run.id });
    },
    follow(follower) {
      if ("run" in agent.model)
        throw new Error(`${agent.model.id} runs its turns by itself, so nothing can listen to it.`);
      run.begun.check();
      run.followers.follow(call, message, follower);
    },
    draft({ index: draft, path, start, end, text }) {
      const lines = start === undefined || end === undefined ? {} : { start, end };
      session.stream([{ type: "call.draft.delta", message, call, draft, path, ...lines, text }], source, origin);
    },
    async changed({ path, kind, before, after, added, removed, diff }) {
      const change = { path, kind, before, after, added, removed, diff };
      await session.commit([{ type: "file.changed", message, call, ...change }], { durable: true, origin });
    },
    stay: (staying) => session.processes.stay({ message, call }, staying),
    permit: (input) => permit(run, running, input),
    ask: (question) => run.begun.begin([signal, run.signal], (until) => ask(run, running, question, until)),
    launch: (task) =>
      run.begun.begin([signal, run.signal], (until) => agent.launch(run, { call, signal: until }, task)),
    finish(result, summary) {
      if (agent.mode.name !== "task") throw new Error("There is no task to finish in a conversation: just answer.");
      if (run.followers.failed) {
        throw new Error(
          "Not finished: something that the same message asked for could not be done. See what is said about it, and finish after that.",
        );
      }
      run.progress.finish({ result, summary });
    },
    summarize: (summary) => planSummary(run, message, summary),
  };
}

async function permit(run: TurnRun, { call, tool, input }: RunningCall, changed = input): Promise<Permit> {
  const { session, signal } = run;
  const { permission } = run.agent;
  if (!permission) return { decision: "allow" };
  const asked = { call, run: run.id, tool, input: changed };
  return permission({ ...asked, conversation: session.state, allowed: session.allowed, signal });
}

async function ask(
  run: TurnRun,
  { message, call }: RunningCall,
  question: Question,
  signal: AbortSignal,
): Promise<string> {
  const { session, agent, origin } = run;
  const { text, choices, fields, default: otherwise } = question;
  const problem = fields && fieldsProblem(fields);
  if (problem !== undefined) throw new RangeError(problem);
  if (agent.unattended) {
    if (otherwise !== undefined) return otherwise;
    throw new Error("Nobody can be asked here, and the question has no default answer. Decide yourself.");
  }
  const asked = session.ask();
  const open = { type: "question.asked", message, call, question: asked.id, text } as const;
  const offered = { ...(choices ? { choices } : {}), ...(fields ? { fields } : {}) };
  const more = otherwise === undefined ? {} : { default: otherwise };
  await session.commit([{ ...open, ...offered, ...more }], { durable: true, origin });
  let answer: Answer;
  try {
    answer = await asked.answer(signal);
  } catch (error) {
    // Nobody waits for the answer any more. When the whole call is cancelled, its result closes the question too.
    await session.commit([{ type: "question.answered", question: asked.id }], { durable: true, origin });
    throw error;
  }
  const said = answer.decision === "answer" ? { text: answer.text } : {};
  await session.commit([{ type: "question.answered", question: asked.id, ...said }], { durable: true, origin });
  if (answer.decision === "answer") return answer.text;
  const why = answer.decision === "deny" && answer.reason ? `: ${answer.reason}` : ".";
  throw new Error(`The person did not answer the question${why}`);
}
