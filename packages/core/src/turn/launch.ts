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
  return finishedSubTask(pathTo(state, leaf)) ?? work(parent, launching, agent, leaf);
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
    agent: () => agent,
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

function subAgent(parent: TurnAgent, { name = parent.name, instructions, model, tools }: SubTask): TurnAgent {
  const mode = parent.taskMode;
  const own = {
    ...parent.own,
    instructions: instructions ?? parent.own.instructions,
    tools: tools === undefined ? parent.own.tools : tools.map((wanted) => findTool(parent, wanted)),
  };
  const text = instructionsFor(own.instructions, mode.instructions);
  return {
    ...parent,
    name,
    ...(model && onModel(parent, model)),
    instructions: { text, digest: textDigest(text) },
    toolbox: Toolbox.of(toolsInMode(own.tools, mode)),
    toolChoice: "auto",
    toolsFor: undefined,
    own,
    mode,
    memory: undefined,
  };
}

function onModel({ own, compaction }: TurnAgent, model: ModelDriver | LoopDriver) {
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

function finishedSubTask(path: readonly Message[]): SubTaskEnd | undefined {
  const response = lastAssistantMessage(path);
  const result = response && isSettled(response) ? taskResultIn(response) : undefined;
  if (result === undefined) return undefined;
  const steps = path.filter(({ role }) => role === "assistant").length;
  return { reason: "finished", text: taskResultText(result), problem: undefined, steps, ...usageOnPath(path) };
}

function subTaskEnd({ reason, text, message, limit, error, steps, usage, cost }: Turn): SubTaskEnd {
  const said = message ? textOf(message) : "";
  return { reason, text: reason === "finished" ? text : said, problem: limit ?? error?.message, steps, usage, cost };
}
