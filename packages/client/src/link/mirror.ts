import type { Change, ConversationState, Cursor, FeedItem, LiveRun, Message, Usage } from "@banyan/core/conversation";
import { cursorOf, emptyConversation, reduce } from "@banyan/core/conversation";
import type { NarrowedRule, OutlineNode, Snapshot } from "@banyan/protocol";

/** Defaults for fields that snapshots of earlier servers lack. */
const LEFT_OUT = {
  waiting: [],
  continuedBy: {},
  processes: [],
  processesBegun: 0,
  narrowed: [],
  broken: [],
} satisfies Partial<Snapshot>;

type ArrivedSnapshot = Omit<Snapshot, keyof typeof LEFT_OUT> & Partial<Pick<Snapshot, keyof typeof LEFT_OUT>>;

/**
 * A client's copy of a conversation. It begins with a snapshot, follows the feed, and gets the content of messages as
 * they are read. Makes no requests. Owns all objects that are passed to it. Unread messages in `state` have neither
 * parts nor calls; `outline` describes them. Feed items about the content of an unread message are skipped.
 * @example
 * const mirror = new Mirror(frame);
 * const replies = [...mirror.state.messages.values()].filter(({ role }) => role === "assistant");
 */
export class Mirror {
  /** The tree, read only. Feed items change it in place, and the next snapshot replaces it. */
  readonly state: ConversationState;
  /** Runs that were interrupted because their process stopped. */
  readonly interrupted: readonly LiveRun[];
  /** Descriptions of the unreadable parts of the log. */
  readonly damage: readonly string[];
  /** Rules of the conversation that now allow less than when the user added them. */
  readonly narrowed: readonly NarrowedRule[];
  #cursor: Cursor;
  readonly #unread = new Map<string, OutlineNode>();

  constructor(arrived: ArrivedSnapshot) {
    const snapshot: Snapshot = { ...LEFT_OUT, ...arrived };
    this.#cursor = snapshot.cursor;
    this.interrupted = snapshot.interrupted;
    this.damage = snapshot.damage;
    this.narrowed = snapshot.narrowed;
    this.state = Object.assign(emptyConversation(snapshot.conversation), {
      ...treeOf(snapshot),
      seq: snapshot.seq,
      epoch: snapshot.cursor.epoch,
      title: snapshot.title,
      model: snapshot.model,
      labels: snapshot.labels,
      createdAt: snapshot.createdAt,
      leaf: snapshot.leaf,
      runs: byId(snapshot.runs),
      waiting: byId(snapshot.waiting),
      continuedBy: new Map(Object.entries(snapshot.continuedBy)),
      inbox: [...snapshot.inbox],
      questions: byId(snapshot.questions),
      following: new Map(snapshot.following.map((following) => [following.call, following])),
      processes: byId(snapshot.processes),
      processesBegun: snapshot.processesBegun,
      removals: snapshot.nodes.filter(({ removed }) => removed).length,
      allowed: [...snapshot.allowed],
      lastRunEnd: snapshot.lastRunEnd,
      broken: new Map(
        snapshot.broken.map(({ message, why, ...turn }) => [
          message,
          { ...turn, ...(why === undefined ? {} : { message: why }) },
        ]),
      ),
      usage: snapshot.usage,
      cost: snapshot.cost,
    });
    for (const node of snapshot.nodes) this.#unread.set(node.id, node);
    this.fill(snapshot.messages);
  }

  /** Position from which the feed continues. */
  get cursor(): Cursor {
    return this.#cursor;
  }

  /** Returns the server's outline of an unread message. */
  outline(message: string): OutlineNode | undefined {
    return this.#unread.get(message);
  }

  /** Returns the messages that must be read before they can be shown. */
  unread(messages: Iterable<string>): string[] {
    return [...messages].filter((message) => this.#unread.has(message));
  }

  /** Applies the items of a `feed` frame, in order. Returns the change of each item. */
  take(items: readonly FeedItem[]): Change[] {
    return items.map((item) => {
      this.#cursor = cursorOf(item) ?? this.#cursor;
      return reduce(this.state, item);
    });
  }

  /** Inserts messages that were read, in the order of the frames. */
  fill(messages: readonly Message[]): void {
    const all = this.state.messages as Map<string, Message>;
    const calls = this.state.calls as Map<string, string>;
    const files = this.state.files as Map<string, string>;
    for (const message of messages) {
      if (!all.has(message.id)) continue;
      this.#unread.delete(message.id);
      all.set(message.id, message);
      if (message.role !== "assistant") continue;
      for (const { id, files: brought = [] } of message.calls) {
        calls.set(id, message.id);
        for (const { digest, data } of brought) if (data !== undefined) files.set(digest, data);
      }
    }
  }
}

function treeOf({ nodes, names }: Snapshot): Pick<ConversationState, "messages" | "children"> {
  const messages = new Map<string, Message>();
  const children = new Map<string | null, string[]>();
  // The call of a sub-agent's first message applies to all messages below.
  const callOf: (string | undefined)[] = [];
  for (const [place, node] of nodes.entries()) {
    const parent = node.parent === undefined ? undefined : nodes[node.parent];
    const call = node.parent === undefined ? node.call : callOf[node.parent];
    callOf[place] = call;
    messages.set(node.id, outlinedMessage(node, parent?.id ?? null, call, names));
    const above = parent?.id ?? call ?? null;
    const siblings = children.get(above);
    if (siblings) siblings.push(node.id);
    else children.set(above, [node.id]);
  }
  return { messages, children };
}

function outlinedMessage(
  node: OutlineNode,
  parentId: string | null,
  call: string | undefined,
  names: readonly string[],
): Message {
  const base = {
    id: node.id,
    parentId,
    createdAt: node.at,
    ...(call === undefined ? {} : { call }),
    ...(node.label === undefined ? {} : { label: node.label }),
    ...(node.starred ? { starred: true } : {}),
    ...(node.removed ? { removed: true } : {}),
  };
  const spent = {
    ...(node.usage === undefined ? {} : { usage: outlinedUsage(node.usage) }),
    ...(node.cost === undefined ? {} : { cost: node.cost }),
  };
  switch (node.role) {
    case "user": {
      const place = node.worktree === undefined ? {} : { worktree: node.worktree };
      return { ...base, role: "user", author: node.author ?? "user", parts: [], ...place };
    }
    case "summary": {
      const covered = node.covers === undefined ? {} : { covers: node.covers };
      return { ...base, ...spent, role: "summary", ...covered, parts: [] };
    }
    case "assistant": {
      const fields = {
        ...(node.finish === undefined ? {} : { finish: node.finish }),
        ...(node.error === undefined ? {} : { error: node.error }),
      };
      const [run, model] = [node.run, node.model].map((place) => (place === undefined ? "" : (names[place] ?? "")));
      return { ...base, ...spent, ...fields, role: "assistant", run, model, parts: [], calls: [] } as Message;
    }
  }
}

function outlinedUsage([input = 0, cached = 0, cacheWrite = 0, output = 0, reasoning = 0]: readonly number[]): Usage {
  return { input, cached, cacheWrite, output, reasoning };
}

function byId<Item extends { readonly id: string }>(items: readonly Item[]): Map<string, Item> {
  return new Map(items.map((item) => [item.id, item]));
}
