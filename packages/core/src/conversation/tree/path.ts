import {
  type AssistantMessage,
  type Call,
  isPersons,
  isSettled,
  type Message,
  type SetAsideMessage,
  type SummaryMessage,
  type UserMessage,
  type UserPart,
} from "../message.ts";
import type { ConversationState } from "../state.ts";
import { addCost, addUsage, type Cost, noUsage, type Usage } from "../usage.ts";

/** The messages from the root to `leaf`, without recursion: a path can be 100,000 messages long. */
export function pathTo(state: ConversationState, leaf: string | null): Message[] {
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

/** The place of the last message on a path whose parent is not before it, since a session's window forgot it; -1 for none. */
export function placeAfterForgotten(path: readonly Message[]): number {
  return path.findLastIndex(({ parentId }, index) => parentId !== (path[index - 1]?.id ?? null));
}

/** Returns the last text of a user on a path. Commands that the user ran since (`!command`) do not count: they only inform the model. */
export function lastSaid(path: readonly Message[]): UserMessage | undefined {
  return path.findLast((message): message is UserMessage => isPersons(message) && !isOwnCommand(message.parts));
}

/** The name of the element in which the model gets the output of a command that a user ran. */
export const OWN_OUTPUT = "output";

function isOwnCommand([typed, output]: readonly UserPart[]): boolean {
  if (typed?.type !== "text" || output?.type !== "text") return false;
  return typed.text.startsWith("!") && output.text.startsWith(`<${OWN_OUTPUT} name=`);
}

/** The children of a message (of the roots for `null`) that nobody removed, oldest first. */
function childrenOf(state: ConversationState, message: string | null): readonly string[] {
  const children = state.children.get(message) ?? NONE;
  const gone = children.some((id) => state.messages.get(id)?.removed);
  return gone ? children.filter((id) => !state.messages.get(id)?.removed) : children;
}

const NONE: readonly string[] = [];

/** The leaf below `message` that was written last: where its branch goes on. */
export function newestLeaf(state: ConversationState, message: string): string {
  let leaf = message;
  for (let next = childrenOf(state, leaf).at(-1); next !== undefined; next = childrenOf(state, leaf).at(-1)) {
    leaf = next;
  }
  return leaf;
}

/** All leaves in the order of the tree; each is a branch. What was removed is left out. */
export function leaves(state: ConversationState): string[] {
  const found: string[] = [];
  const open = [...childrenOf(state, null)].reverse();
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const children = childrenOf(state, id);
    if (children.length === 0) found.push(id);
    else for (let i = children.length - 1; i >= 0; i--) open.push(children[i] as string);
  }
  return found;
}

/** The messages that share a parent with `message`, itself included and removed ones left out, oldest first. */
export function siblings(state: ConversationState, message: string): readonly string[] {
  const found = state.messages.get(message);
  return found ? childrenOf(state, hangsOn(found)) : NONE;
}

/** Where a message stands among `children`: under its parent, the call that launched its agent, or `null`. */
export function hangsOn({ parentId, call }: Message): string | null {
  return parentId ?? call ?? null;
}

/** The message, or the nearest one above it that nobody removed, by itself or with one above. */
export function standing(state: ConversationState, leaf: string | null): string | null {
  // As a rule nothing is removed: then nobody walks up a long path.
  if (state.removals === 0) return leaf;
  const path = pathTo(state, leaf);
  const gone = path.findIndex(({ removed }) => removed);
  return gone < 0 ? leaf : (path[gone - 1]?.id ?? null);
}

/** The responses of the sub-agents below a call, however deep, that have calls without a result. */
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
 * The name of the worktree that the branch down to a message works in; of a sub-agent without one of its own, that of its
 * launcher. Nothing where the files are those of the workspace.
 */
export function worktreeAt(state: ConversationState, leaf: string | null | undefined): string | undefined {
  for (let id = leaf; id != null; ) {
    const message = state.messages.get(id);
    if (message?.role === "user" && message.worktree !== undefined) return message.worktree;
    id = message?.parentId ?? (message?.call === undefined ? null : state.calls.get(message.call));
  }
  return undefined;
}

/** Usage and cost of the responses and summaries on a path. */
export function spentOn(path: readonly Message[]): { usage: Usage; cost: Cost } {
  let usage = noUsage;
  let cost: Cost = 0;
  for (const message of path) {
    if (message.role === "user" || !message.usage) continue;
    usage = addUsage(usage, message.usage);
    cost = addCost(cost, message.cost);
  }
  return { usage, cost };
}

/** The last response on a path. */
export function lastAssistantMessage(path: readonly Message[]): AssistantMessage | undefined {
  for (let i = path.length - 1; i >= 0; i--) {
    const message = path[i];
    if (message?.role === "assistant") return message;
  }
  return undefined;
}

/** Whether a message is a summary that stands for what it covers: one that cannot be read stands for nothing (F77). */
export function isSummary(message: Message | undefined): message is SummaryMessage & { readonly covers: string } {
  return message?.role === "summary" && message.covers !== undefined && message.unreadable === undefined;
}

/** Returns whether a message shortens results above it. All messages above it may then be shown in another form (F91). */
export function isShortening(message: Message | undefined): message is SummaryMessage {
  return message?.role === "summary" && message.shortened !== undefined && message.unreadable === undefined;
}

/**
 * Returns the messages of a path that the model is shown: the nearest summary, and the messages that it does not cover. Messages of
 * the path that shorten results, or set messages aside, are applied.
 */
export function afterSummary(path: readonly Message[]): readonly Message[] {
  const at = path.findLastIndex(isSummary);
  const summary = path[at];
  const shortenings = path.filter(isShortening);
  if (!isSummary(summary)) return withShortened(path, shortenings);
  const covered = path.findIndex((message) => message.id === summary.covers);
  // Kept messages are still on a path of which the last covered message is forgotten: they are covered, too.
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

/** Messages that are shown in the place of those that were too large, by the entry that says so. */
const placeholders = new WeakMap<SetAsideMessage, UserMessage>();

function inPlaceOf({ recalled: _, ...message }: UserMessage, aside: SetAsideMessage): UserMessage {
  let shown = placeholders.get(aside);
  if (!shown) {
    shown = { ...message, author: "system", parts: [{ type: "text", text: aside.text }] };
    placeholders.set(aside, shown);
  }
  return shown;
}

/** Messages with shortened results: the same object for the same texts, so that a request is encoded once. */
const shortenedForms = new WeakMap<AssistantMessage, AssistantMessage>();

function withTexts(message: AssistantMessage, texts: ReadonlyMap<string, string>): AssistantMessage {
  if (!message.calls.some(({ id }) => texts.has(id))) return message;
  const textFor = ({ id, output }: Call) => texts.get(id) ?? output;
  const before = shortenedForms.get(message);
  if (before?.calls.every((call, index) => call.output === textFor(message.calls[index] as Call))) return before;
  const calls = message.calls.map((call): Call => {
    const { files: _, ...rest } = call;
    const text = texts.get(call.id);
    return text === undefined ? call : { ...rest, output: text };
  });
  const form = { ...message, calls };
  shortenedForms.set(message, form);
  return form;
}
