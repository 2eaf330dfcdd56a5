import { createId } from "../conversation/id.ts";
import { isSettled, type Message, textOf } from "../conversation/message.ts";
import { lastAnswer, newestLeaf, pathTo, spentOn } from "../conversation/path.ts";
import type { SubTask, SubTaskEnd } from "../ports/tool.ts";
import { Interruption } from "../session/error.ts";
import { Branch } from "./branch.ts";
import { inputsFor } from "./inputs.ts";
import { finishedWith } from "./mode.ts";
import { nearest } from "./nearest.ts";
import type { Launching, TurnAgent, TurnRun } from "./run.ts";
import { digestOf, Toolbox } from "./toolbox.ts";
import { resultText, runTurn, type Turn, type TurnStart } from "./turn.ts";

/**
 * Runs a sub-agent in a conversation of its own: a tree below the launching call, in the same log and the same feed. What
 * the call launched before a crash goes on; what had finished is not run again.
 */
export async function launch(parent: TurnRun, { call, signal }: Launching, task: SubTask): Promise<SubTaskEnd> {
  const { session, origin, reader } = parent;
  const deep = parent.budget.tooDeep();
  if (deep !== undefined) throw new Error(`Not launched: ${deep}. Do the task yourself.`);
  const agent = subAgent(parent.agent, task);
  const known = session.state.children.get(call)?.[0];
  const ended = known === undefined ? undefined : endOf(pathTo(session.state, newestLeaf(session.state, known)));
  if (ended) return ended;
  let leaf = known === undefined ? await begin(parent, call, task.task) : newestLeaf(session.state, known);
  let start: TurnStart = { type: "here", leaf };
  for (;;) {
    const handle = await session.begin(leaf, signal);
    const interrupt = () => handle.interrupt(new Interruption("its parent was interrupted"));
    signal.addEventListener("abort", interrupt, { once: true });
    if (signal.aborted) interrupt();
    const branch = new Branch(session, leaf);
    let turn: Turn;
    try {
      turn = await runTurn(handle, session, agent, branch, start, { origin, reader, parent, call });
    } finally {
      signal.removeEventListener("abort", interrupt);
      leaf = branch.leaf ?? leaf;
      handle.end(leaf);
    }
    const inputs = inputsFor(session.state, turn.id);
    if (inputs.length === 0 || signal.aborted) return subTaskEnd(turn);
    start = { type: "inputs", parentId: leaf, inputs };
  }
}

async function begin({ session, origin }: TurnRun, call: string, task: string): Promise<string> {
  const message = createId();
  const added = { type: "message.added", message, parentId: null, role: "user", author: "tool", call } as const;
  await session.commit([{ ...added, parts: [{ type: "text", text: task }] }], { durable: true, origin });
  return message;
}

/** The launching agent, as it works on a task for itself. */
function subAgent(parent: TurnAgent, { name = parent.name, instructions, model, tools }: SubTask): TurnAgent {
  const mode = parent.taskMode;
  const own = {
    instructions: instructions ?? parent.own.instructions,
    tools: tools === undefined ? parent.own.tools : tools.map((wanted) => toolOf(parent, wanted)),
  };
  const text = instructionsFor(own.instructions, mode.instructions);
  return {
    ...parent,
    name,
    model: model ?? parent.model,
    instructions: { text, digest: digestOf(text) },
    // A tool of the same name as one that its mode brings is that tool.
    toolbox: Toolbox.of([
      ...own.tools.filter(({ name: own }) => !mode.tools.some((tool) => tool.name === own)),
      ...mode.tools,
    ]),
    own,
    mode,
    // What it does is for its parent; what is worth keeping, that one says.
    memory: undefined,
  };
}

/** What an agent is told at the start: what it is, and then how it is to work. */
export function instructionsFor(own: string, mode: string): string {
  return own === "" || mode === "" ? own + mode : `${own}\n\n${mode}`;
}

function toolOf({ own }: TurnAgent, name: string) {
  const found = own.tools.find((tool) => tool.name === name);
  if (found) return found;
  const names = own.tools.map((tool) => tool.name);
  const near = nearest(name, names);
  throw new Error(
    `Not launched: you have no tool "${name}" to give. ${near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `You have: ${names.join(", ")}.`}`,
  );
}

/** How a sub-agent that ran before had finished; nothing when it had not. */
function endOf(path: readonly Message[]): SubTaskEnd | undefined {
  const answer = lastAnswer(path);
  const result = answer && isSettled(answer) ? finishedWith(answer) : undefined;
  if (result === undefined) return undefined;
  const steps = path.filter(({ role }) => role === "assistant").length;
  return { reason: "finished", text: resultText(result), problem: undefined, steps, ...spentOn(path) };
}

function subTaskEnd({ reason, text, message, limit, error, steps, usage, cost }: Turn): SubTaskEnd {
  const said = reason === "finished" || !message ? text : textOf(message);
  return { reason, text: said, problem: limit ?? error?.message, steps, usage, cost };
}
