import type { Json } from "../conversation/message.ts";
import type { Permit } from "../ports/human.ts";
import type { Question, Tool, ToolContext } from "../ports/tool.ts";
import { unfit } from "./compaction.ts";
import type { TurnRun } from "./run.ts";

/** A call that is about to run. */
export interface RunningCall {
  readonly message: string;
  readonly call: string;
  readonly attempt: number;
  readonly key: string;
  readonly tool: Tool;
  readonly input: Json;
}

/** What a call knows of its turn and can do in it. */
export function toolContext(run: TurnRun, running: RunningCall): ToolContext {
  const { session, branch, agent, step, signal, origin } = run;
  const { message, call, attempt, key } = running;
  return {
    call,
    attempt,
    key,
    signal,
    conversation: session.state,
    path: branch.path,
    step,
    agent: agent.name,
    progress: (text) => session.stream([{ type: "call.output.delta", message, call, text }], origin),
    interject: async (text) => void (await session.say([{ type: "text", text }], { run: run.id })),
    follow(follower) {
      if ("run" in agent.model)
        throw new Error(`${agent.model.id} runs its turns by itself, so nothing can listen to it.`);
      run.followers.follow(call, message, follower);
    },
    draft({ index: draft, path, start, end, text }) {
      const lines = start === undefined || end === undefined ? {} : { start, end };
      session.stream([{ type: "call.draft.delta", message, call, draft, path, ...lines, text }], origin);
    },
    async changed({ path, kind, before, after, added, removed, diff }) {
      const change = { path, kind, before, after, added, removed, diff };
      await session.commit([{ type: "file.changed", message, call, ...change }], { durable: true, origin });
    },
    permit: (input) => permit(run, running, input),
    ask: (question) => ask(run, running, question),
    launch: (task) => agent.launch(run, running, task),
    finish(result, summary) {
      if (agent.mode.name !== "task") throw new Error("There is no task to finish in a conversation: just answer.");
      if (run.followers.failed) {
        throw new Error(
          "Not finished: something that the same message asked for could not be done. See what is said about it, and finish after that.",
        );
      }
      run.finished = { result, summary };
    },
    summarize(summary) {
      const problem = unfit(run, summary);
      if (problem !== undefined) throw new Error(problem);
      run.summary = summary;
    },
  };
}

async function permit(run: TurnRun, { call, tool, input }: RunningCall, changed = input): Promise<Permit> {
  const { permission } = run.agent;
  if (!permission) return { decision: "allow" };
  return permission({ call, tool, input: changed, conversation: run.session.state, signal: run.signal });
}

async function ask(run: TurnRun, { message, call }: RunningCall, question: Question): Promise<string> {
  const { session, agent, signal, origin } = run;
  const { text, choices, default: otherwise } = question;
  if (agent.unattended) {
    if (otherwise !== undefined) return otherwise;
    throw new Error("Nobody can be asked here, and the question has no default answer. Decide yourself.");
  }
  const asked = session.ask();
  const open = { type: "question.asked", message, call, question: asked.id, text } as const;
  const more = { ...(choices ? { choices } : {}), ...(otherwise === undefined ? {} : { default: otherwise }) };
  await session.commit([{ ...open, ...more }], { durable: true, origin });
  const answer = await asked.answer(signal);
  const said = answer.decision === "answer" ? { text: answer.text } : {};
  await session.commit([{ type: "question.answered", question: asked.id, ...said }], { durable: true, origin });
  if (answer.decision === "answer") return answer.text;
  const why = answer.decision === "deny" && answer.reason ? `: ${answer.reason}` : ".";
  throw new Error(`The person did not answer the question${why}`);
}
