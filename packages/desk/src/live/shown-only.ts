import {
  type About,
  type ConversationState,
  type Event,
  type FeedItem,
  isEvent,
  type LiveRun,
  type Message,
  pathTo,
  usageOnPath,
} from "@banyan/core/conversation";
import type { ShareScope } from "../request/principal.ts";

// A link shows messages, calls and results of one conversation or branch (S29). It hides recalled memory, the folder,
// settings, rules, queued messages, and messages that the user removed.

/** Returns a conversation's state in the form that a shared link shows. */
export function stateInShare(state: ConversationState, { leaf }: ShareScope): ConversationState {
  const messages = messagesOnly(state, leaf);
  const within = (id: string | null) => id !== null && messages.has(id);
  const shown: ConversationState = {
    ...state,
    messages,
    labels: labelsOnly(state.labels),
    leaf: within(state.leaf) ? state.leaf : (pathTo(state, state.leaf).findLast(({ id }) => within(id))?.id ?? null),
    calls: new Map([...state.calls].filter(([, message]) => messages.has(message))),
    broken: new Map(
      [...state.broken].flatMap(([message, { goal: _, ...turn }]) => (messages.has(message) ? [[message, turn]] : [])),
    ),
    runs: new Map([...state.runs].map(([id, run]) => [id, withoutGoal(run)])),
    waiting: new Map([...state.waiting].map(([id, run]) => [id, withoutGoal(run)])),
    questions: new Map([...state.questions].map(([id, question]) => [id, withoutRule(question)])),
    goals: new Map(),
    inbox: [],
    allowed: [],
  };
  if (leaf === undefined) return shown;
  // A link to a branch shows the branch as it was when the link was opened.
  const still = {
    runs: new Map(),
    waiting: new Map(),
    continuedBy: new Map(),
    questions: new Map(),
    following: new Map(),
    processes: new Map(),
    processesBegun: 0,
  };
  return { ...shown, ...still, ...usageOnPath([...messages.values()]), leaf };
}

/** The part of each feed item that a link shows: everything, a part (`itemInShare`), or nothing. */
const SHOWS = {
  "conversation.created": "part",
  "conversation.brought-in": "all",
  "content.stored": "part",
  "message.added": "all",
  "memory.recalled": "nothing",
  "memory.dismissed": "nothing",
  "message.started": "all",
  "message.checkpoint": "all",
  "message.completed": "all",
  "message.abandoned": "all",
  "call.pending": "part",
  "call.approval-requested": "part",
  "call.approval-resolved": "part",
  "call.executing": "part",
  "call.completed": "all",
  "call.failed": "all",
  "call.denied": "all",
  "call.cancelled": "all",
  "call.following": "all",
  "call.followed": "all",
  "file.changed": "all",
  "question.asked": "all",
  "question.answered": "all",
  "run.started": "part",
  "goal.checked": "nothing",
  "run.paused": "all",
  "run.continued": "all",
  "run.ended": "all",
  "input.queued": "nothing",
  "input.edited": "nothing",
  "input.withdrawn": "nothing",
  "input.delivered": "all",
  "message.labelled": "all",
  "message.starred": "all",
  "message.removed": "all",
  "message.restored": "all",
  "title.changed": "all",
  "model.changed": "all",
  "process.started": "all",
  "process.ended": "all",
  "rule.revoked": "nothing",
  "usage.counted": "all",
  "text.delta": "all",
  "reasoning.delta": "all",
  "call.input.delta": "all",
  "call.output.delta": "all",
  "call.draft.delta": "all",
  "model.retrying": "all",
  "model.replaced": "all",
  "model.waiting": "all",
  "turn.waiting": "nothing",
  "message.left-out": "nothing",
  "request.changed": "nothing",
  "memory.skipped": "nothing",
  "approval.withdrawn": "nothing",
  "context.shortening": "all",
  "context.not-shortened": "all",
  "callback.failed": "nothing",
  "feed.reset": "all",
  "chat.ended": "all",
} as const satisfies Readonly<Record<FeedItem["type"], "all" | "part" | "nothing">>;

type PartlyShown = { [Type in FeedItem["type"]]: (typeof SHOWS)[Type] extends "part" ? Type : never }[FeedItem["type"]];

/**
 * Returns a feed item in the form that a shared link shows. Hidden events become empty events, so that the feed has no
 * gap.
 */
export function itemInShare(item: FeedItem, { leaf }: ShareScope): FeedItem | undefined {
  if (leaf !== undefined) return undefined;
  const shows = SHOWS[item.type];
  if (shows === "all") return item;
  if (shows === "part") return visiblePart(item as Extract<FeedItem, { readonly type: PartlyShown }>);
  return isEvent(item) ? emptiedEvent(item) : undefined;
}

function withoutGoal({ goal: _, ...run }: LiveRun): LiveRun {
  return run;
}

function emptiedEvent({ seq, epoch, at }: Event): Event {
  return { type: "content.stored", digest: "", text: "", seq, epoch, at };
}

function visiblePart(item: Extract<FeedItem, { readonly type: PartlyShown }>): FeedItem {
  switch (item.type) {
    case "conversation.created":
      return { ...item, labels: labelsOnly(item.labels) };
    case "content.stored":
      // A file that a call produced is part of the conversation; content for the model is not.
      return item.mediaType === undefined ? emptiedEvent(item) : item;
    case "run.started": {
      // Commands of a goal, and the names of files, are the owner's.
      const { goal: _, ...rest } = item;
      return { ...rest, settings: {}, limits: {} };
    }
    case "call.pending":
    case "call.executing":
      return withoutFolder(item);
    case "call.approval-requested":
      return withoutRule(item);
    case "call.approval-resolved": {
      const { remember: _, ...rest } = item;
      return rest;
    }
    default:
      return item satisfies never;
  }
}

/** With the work of sub-agents, and without removed messages. */
function messagesOnly(state: ConversationState, leaf: string | undefined): Map<string, Message> {
  const path = leaf === undefined ? undefined : new Set(pathTo(state, leaf).map(({ id }) => id));
  const shown = new Map<string, Message>();
  // A parent comes before its children, and a call before the messages of the sub-agent that it started.
  for (const message of state.messages.values()) {
    const above = message.parentId ?? (message.call === undefined ? null : (state.calls.get(message.call) ?? ""));
    if (message.removed || (above !== null && !shown.has(above))) continue;
    if (path && message.call === undefined && !path.has(message.id)) continue;
    shown.set(message.id, messageOnly(message));
  }
  return shown;
}

function messageOnly(message: Message): Message {
  if (message.role === "assistant") return { ...message, calls: message.calls.map(withoutFolder) };
  if (message.role !== "user" || !message.recalled) return message;
  const { recalled: _, ...rest } = message;
  return rest;
}

/** Paths in arguments and results stay visible. */
function withoutFolder<Told extends { readonly about?: About }>(told: Told): Told {
  if (told.about?.folder === undefined) return told;
  const { folder: _, ...about } = told.about;
  return { ...told, about };
}

/** Only users who may answer see the rule that an answer would make. */
function withoutRule<Asked extends object>(asked: Asked): Asked {
  if (!("pattern" in asked)) return asked;
  const { pattern: _, ...rest } = asked;
  return rest as Asked;
}

/** Folder, machine and project state stay hidden. */
function labelsOnly({ agent }: ConversationState["labels"]): ConversationState["labels"] {
  return agent === undefined ? {} : { agent };
}
