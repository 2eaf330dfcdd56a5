import {
  type About,
  type ConversationState,
  type Event,
  type FeedItem,
  isEvent,
  type Message,
  pathTo,
  spentOn,
} from "@banyan/core/conversation";
import type { Only } from "../principal.ts";

// What somebody sees who has a link (S29): what was said, called and done in one conversation, or on one branch of it, and nothing
// of what stands behind it: other conversations that memory brought along, the folder, settings, rules, what waits to be said, and
// what a person removed.

/** A conversation as a link shows it. */
export function stateOnly(state: ConversationState, { leaf }: Only): ConversationState {
  const messages = messagesOnly(state, leaf);
  const within = (id: string | null) => id !== null && messages.has(id);
  const shown: ConversationState = {
    ...state,
    messages,
    labels: labelsOnly(state.labels),
    leaf: within(state.leaf) ? state.leaf : (pathTo(state, state.leaf).findLast(({ id }) => within(id))?.id ?? null),
    calls: new Map([...state.calls].filter(([, message]) => messages.has(message))),
    broken: new Map([...state.broken].filter(([message]) => messages.has(message))),
    questions: new Map([...state.questions].map(([id, question]) => [id, withoutRule(question)])),
    inbox: [],
    allowed: [],
  };
  if (leaf === undefined) return shown;
  // A branch is shown as it was when the link was opened: nothing goes on in it.
  const still = {
    runs: new Map(),
    waiting: new Map(),
    continuedBy: new Map(),
    questions: new Map(),
    following: new Map(),
    processes: new Map(),
    processesBegun: 0,
  };
  return { ...shown, ...still, ...spentOn([...messages.values()]), leaf };
}

/**
 * What a link shows of each type of item: all of it, a part (`itemOnly`), or nothing. One that is new does not compile before
 * somebody has decided.
 */
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
  "context.shortening": "all",
  "context.not-shortened": "all",
  "callback.failed": "nothing",
  "feed.reset": "all",
  "chat.ended": "all",
} as const satisfies Readonly<Record<FeedItem["type"], "all" | "part" | "nothing">>;

type PartlyShown = { [Type in FeedItem["type"]]: (typeof SHOWS)[Type] extends "part" ? Type : never }[FeedItem["type"]];

/**
 * An item of the feed as a link shows it. Of a branch nothing is told: it stands as it is. An event that is not shown is told as one
 * that says nothing, so that the feed has no gap.
 */
export function itemOnly(item: FeedItem, { leaf }: Only): FeedItem | undefined {
  if (leaf !== undefined) return undefined;
  const shows = SHOWS[item.type];
  if (shows === "all") return item;
  if (shows === "part") return partOf(item as Extract<FeedItem, { readonly type: PartlyShown }>);
  return isEvent(item) ? untold(item) : undefined;
}

function untold({ seq, epoch, at }: Event): Event {
  return { type: "content.stored", digest: "", text: "", seq, epoch, at };
}

function partOf(item: Extract<FeedItem, { readonly type: PartlyShown }>): FeedItem {
  switch (item.type) {
    case "conversation.created":
      return { ...item, labels: labelsOnly(item.labels) };
    case "content.stored":
      // A file that a call brought is part of what was done; what the model is sent is not.
      return item.mediaType === undefined ? untold(item) : item;
    case "run.started":
      return { ...item, settings: {}, limits: {} };
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

/** The messages that a link shows: of a branch, those on it; with what sub-agents did, and without what was removed. */
function messagesOnly(state: ConversationState, leaf: string | undefined): Map<string, Message> {
  const path = leaf === undefined ? undefined : new Set(pathTo(state, leaf).map(({ id }) => id));
  const shown = new Map<string, Message>();
  // A parent stands before its children, and a call before the messages of the agent that it launched.
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

/** The folder that a call works in is not shown; paths in its arguments and results are. */
function withoutFolder<Told extends { readonly about?: About }>(told: Told): Told {
  if (told.about?.folder === undefined) return told;
  const { folder: _, ...about } = told.about;
  return { ...told, about };
}

/** Which rule an answer would make is for whoever answers. */
function withoutRule<Asked extends object>(asked: Asked): Asked {
  if (!("pattern" in asked)) return asked;
  const { pattern: _, ...rest } = asked;
  return rest as Asked;
}

/** What it is called whose words they are; not where it was worked, on which machine, or what the project looked like. */
function labelsOnly({ agent }: ConversationState["labels"]): ConversationState["labels"] {
  return agent === undefined ? {} : { agent };
}
