import { errorMessage } from "../error-message.ts";
import type { Event } from "../event.ts";
import { type Delta, type FeedItem, isDelta, isEvent } from "../feed-item.ts";
import { type Call, isEnded, type Message, newCall, type SummaryMessage, type UserMessage } from "../message.ts";
import type { Part } from "../part.ts";
import type { ConversationState, LiveRun, Mutable, MutableState } from "../state.ts";
import { addCost, addUsage, type Cost, type Usage } from "../usage.ts";
import {
  assistantOf,
  type Change,
  calledBy,
  changeCall,
  endCall,
  type MutableAssistant,
  noteCall,
  noteProcess,
  skippedItem,
  storeContent,
} from "./call-state.ts";
import { editInput, queueInput } from "./inbox.ts";
import { olderAbout } from "./older-about.ts";
import { checkState, parentKey, pathTo } from "./path.ts";
import { noteAnswer, noteQuestions } from "./questions.ts";
import { readableEvent } from "./readable-event.ts";
import { endRun, noteGoal, startRun } from "./runs.ts";

const PROGRESS_KEPT = 64 * 1024;

const NOTHING: Change = Object.freeze({});

/**
 * Applies one item of a feed to a state in place, and returns the changed objects. Deterministic, without recursion.
 * Never throws. Skips items that are unknown, repeated or not applicable, with the reason in `skipped`. If a checkpoint
 * repeats text, the state gets this text only once.
 * @example
 * const copy = emptyConversation();
 * for await (const item of agent.chat(say("Hello"))) reduce(copy, item);
 * console.log(copy.messages.size);
 */
export function reduce(state: ConversationState, item: FeedItem): Change {
  checkState("reduce", state);
  const target = state as MutableState;
  try {
    if (isEvent(item)) {
      if (item.seq <= target.seq) return { skipped: `${item.type}: event ${item.seq} was applied before` };
      target.seq = item.seq;
      target.epoch = item.epoch;
      return reduceEvent(target, readableEvent(item));
    }
    return isDelta(item) ? reduceDelta(target, item) : NOTHING;
  } catch (error) {
    // A damaged item, or one of another version, does not affect the rest of the log.
    return { skipped: `an item that cannot be read: ${errorMessage(error)}` };
  }
}

function reduceEvent(state: MutableState, event: Event): Change {
  switch (event.type) {
    case "conversation.created":
      state.id = event.id;
      state.labels = event.labels;
      state.createdAt = event.at;
      return NOTHING;
    case "conversation.brought-in":
      // The local user chooses the provider that gets the conversation.
      state.model = undefined;
      state.allowed = [];
      state.writtenElsewhere = new Set(state.calls.keys());
      return NOTHING;
    case "content.stored":
      return storeContent(state, event);
    case "title.changed":
      state.title = event.title;
      return NOTHING;
    case "model.changed":
      state.model = event.model;
      return NOTHING;
    case "rule.revoked":
      state.allowed = state.allowed.filter((pattern) => pattern !== event.pattern);
      return NOTHING;
    case "message.added": {
      const { message: id, parentId, at: createdAt, call, run, unreadable } = event;
      if (event.role === "user") {
        const { author = "user", parts, worktree } = event;
        const message: Mutable<UserMessage> = { id, parentId, createdAt, role: "user", author, parts };
        if (worktree !== undefined) message.worktree = worktree;
        if (unreadable !== undefined) message.unreadable = unreadable;
        return addMessage(state, message, { call, run });
      }
      const { usage, cost, shortened, kept, leftOut, state: known, note, compaction } = event;
      const { covers = shortened ? undefined : (parentId ?? "") } = event;
      const parts = event.parts.filter((part) => part.type === "text");
      const summary: Mutable<SummaryMessage> = { id, parentId, createdAt, role: "summary", parts };
      if (unreadable !== undefined) summary.unreadable = unreadable;
      if (covers !== undefined) summary.covers = covers;
      if (shortened !== undefined) summary.shortened = shortened;
      if (kept !== undefined) summary.kept = kept;
      if (leftOut !== undefined) summary.leftOut = leftOut;
      if (known !== undefined) summary.state = known;
      if (note !== undefined) summary.note = note;
      if (compaction !== undefined) summary.compaction = compaction;
      if (usage) {
        summary.usage = usage;
        if (cost !== undefined) summary.cost = cost;
        addToState(state, usage, cost);
      }
      return addMessage(state, summary, { call, run });
    }
    case "memory.recalled": {
      const message = state.messages.get(event.message);
      if (message?.role !== "user") return skippedItem(event, "it names no user message");
      state.messages.set(message.id, { ...message, recalled: event.items });
      return { message: message.id };
    }
    case "memory.dismissed": {
      const message = state.messages.get(event.message);
      const item = message?.role === "user" ? message.recalled?.[event.item] : undefined;
      if (message?.role !== "user" || !message.recalled || !item)
        return skippedItem(event, "it names nothing that was recalled");
      const { dismissed: _, ...plain } = item;
      const recalled = message.recalled.with(event.item, event.dismissed ? { ...plain, dismissed: true } : plain);
      state.messages.set(message.id, { ...message, recalled });
      state.dismissals++;
      return { message: message.id };
    }
    case "message.started": {
      const { message: id, parentId, at: createdAt, run, model } = event;
      return addMessage(
        state,
        { id, parentId, createdAt, role: "assistant", run, model, parts: [], calls: [] },
        { run },
      );
    }
    case "message.checkpoint": {
      const message = assistantOf(state, event.message);
      if (!message) return skippedItem(event, "it names no message of the model");
      for (const part of event.parts) extendPart(message, part.index, part.type, part.offset, part.text);
      return { message: message.id };
    }
    case "message.completed": {
      const message = assistantOf(state, event.message);
      if (!message) return skippedItem(event, "it names no message of the model");
      // Counts first, because counting throws for an event without usage, which then changes nothing.
      addToState(state, event.usage, event.cost);
      // Drops streamed calls that are not part of the completed response.
      const calls: Call[] = [];
      for (const part of event.parts) {
        if (part.type !== "call") continue;
        calls.push(message.calls.find(({ id }) => id === part.call) ?? newCall(part.call, ""));
      }
      for (const { id } of calls) state.calls.set(id, message.id);
      message.calls = calls;
      message.parts = event.parts as Part[];
      if (event.unreadable !== undefined) message.unreadable = event.unreadable;
      message.finish = event.finish;
      message.usage = event.usage;
      if (event.cost !== undefined) message.cost = event.cost;
      if (event.error !== undefined) message.error = event.error;
      if (event.cacheMiss !== undefined) message.cacheMiss = event.cacheMiss;
      return { message: message.id };
    }
    case "message.abandoned": {
      const message = assistantOf(state, event.message);
      if (!message) return skippedItem(event, "it names no message of the model");
      state.messages.delete(message.id);
      const siblings = state.children.get(message.parentId);
      siblings?.splice(siblings.lastIndexOf(message.id), 1);
      if (siblings?.length === 0) state.children.delete(message.parentId);
      if (state.leaf === message.id) state.leaf = message.parentId;
      const run = state.runs.get(message.run);
      if (run?.leaf === message.id) (run as Mutable<LiveRun>).leaf = message.parentId;
      if (event.usage) addToState(state, event.usage, event.cost);
      return { message: message.id };
    }
    case "call.pending": {
      const message = assistantOf(state, event.message);
      if (!message) return skippedItem(event, "it names no message of the model");
      state.calls.set(event.call, message.id);
      const call: Mutable<Call> = { ...newCall(event.call, event.tool), inputText: event.inputText };
      if (event.via !== undefined) call.via = event.via;
      if (event.input !== undefined) call.input = event.input;
      const about = event.about ?? olderAbout(event.tool, event.input);
      if (about !== undefined) call.about = about;
      const index = message.calls.findIndex((other) => other.id === event.call);
      if (index < 0) message.calls.push(call);
      else message.calls[index] = call;
      return { message: message.id, call: call.id };
    }
    case "call.approval-requested": {
      const change = changeCall(state, event, { status: "approval-requested" });
      if (!change.skipped) noteQuestions(state.questions, event);
      return change;
    }
    case "call.approval-resolved": {
      noteQuestions(state.questions, event);
      if (event.allowed && event.remember) state.allowed.push(event.remember.pattern);
      const input = event.input === undefined ? {} : { executedInput: event.input };
      return changeCall(state, event, { status: "pending", approved: event.allowed, ...input });
    }
    case "call.executing":
      return changeCall(state, event, {
        status: "executing",
        attempt: event.attempt,
        startedAt: event.at,
        progress: "",
        ...(event.about && { about: event.about }),
      });
    case "call.completed":
      return endCall(state, event, "completed");
    case "call.failed":
      return endCall(state, event, "failed");
    case "call.denied":
      return endCall(state, event, "denied");
    case "call.cancelled":
      return endCall(state, event, "cancelled");
    case "call.following": {
      const { call, message, run } = event;
      state.following.set(call, { call, message, run });
      return { message, call };
    }
    case "call.followed":
      state.following.delete(event.call);
      return noteCall(state, event, { drafts: undefined });
    case "file.changed": {
      const { path, kind, before, after, added, removed, diff, mode, formatter } = event;
      const more = { ...(mode && { mode }), ...(formatter !== undefined && { formatter }) };
      const change = { path, kind, before, after, added, removed, diff, ...more };
      return noteCall(state, event, { changes: [...(calledBy(state, event)?.changes ?? []), change] });
    }
    case "process.started":
    case "process.ended":
      return noteProcess(state, event);
    case "question.asked": {
      const { question, message, call, text } = event;
      noteQuestions(state.questions, event);
      if (event.survives) state.asked.set(call, [...(state.asked.get(call) ?? []), { question, text }]);
      return { message, call };
    }
    case "question.answered": {
      const question = state.questions.get(event.question);
      if (question?.type !== "text") return skippedItem(event, "it names no open question of a call");
      noteQuestions(state.questions, event);
      noteAnswer(state, question.call, event);
      return { message: question.message, call: question.call };
    }
    case "usage.counted":
      addToState(state, event.usage, event.cost);
      return NOTHING;
    case "run.started":
      return startRun(state, event);
    case "run.paused": {
      const run = state.runs.get(event.run);
      if (!run) return skippedItem(event, "it names no live run");
      noteQuestions(state.questions, event, run.leaf);
      return { run: run.id };
    }
    case "run.continued": {
      if (!noteQuestions(state.questions, event)) return skippedItem(event, "it names no open question");
      return { run: event.run };
    }
    case "goal.checked":
      return noteGoal(state, event);
    case "run.ended":
      return endRun(state, event);
    case "input.queued":
      return queueInput(state, event) ? { input: event.input } : skippedItem(event, "it waits already");
    case "input.edited":
      return editInput(state, event) ? { input: event.input } : skippedItem(event, "it names no input that waits");
    case "input.withdrawn":
    case "input.delivered": {
      const index = state.inbox.findIndex(({ id }) => id === event.input);
      if (index < 0) return skippedItem(event, "it names no input that waits");
      state.inbox.splice(index, 1);
      return { input: event.input };
    }
    case "message.labelled":
      return mark(state, event, { label: event.label ?? undefined });
    case "message.starred":
      return mark(state, event, { starred: event.starred });
    case "message.removed": {
      const message = state.messages.get(event.message);
      if (message && !message.removed) state.removals++;
      if (message && pathTo(state, state.leaf).includes(message)) state.leaf = message.parentId;
      return mark(state, event, { removed: true });
    }
    case "message.restored":
      if (state.messages.get(event.message)?.removed) state.removals--;
      return mark(state, event, { removed: false });
    default:
      return skippedItem(event satisfies never, "this version does not know its type");
  }
}

function reduceDelta(state: MutableState, delta: Delta): Change {
  const message = assistantOf(state, delta.message);
  if (!message) return skippedItem(delta, "it names no message of the model");
  switch (delta.type) {
    case "text.delta":
    case "reasoning.delta": {
      if (message.finish !== undefined) return skippedItem(delta, "its message is complete");
      const kind = delta.type === "text.delta" ? "text" : "reasoning";
      extendPart(message, delta.part, kind, delta.begins ?? -1, delta.text);
      return { message: message.id };
    }
    case "call.input.delta": {
      if (message.finish !== undefined) return skippedItem(delta, "its message is complete");
      let index = message.calls.findIndex((call) => call.id === delta.call);
      if (index < 0) {
        index = message.calls.push(newCall(delta.call, delta.tool)) - 1;
        putPart(message, delta.part, { type: "call", call: delta.call });
      }
      const call = message.calls[index] as Mutable<Call>;
      call.inputText += delta.text;
      return { message: message.id, call: delta.call };
    }
    case "call.output.delta": {
      const call = message.calls.find((other) => other.id === delta.call) as Mutable<Call> | undefined;
      if (!call || isEnded(call.status)) return skippedItem(delta, "its call is not running");
      const progress = call.progress + delta.text;
      call.progress = progress.length > 2 * PROGRESS_KEPT ? progress.slice(-PROGRESS_KEPT) : progress;
      return { message: message.id, call: delta.call };
    }
    case "call.draft.delta": {
      if (!state.following.has(delta.call)) return skippedItem(delta, "its call does not listen");
      const { draft: index, path, start, end, problems } = delta;
      const drafts = [...(calledBy(state, delta)?.drafts ?? [])];
      const place = drafts.findIndex((draft) => draft.index === index);
      const text = (drafts[place]?.text ?? "") + delta.text;
      const lines = start === undefined || end === undefined ? {} : { start, end };
      const draft = { ...drafts[place], index, path, ...lines, text, ...(problems && { problems }) };
      drafts[place < 0 ? drafts.length : place] = draft;
      return noteCall(state, delta, { drafts });
    }
    default:
      return skippedItem(delta satisfies never, "this version does not know its type");
  }
}

/** A message below that of a sub-agent belongs to the same sub-agent. The leaf of the writing run moves to it. */
function addMessage(
  state: MutableState,
  message: Mutable<Message>,
  by: { readonly call?: string | undefined; readonly run?: string | undefined },
): Change {
  const { id, parentId } = message;
  if (state.messages.has(id)) return { skipped: `message ${id} is there already` };
  const call = by.call ?? (parentId === null ? undefined : state.messages.get(parentId)?.call);
  if (call !== undefined) message.call = call;
  state.messages.set(id, message);
  const place = parentKey(message);
  const siblings = state.children.get(place);
  if (siblings) siblings.push(id);
  else state.children.set(place, [id]);
  // The conversation continues on the user's branch, whatever sub-agents write meanwhile.
  if (call === undefined) state.leaf = id;
  const run = by.run === undefined ? undefined : state.runs.get(by.run);
  if (run) (run as Mutable<LiveRun>).leaf = id;
  return { message: id };
}

/** Unknown earlier parts are empty until the message completes, so that there is no hole. */
function putPart(message: MutableAssistant, index: number, part: Part): void {
  while (message.parts.length < index) message.parts.push({ type: "text", text: "" });
  message.parts[index] = part;
}

/** Adds text to a streaming part, without the text that is there already. `offset` -1: all text is new. */
function extendPart(
  message: MutableAssistant,
  index: number,
  type: "text" | "reasoning",
  offset: number,
  text: string,
): void {
  const part = message.parts[index];
  if (part === undefined) putPart(message, index, { type, text });
  else if (part.type === type) {
    const fresh = offset < 0 ? text : text.slice(Math.max(0, part.text.length - offset));
    (part as Mutable<typeof part>).text += fresh;
  } else if (offset >= 0) message.parts[index] = { type, text };
}

function mark(
  state: MutableState,
  event: Event & { readonly message: string },
  marks: Partial<Pick<Message, "label" | "starred" | "removed">>,
): Change {
  const message = state.messages.get(event.message);
  if (!message) return skippedItem(event, "it names no message");
  Object.assign(message, marks);
  return { message: message.id };
}

function addToState(state: MutableState, usage: Usage, cost: Cost): void {
  Object.assign(state, { usage: addUsage(state.usage, usage), cost: addCost(state.cost, cost) });
}
