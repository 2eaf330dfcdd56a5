import { base64Size } from "../brought-file.ts";
import {
  type AssistantMessage,
  type Call,
  isSettled,
  isUserMessage,
  type Message,
  type SetAsideMessage,
  type SummaryMessage,
  type UserMessage,
} from "../message.ts";
import { checkArguments, OptionError } from "../option-names.ts";
import type { UserPart } from "../part.ts";
import type { ConversationState, StayingProcess } from "../state.ts";
import { addCost, addUsage, type Cost, noUsage, type Usage } from "../usage.ts";

/**
 * Returns the messages from the root to `leaf`. Uses no recursion, because a path can have 100,000 messages.
 * @example const branch = pathTo(session.state, session.state.leaf).map(textOf);
 */
export function pathTo(state: ConversationState, leaf: string | null): Message[] {
  checkState("pathTo", state);
  checkArguments("pathTo", { leaf }, { leaf: "string or null" });
  const path: Message[] = [];
  for (let id = leaf; id !== null; ) {
    const message = state.messages.get(id);
    if (!message) break;
    path.push(message);
    const { parentId } = message;
    id = parentId === null || state.messages.has(parentId) ? parentId : (state.above.get(id) ?? null);
  }
  return path.reverse();
}

export function placeAfterForgotten(path: readonly Message[]): number {
  return path.findLastIndex(({ parentId }, index) => parentId !== (path[index - 1]?.id ?? null));
}

/**
 * Returns the last message that a user wrote on a path. Ignores messages that contain the output of a user's own
 * command (`!command`).
 * @example const question = lastUserMessage(pathTo(session.state, session.state.leaf));
 */
export function lastUserMessage(path: readonly Message[]): UserMessage | undefined {
  return path.findLast((message): message is UserMessage => isUserMessage(message) && !isOwnCommand(message.parts));
}

/**
 * Returns the index on a path at which its last turn begins: the user's message that began the turn. Messages that
 * steered a turn do not begin one.
 */
export function turnBegin(state: ConversationState, path: readonly Message[]): number {
  const begin = path.findLastIndex((message, index) => isUserMessage(message) && !hasSteered(state, path, index));
  return Math.max(begin, 0);
}

/** True if the turn of the response before a message went on with this message, as its first continuation. */
function hasSteered({ broken, children }: ConversationState, path: readonly Message[], index: number): boolean {
  for (let at = index; at > 0; at--) {
    const before = path[at - 1] as Message;
    if (broken.has(before.id) || children.get(before.id)?.[0] !== path[at]?.id) return false;
    if (before.role !== "assistant") continue;
    const endsTask = before.calls.some(({ about, status }) => about?.result !== undefined && status === "completed");
    return before.calls.length > 0 && !endsTask;
  }
  return false;
}

/**
 * Name of the tags that enclose the output of a user's own command (`!command`) for the model.
 * @example encloseInTags(OWN_OUTPUT, "2 files") // "2 files" between <output> and </output>
 */
export const OWN_OUTPUT = "output";

function isOwnCommand([typed, output]: readonly UserPart[]): boolean {
  if (typed?.type !== "text" || output?.type !== "text") return false;
  return typed.text.startsWith("!") && output.text.startsWith(`<${OWN_OUTPUT} name=`);
}

function childrenOf(state: ConversationState, message: string | null): readonly string[] {
  const children = state.children.get(message) ?? NONE;
  const gone = children.some((id) => state.messages.get(id)?.removed);
  return gone ? children.filter((id) => !state.messages.get(id)?.removed) : children;
}

const NONE: readonly string[] = [];

/**
 * Returns the leaf below `message` that was written last.
 * @example
 * for (const [id, { parentId }] of session.state.messages) if (parentId === null) console.log(newestLeaf(session.state, id));
 */
export function newestLeaf(state: ConversationState, message: string): string {
  checkState("newestLeaf", state);
  checkArguments("newestLeaf", { message }, { message: "string" });
  let leaf = message;
  for (let next = childrenOf(state, leaf).at(-1); next !== undefined; next = childrenOf(state, leaf).at(-1)) {
    leaf = next;
  }
  return leaf;
}

/**
 * Returns all leaves in tree order, one per branch, without removed messages.
 * @example console.log(`${leaves(session.state).length} branches`);
 */
export function leaves(state: ConversationState): string[] {
  checkState("leaves", state);
  const found: string[] = [];
  const open = [...childrenOf(state, null)].reverse();
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const children = childrenOf(state, id);
    if (children.length === 0) found.push(id);
    else for (let i = children.length - 1; i >= 0; i--) open.push(children[i] as string);
  }
  return found;
}

/**
 * Returns `message` and the other messages with the same parent, oldest first, without removed messages.
 * @example for (const id of session.state.messages.keys()) console.log(siblings(session.state, id).length);
 */
export function siblings(state: ConversationState, message: string): readonly string[] {
  const found = state.messages.get(message);
  return found ? childrenOf(state, parentKey(found)) : NONE;
}

/**
 * Returns the key under which `children` lists a message: its parent, or else the call that launched its agent, or else
 * `null`.
 */
export function parentKey({ parentId, call }: Message): string | null {
  return parentId ?? call ?? null;
}

/**
 * Returns `leaf`, or its nearest ancestor that is neither removed nor below a removed message.
 * @example const leaf = standingLeaf(session.state, session.state.leaf);
 */
export function standingLeaf(state: ConversationState, leaf: string | null): string | null {
  // Usually nothing is removed, which saves the walk up a long path.
  if (state.removals === 0) return leaf;
  const path = pathTo(state, leaf);
  const gone = path.findIndex(({ removed }) => removed);
  return gone < 0 ? leaf : (path[gone - 1]?.id ?? null);
}

/** Returns the responses with open calls in the sub-agents below a call, at any depth. */
export function unsettledBelow(state: ConversationState, call: string): AssistantMessage[] {
  const found: AssistantMessage[] = [];
  const open = [...(state.children.get(call) ?? NONE)];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const message = state.messages.get(id);
    open.push(...(state.children.get(id) ?? NONE));
    if (message?.role !== "assistant") continue;
    for (const launching of message.calls) open.push(...(state.children.get(launching.id) ?? NONE));
    if (!isSettled(message)) found.push(message);
  }
  return found;
}

/**
 * Returns the name of the worktree that a branch uses, or nothing for the workspace itself. A sub-agent without its own
 * worktree uses the worktree of the agent that launched it.
 * @example console.log(worktreeAt(session.state, session.state.leaf) ?? "the workspace");
 */
export function worktreeAt(state: ConversationState, leaf: string | null | undefined): string | undefined {
  for (let id = leaf; id != null; ) {
    const message = state.messages.get(id);
    if (message?.role === "user" && message.worktree !== undefined) return message.worktree;
    id = message?.parentId ?? (message?.call === undefined ? null : state.calls.get(message.call));
  }
  return undefined;
}

/**
 * Returns the sum of usage and cost of the responses and summaries on a path.
 * @example const { usage, cost } = usageOnPath(pathTo(session.state, session.state.leaf));
 */
export function usageOnPath(path: readonly Message[]): { usage: Usage; cost: Cost } {
  if (!isPath(path)) throw new OptionError("path of usageOnPath must be a list of messages, as pathTo returns.");
  let usage = noUsage;
  let cost: Cost = 0;
  for (const message of path) {
    if (message.role === "user" || !message.usage) continue;
    usage = addUsage(usage, message.usage);
    cost = addCost(cost, message.cost);
  }
  return { usage, cost };
}

/** True for a list of messages. Checks the first and the last: a path may have 100,000 messages. */
function isPath(path: unknown): path is readonly Message[] {
  return (
    Array.isArray(path) && [path[0], path.at(-1)].every((one) => path.length === 0 || typeof one?.role === "string")
  );
}

/** Throws `OptionError` for a value that is no state of a conversation (L11). */
export function checkState(owner: string, state: ConversationState): void {
  if (typeof state?.messages?.get === "function") return;
  throw new OptionError(`state of ${owner} must be the state of a conversation, such as session.state.`);
}

/**
 * Returns the last response on a path.
 * @example const { usage } = lastAssistantMessage(pathTo(session.state, session.state.leaf)) ?? {};
 */
export function lastAssistantMessage(path: readonly Message[]): AssistantMessage | undefined {
  for (let i = path.length - 1; i >= 0; i--) {
    const message = path[i];
    if (message?.role === "assistant") return message;
  }
  return undefined;
}

/** True for a readable summary that covers messages. An unreadable summary covers nothing (F77). */
export function isSummary(message: Message | undefined): message is SummaryMessage & { readonly covers: string } {
  return message?.role === "summary" && message.covers !== undefined && message.unreadable === undefined;
}

/** True if a message shortens results of earlier calls (F91). */
export function isShortening(message: Message | undefined): message is SummaryMessage {
  return message?.role === "summary" && message.shortened !== undefined && message.unreadable === undefined;
}

/** Returns the messages of a path for the model: the nearest summary and the messages that it does not cover. */
export function afterSummary(path: readonly Message[]): readonly Message[] {
  const at = path.findLastIndex(isSummary);
  const summary = path[at];
  const shortenings = path.filter(isShortening);
  if (!isSummary(summary)) return withShortened(path, shortenings);
  const covered = path.findIndex((message) => message.id === summary.covers);
  // If the last covered message was forgotten, the kept messages on the path are covered too.
  const kept = new Set(covered < 0 ? summary.kept?.map(({ message }) => message) : []);
  const before = path.slice(covered + 1, at).filter(({ id }) => !kept.has(id));
  return withShortened([summary, ...before, ...path.slice(at + 1)], shortenings);
}

function withShortened(path: readonly Message[], shortenings: readonly SummaryMessage[]): readonly Message[] {
  if (shortenings.length === 0) return path;
  const all = shortenings.flatMap(({ shortened = [] }) => shortened);
  const results = new Map(all.flatMap((one) => ("call" in one ? [[one.call, one.text]] : [])));
  const messages = new Map(all.flatMap((one) => ("message" in one ? [[one.message, one]] : [])));
  return path
    .filter((message) => message.role !== "summary" || isSummary(message))
    .map((message) => {
      if (message.role === "assistant") return withTexts(message, results);
      const aside = message.role === "user" ? messages.get(message.id) : undefined;
      return aside && message.role === "user" ? inPlaceOf(message, aside) : message;
    });
}

const placeholders = new WeakMap<SetAsideMessage, UserMessage>();

function inPlaceOf({ recalled: _, ...message }: UserMessage, aside: SetAsideMessage): UserMessage {
  let shown = placeholders.get(aside);
  if (!shown) {
    shown = { ...message, author: "system", parts: [{ type: "text", text: aside.text }] };
    placeholders.set(aside, shown);
  }
  return shown;
}

/** The same object for the same texts, so that a request is encoded only once. */
const shortenedForms = new WeakMap<AssistantMessage, AssistantMessage>();

function withTexts(message: AssistantMessage, texts: ReadonlyMap<string, string>): AssistantMessage {
  if (!message.calls.some(({ id }) => texts.has(id))) return message;
  const textFor = ({ id, output }: Call) => texts.get(id) ?? output;
  const before = shortenedForms.get(message);
  if (before?.calls.every((call, index) => call.output === textFor(message.calls[index] as Call))) return before;
  const calls = message.calls.map((call): Call => {
    const { files: _files, modelOutput: _output, ...rest } = call;
    const text = texts.get(call.id);
    return text === undefined ? call : { ...rest, output: text };
  });
  const form = { ...message, calls };
  shortenedForms.set(message, form);
  return form;
}

export function resultFileBytes(path: readonly Message[]): number {
  const calls = afterSummary(path).flatMap((message) => (message.role === "assistant" ? message.calls : []));
  return calls.flatMap(({ files = [] }) => files).reduce((sum, { data = "" }) => sum + base64Size(data), 0);
}

/** Returns the processes of a branch that are running, or that have ended without the model being told yet. */
export function processesOf({ processes, messages }: ConversationState, path: readonly Message[]): StayingProcess[] {
  if (processes.size === 0) return [];
  const here = new Set(path.map(({ id }) => id));
  // A process of a forgotten message is reported to every branch that continues.
  return [...processes.values()].filter(({ message }) => here.has(message) || !messages.has(message));
}
