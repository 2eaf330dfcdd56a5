import { createId } from "../conversation/id.ts";
import { isSettled, type Message, textOf } from "../conversation/message.ts";
import { nearestNameAdvice } from "../conversation/shown/nearest.ts";
import { lastAssistantMessage, newestLeaf, pathTo, usageOnPath } from "../conversation/tree/path.ts";
import type { ModelDriver, ModelSettings } from "../ports/model.ts";
import { textDigest } from "../ports/runtime.ts";
import type { LoopDriver, SubTask, Tool } from "../ports/tool.ts";
import type { SubTaskEnd } from "../ports/tool-values.ts";
import { type Mode, taskResultIn } from "../run/mode.ts";
import type { Compaction, SubAgentLaunch, TurnAgent, TurnRun } from "../run/run.ts";
import { Interruption } from "../session/error.ts";
import { Toolbox } from "../toolbox/toolbox.ts";
import { Interrupts, takeTurns } from "./drive.ts";
import { type Turn, taskResultText } from "./turn.ts";

/** Runs a sub-agent in a tree below the launching call. A sub-agent that was started before a crash continues. */
export async function launch(parent: TurnRun, launching: SubAgentLaunch, task: SubTask): Promise<SubTaskEnd> {
  const { state } = parent.session;
  const deep = parent.budget.tooDeep();
  if (deep !== undefined) throw new Error(`Not launched: ${deep}. Do the task yourself.`);
  const agent = subAgent(parent.agent, task);
  const [known] = state.children.get(launching.call) ?? [];
  if (known === undefined) return work(parent, launching, agent, await addTask(parent, launching.call, task));
  const leaf = newestLeaf(state, known);
  const path = pathTo(state, leaf);
  const holder = agent.holderOn(path) ?? agent;
  // Only its checks tell whether a goal is reached.
  return (holder.goal ? undefined : await finishedSubTask(path, holder.mode)) ?? work(parent, launching, agent, leaf);
}

async function work(
  parent: TurnRun,
  { call, signal, isRepeatable }: SubAgentLaunch,
  agent: TurnAgent,
  leaf: string,
): Promise<SubTaskEnd> {
  const { session, origin, reader } = parent;
  using interrupts = new Interrupts([signal, parent.hurry()], new Interruption("its parent was interrupted"));
  const { turn } = await takeTurns(session.runs.begin(leaf, { signal }), () => ({ type: "here", leaf }), {
    session,
    agent: (path) => agent.holderOn(path) ?? agent,
    handedTo: (to) => agent.handedTo(to),
    watch: { origin, reader, parent, call, isRepeatable },
    interrupts,
    where: (end) => end,
    continues: () => !signal.aborted,
  });
  return subTaskEnd(turn);
}

async function addTask({ session, origin }: TurnRun, call: string, { task, worktree }: SubTask): Promise<string> {
  const message = createId();
  const added = { type: "message.added", message, parentId: null, role: "user", author: "tool", call } as const;
  const placed = worktree === undefined ? added : { ...added, worktree };
  await session.commit([{ ...placed, parts: [{ type: "text", text: task }] }], { durable: true, origin });
  return message;
}

function subAgent(parent: TurnAgent, { agent, name, instructions, model, tools }: SubTask): TurnAgent {
  // An agent by value has its own mode.
  const base = agent ? parent.subAgent(agent) : { ...parent, mode: parent.taskMode, goal: undefined, ...TOOLS_CHOSEN };
  const isUnchanged = instructions === undefined && model === undefined && tools === undefined;
  const changed = agent && isUnchanged ? base : { ...base, ...ownOptions(base, { instructions, model, tools }) };
  return { ...changed, name: name ?? base.name, memory: undefined };
}

/** The launching model has chosen the tools. */
const TOOLS_CHOSEN = { toolChoice: "auto", toolsFor: undefined } as const;

function ownOptions(base: TurnAgent, { instructions, model, tools }: Omit<SubTask, "task">): Partial<TurnAgent> {
  const own = {
    ...base.own,
    instructions: instructions ?? base.own.instructions,
    tools: tools === undefined ? base.own.tools : tools.map((wanted) => findTool(base, wanted)),
  };
  const text = instructionsFor(own.instructions, base.mode.instructions);
  return {
    ...(model && onModel(base, model)),
    instructions: { text, digest: textDigest(text) },
    toolbox: Toolbox.of(toolsInMode(own.tools, base.mode)),
    ...(tools && TOOLS_CHOSEN),
    own,
  };
}

function onModel({ own, compaction, guards }: TurnAgent, model: ModelDriver | LoopDriver) {
  if (guards?.output && "run" in model)
    throw new Error(`Not launched: ${model.id} runs whole turns itself, so guards.output cannot check its responses.`);
  return {
    model,
    settings: settingsFor(model, own.settings),
    compaction: compaction && compactionFor(model, compaction),
  };
}

/** Compaction settings for a model. The context size is `set`, or else the size that the driver reports. */
export function compactionFor(
  model: ModelDriver | LoopDriver,
  { hint, threshold, count, automatic, model: writer, instructions, background }: Omit<Compaction, "contextSize">,
  set?: number,
): Compaction {
  return {
    hint,
    threshold,
    count,
    automatic,
    model: writer,
    instructions,
    background,
    get contextSize() {
      return set ?? ("contextSize" in model ? model.contextSize : undefined);
    },
  };
}

export function settingsFor(model: ModelDriver | LoopDriver, given: ModelSettings): ModelSettings {
  if (!("settings" in model && model.settings)) return given;
  const said = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...model.settings, ...Object.fromEntries(said) };
}

export function instructionsFor(own: string, mode: string): string {
  return own === "" || mode === "" ? own + mode : `${own}\n\n${mode}`;
}

/** Returns the tools of an agent and of a mode. A tool of the mode replaces a control tool of the same name. */
export function toolsInMode(own: readonly Tool[], { tools: brought }: Mode): readonly Tool[] {
  if (brought.length === 0) return own;
  // A tool that the agent does not list stays unlisted.
  const listed = brought.filter(({ name }) => !own.some((tool) => tool.unlisted && tool.name === name));
  return [...own.filter(({ name, control }) => !control || !listed.some((tool) => tool.name === name)), ...listed];
}

function findTool({ own }: TurnAgent, name: string) {
  const found = own.tools.find((tool) => tool.name === name);
  if (found) return found;
  const advice = nearestNameAdvice(
    name,
    own.tools.map((tool) => tool.name),
  );
  throw new Error(`Not launched: you have no tool "${name}". ${advice}`);
}

/** Returns the end of a sub-agent that was done before its process ended, or nothing. */
async function finishedSubTask(path: readonly Message[], { name, output }: Mode): Promise<SubTaskEnd | undefined> {
  const response = lastAssistantMessage(path);
  if (!response || !isSettled(response)) return undefined;
  const isTask = name === "task";
  const isAnswer = response === path.at(-1) && response.finish === "stop" && response.calls.length === 0;
  if (!isTask && !isAnswer) return undefined;
  const value = isTask ? taskResultIn(response) : output?.valueIn(response);
  if (value === undefined && (isTask || output)) return undefined;
  const checked = value === undefined ? undefined : await output?.check(value);
  if (checked?.ok === false) return undefined;
  const steps = path.filter(({ role }) => role === "assistant").length;
  const text = isTask && value !== undefined ? taskResultText(value) : textOf(response);
  const result = checked?.input ?? value;
  return { reason: isTask ? "finished" : "answered", text, result, problem: undefined, steps, ...usageOnPath(path) };
}

function subTaskEnd({ reason, text, message, result, limit, error, steps, usage, cost }: Turn): SubTaskEnd {
  const said = reason !== "finished" && message ? textOf(message) : "";
  const problem = limit ?? error?.message;
  return { reason, text: reason === "finished" ? text : said, result, problem, steps, usage, cost };
}
