import type { AssistantMessage, ConversationState, Cursor, LiveRun, Message } from "@banyan/core/conversation";
import { describeUnreadable, isEnded, pathTo, textOf } from "@banyan/core/conversation";
import { FIRST_WORDS } from "./bounds.ts";
import type { NarrowedRule, OutlineNode, Snapshot } from "./snapshot.ts";

/**
 * Maximum number, and UTF-16 units, of messages of the viewed branch in a snapshot. The last message is always
 * included.
 */
const MESSAGES_IN_VIEW = 200;
const SIZE_IN_VIEW = 512 * 1024;

/** The data of a snapshot that is not in the conversation's state. See {@link snapshotOf}. */
export interface SnapshotOf {
  readonly cursor: Cursor;
  /** A message of the viewed branch. If absent or unknown: the newest message. */
  readonly leaf?: string | undefined;
  readonly interrupted?: readonly LiveRun[];
  readonly damage?: readonly string[];
  readonly narrowed?: readonly NarrowedRule[];
}

/**
 * Returns the snapshot for a client that begins to watch. It contains the outline of the tree, and the last messages of
 * the viewed branch.
 * @example const { nodes } = snapshotOf(session.state, { cursor: { epoch: 1, seq: session.state.seq, offset: 0 } });
 */
export function snapshotOf(state: ConversationState, of: SnapshotOf): Snapshot {
  return { ...snapshotRest(state, of), ...outlineTree(state) };
}

/** Returns a snapshot without the outline of the tree. */
export function snapshotRest(
  state: ConversationState,
  { cursor, leaf, interrupted, damage, narrowed = [] }: SnapshotOf,
): Omit<Snapshot, "names" | "nodes"> {
  const view = leaf !== undefined && state.messages.has(leaf) ? leaf : state.leaf;
  return {
    type: "snapshot",
    conversation: state.id,
    cursor,
    seq: state.seq,
    ...(state.title === undefined ? {} : { title: state.title }),
    ...(state.model === undefined ? {} : { model: state.model }),
    labels: state.labels,
    createdAt: state.createdAt,
    leaf: state.leaf,
    view,
    messages: endOfBranch(state, view),
    runs: [...state.runs.values()],
    waiting: [...state.waiting.values()],
    continuedBy: Object.fromEntries(state.continuedBy),
    inbox: state.inbox,
    questions: [...state.questions.values()],
    following: [...state.following.values()],
    processes: [...state.processes.values()],
    processesBegun: state.processesBegun,
    allowed: state.allowed,
    narrowed: [...narrowed],
    ...(state.lastRunEnd === undefined ? {} : { lastRunEnd: state.lastRunEnd }),
    broken: [...state.broken].map(([message, { message: why, ...turn }]) => ({
      message,
      ...turn,
      ...(why === undefined ? {} : { why }),
    })),
    usage: state.usage,
    ...(state.cost === undefined ? {} : { cost: state.cost }),
    interrupted: interrupted ?? [],
    damage: damage ?? [],
  };
}

function endOfBranch(state: ConversationState, view: string | null): Message[] {
  const path = pathTo(state, view);
  let first = path.length;
  for (let size = 0; first > 0 && path.length - first < MESSAGES_IN_VIEW; first--) {
    size += messageSize(path[first - 1] as Message);
    if (size > SIZE_IN_VIEW && first < path.length) break;
  }
  return path.slice(first);
}

function outlineTree(state: ConversationState): Pick<Snapshot, "names" | "nodes"> {
  const names = new TextPool();
  const places = new Map<string, number>();
  const nodes: OutlineNode[] = [];
  for (const message of state.messages.values()) {
    places.set(message.id, nodes.length);
    nodes.push(outlineNode(message, places, names));
  }
  return { names: names.all, nodes };
}

/** Numbers texts in the order of their first use. */
export class TextPool {
  readonly all: string[] = [];
  readonly #known = new Map<string, number>();

  clear(): void {
    this.all.length = 0;
    this.#known.clear();
  }

  of(text: string): number {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const place = this.all.push(text) - 1;
    this.#known.set(text, place);
    return place;
  }
}

/** `places`: the position of each earlier message in the outline. */
export function outlineNode(message: Message, places: ReadonlyMap<string, number>, names: TextPool): OutlineNode {
  const { id, parentId, role, createdAt: at } = message;
  const node: { -readonly [Key in keyof OutlineNode]: OutlineNode[Key] } = { id, role, at };
  const parent = parentId === null ? undefined : places.get(parentId);
  if (parent !== undefined) node.parent = parent;
  else if (message.call !== undefined) node.call = message.call;
  if (message.label !== undefined) node.label = message.label;
  if (message.starred) node.starred = true;
  if (message.removed) node.removed = true;
  const words = messageOpening(message);
  if (words !== "") node.words = words;
  const size = messageSize(message);
  if (size > 0) node.size = size;
  switch (message.role) {
    case "user":
      if (message.author !== "user") node.author = message.author;
      if (message.worktree !== undefined) node.worktree = message.worktree;
      return node;
    case "summary":
      if (message.covers !== undefined) node.covers = message.covers;
      break;
    case "assistant":
      node.run = names.of(message.run);
      node.model = names.of(message.model);
      if (message.finish !== undefined) node.finish = message.finish;
      if (message.error !== undefined) node.error = message.error;
      countCalls(node, message);
  }
  if (message.usage) {
    const { input, cached, cacheWrite, output, reasoning } = message.usage;
    node.usage = [input, cached, cacheWrite, output, reasoning];
  }
  if (message.cost !== undefined) node.cost = message.cost;
  return node;
}

function countCalls(
  node: { calls?: number; open?: number; failed?: number; changed?: number },
  { calls }: AssistantMessage,
): void {
  if (calls.length === 0) return;
  const open = calls.filter(({ status }) => !isEnded(status)).length;
  const failed = calls.filter(({ status }) => status === "failed" || status === "denied").length;
  node.calls = calls.length;
  if (open > 0) node.open = open;
  if (failed > 0) node.failed = failed;
  const changed = calls.reduce((sum, { changes = [] }) => sum + changes.length, 0);
  if (changed > 0) node.changed = changed;
}

/**
 * Returns the beginning of a message on one line.
 * @example const lines = pathTo(session.state, session.state.leaf).map(messageOpening);
 */
export function messageOpening(message: Message): string {
  const text = describeUnreadable(message) ?? textOf(message);
  // Twice the text is usually enough; after much leading white space, fewer words are shown.
  const near = foldSpace(text.slice(0, 2 * FIRST_WORDS));
  const words = near.length < FIRST_WORDS ? foldSpace(text.slice(0, 8 * FIRST_WORDS)) : near;
  // A cut must not leave half a surrogate pair.
  return words
    .slice(0, FIRST_WORDS)
    .replace(/[\uD800-\uDBFF]$/, "")
    .trimEnd();
}

function foldSpace(text: string): string {
  return text.replace(/\s{2,}|[^\S ]/g, " ").trim();
}

/**
 * Returns the size of a message in UTF-16 units: its text, and the arguments and results of its calls.
 * @example
 * const size = pathTo(session.state, session.state.leaf).reduce((sum, message) => sum + messageSize(message), 0);
 */
export function messageSize(message: Message): number {
  let size = 0;
  for (const part of message.parts) {
    if ("text" in part) size += part.text.length;
    else if (part.type === "file") size += part.data?.length ?? 0;
  }
  if (message.role !== "assistant") return size;
  for (const call of message.calls) size += call.inputText.length + (call.output ?? call.progress).length;
  return size;
}
