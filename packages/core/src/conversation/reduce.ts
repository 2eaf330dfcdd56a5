import { type Delta, type Event, type FeedItem, isDelta, isEvent, type RunEnd } from "./event.ts";
import {
  type AssistantMessage,
  type Call,
  type CallStatus,
  isEnded,
  type Message,
  newCall,
  type Part,
} from "./message.ts";
import { pathTo } from "./path.ts";
import type { ApprovalQuestion, ConversationState, LiveRun, Mutable, MutableState, WaitingInput } from "./state.ts";
import { addCost, addUsage } from "./usage.ts";

/** What one item changed, so that a view can follow without comparing. */
export interface Change {
  readonly message?: string;
  readonly call?: string;
  readonly run?: string;
  readonly input?: string;
  /** Why the item was passed over: of a newer version, or malformed. */
  readonly skipped?: string;
}

type MutableAnswer = Mutable<Omit<AssistantMessage, "parts" | "calls">> & { parts: Part[]; calls: Call[] };

/** The characters of a running call's output that a state keeps. */
const PROGRESS_KEPT = 64 * 1024;

const NOTHING: Change = Object.freeze({});

/**
 * Applies one item of a feed to a state, in place, and says what changed. Deterministic, without recursion, and total:
 * it never throws; what it does not know, has applied before or cannot apply is passed over, and `skipped` says why. Text
 * that a checkpoint repeats is taken once.
 */
export function reduce(state: ConversationState, item: FeedItem): Change {
  const target = state as MutableState;
  try {
    if (isEvent(item)) {
      if (item.seq <= target.seq) return { skipped: `${item.type}: event ${item.seq} was applied before` };
      target.seq = item.seq;
      target.epoch = item.epoch;
      return reduceEvent(target, item);
    }
    return isDelta(item) ? reduceDelta(target, item) : NOTHING;
  } catch (error) {
    // Written by another version, or damaged: the rest of the log counts all the same.
    return { skipped: `an item that cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function reduceEvent(state: MutableState, event: Event): Change {
  switch (event.type) {
    case "conversation.created":
      state.id = event.id;
      state.labels = event.labels;
      state.createdAt = event.at;
      return NOTHING;
    case "content.stored":
      state.contents.set(event.digest, event.text);
      return NOTHING;
    case "title.changed":
      state.title = event.title;
      return NOTHING;
    case "model.changed":
      state.model = event.model;
      return NOTHING;
    case "message.added": {
      const base = { id: event.message, parentId: event.parentId, createdAt: event.at };
      const message: Message =
        event.role === "summary"
          ? {
              ...base,
              role: "summary",
              parts: event.parts.filter((part) => part.type === "text"),
              covers: event.covers ?? event.parentId ?? "",
            }
          : { ...base, role: "user", author: event.author ?? "user", parts: event.parts };
      return addMessage(state, message);
    }
    case "memory.recalled": {
      const message = state.messages.get(event.message);
      if (message?.role !== "user") return skipped(event, "it names no user message");
      state.messages.set(message.id, { ...message, recalled: event.items });
      return { message: message.id };
    }
    case "message.started":
      return addMessage(state, {
        id: event.message,
        parentId: event.parentId,
        createdAt: event.at,
        role: "assistant",
        run: event.run,
        model: event.model,
        parts: [],
        calls: [],
      });
    case "message.checkpoint": {
      const message = answer(state, event.message);
      if (!message) return skipped(event, "it names no answer");
      for (const part of event.parts) extendPart(message, part.index, part.type, part.offset, part.text);
      return { message: message.id };
    }
    case "message.completed": {
      const message = answer(state, event.message);
      if (!message) return skipped(event, "it names no answer");
      // Calls that were only streamed and are not part of the answer as it stands go.
      const asked = event.parts.flatMap((part) => (part.type === "call" ? [part.call] : []));
      message.calls = asked.map((id) => message.calls.find((call) => call.id === id) ?? newCall(id, ""));
      for (const id of asked) state.calls.set(id, message.id);
      message.parts = event.parts as Part[];
      message.finish = event.finish;
      message.usage = event.usage;
      if (event.cost !== undefined) message.cost = event.cost;
      if (event.error !== undefined) message.error = event.error;
      state.usage = addUsage(state.usage, event.usage);
      state.cost = addCost(state.cost, event.cost);
      return { message: message.id };
    }
    case "message.abandoned": {
      const message = answer(state, event.message);
      if (!message) return skipped(event, "it names no answer");
      state.messages.delete(message.id);
      const siblings = state.children.get(message.parentId);
      siblings?.splice(siblings.lastIndexOf(message.id), 1);
      if (siblings?.length === 0) state.children.delete(message.parentId);
      moveLeaf(state, message.run, message.parentId, message.id);
      if (event.usage) {
        state.usage = addUsage(state.usage, event.usage);
        state.cost = addCost(state.cost, event.cost);
      }
      return { message: message.id };
    }
    case "call.pending": {
      const message = answer(state, event.message);
      if (!message) return skipped(event, "it names no answer");
      state.calls.set(event.call, message.id);
      const call: Call = { ...newCall(event.call, event.tool), inputText: event.inputText };
      if (event.input !== undefined) (call as Mutable<Call>).input = event.input;
      const index = message.calls.findIndex((other) => other.id === event.call);
      if (index < 0) message.calls.push(call);
      else message.calls[index] = call;
      return { message: message.id, call: call.id };
    }
    case "call.approval-requested": {
      const change = changeCall(state, event, { status: "approval-requested" });
      if (change.skipped) return change;
      closeQuestions(state, event.call);
      const question: Mutable<ApprovalQuestion> = { id: event.question, message: event.message, call: event.call };
      if (event.pattern !== undefined) question.pattern = event.pattern;
      state.questions.set(event.question, question);
      return change;
    }
    case "call.approval-resolved": {
      state.questions.delete(event.question);
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
      });
    case "call.completed":
      return endCall(state, event, "completed");
    case "call.failed":
      return endCall(state, event, "failed");
    case "call.denied":
      return endCall(state, event, "denied");
    case "call.cancelled":
      return endCall(state, event, "cancelled");
    case "run.started":
      state.runs.set(event.run, {
        id: event.run,
        agent: event.agent,
        mode: event.mode,
        startedAt: event.at,
        leaf: event.leaf,
      });
      return { run: event.run };
    case "run.paused": {
      const run = state.runs.get(event.run);
      if (!run) return skipped(event, "it names no live run");
      state.runs.set(run.id, { ...run, pausedBy: event.question });
      return { run: run.id };
    }
    case "run.continued": {
      const run = state.runs.get(event.run);
      if (!run) return skipped(event, "it names no live run");
      const { pausedBy: _, ...rest } = run;
      state.runs.set(run.id, rest);
      return { run: run.id };
    }
    case "run.ended":
      state.runs.delete(event.run);
      state.lastRunEnd = event.reason;
      if (state.inbox.length > 0) holdInputs(state, event.run, event.reason);
      return { run: event.run };
    case "input.queued": {
      const { input: id, parts, delivery, run } = event;
      if (state.inbox.some((other) => other.id === id)) return skipped(event, `input ${id} is there already`);
      state.inbox.push({ id, parts, delivery, run, held: run === null });
      return { input: id };
    }
    case "input.edited":
      return editInput(state, event);
    case "input.withdrawn":
    case "input.delivered": {
      const index = state.inbox.findIndex(({ id }) => id === event.input);
      if (index < 0) return skipped(event, "it names no input that waits");
      state.inbox.splice(index, 1);
      return { input: event.input };
    }
    case "message.labelled":
      return mark(state, event, { label: event.label ?? undefined });
    case "message.starred":
      return mark(state, event, { starred: event.starred });
    case "message.removed": {
      const message = state.messages.get(event.message);
      if (message && pathTo(state, state.leaf).includes(message)) state.leaf = message.parentId;
      return mark(state, event, { removed: true });
    }
    case "message.restored":
      return mark(state, event, { removed: false });
    default:
      return skipped(event, "this version does not know its type");
  }
}

function reduceDelta(state: MutableState, delta: Delta): Change {
  const message = answer(state, delta.message);
  if (!message) return skipped(delta, "it names no answer");
  switch (delta.type) {
    case "text.delta":
    case "reasoning.delta":
      if (message.finish !== undefined) return skipped(delta, "its message is complete");
      extendPart(message, delta.part, delta.type === "text.delta" ? "text" : "reasoning", -1, delta.text);
      return { message: message.id };
    case "call.input.delta": {
      if (message.finish !== undefined) return skipped(delta, "its message is complete");
      let index = message.calls.findIndex((call) => call.id === delta.call);
      if (index < 0) {
        index = message.calls.push(newCall(delta.call, delta.tool)) - 1;
        message.parts[delta.part] = { type: "call", call: delta.call };
      }
      const call = message.calls[index] as Mutable<Call>;
      call.inputText += delta.text;
      return { message: message.id, call: delta.call };
    }
    case "call.output.delta": {
      const call = message.calls.find((other) => other.id === delta.call) as Mutable<Call> | undefined;
      if (!call || isEnded(call.status)) return skipped(delta, "its call is not running");
      const progress = call.progress + delta.text;
      call.progress = progress.length > 2 * PROGRESS_KEPT ? progress.slice(-PROGRESS_KEPT) : progress;
      return { message: message.id, call: delta.call };
    }
    default:
      return skipped(delta, "this version does not know its type");
  }
}

function answer(state: MutableState, id: string): MutableAnswer | undefined {
  const message = state.messages.get(id);
  return message?.role === "assistant" ? (message as unknown as MutableAnswer) : undefined;
}

function addMessage(state: MutableState, message: Message): Change {
  if (state.messages.has(message.id)) return { skipped: `message ${message.id} is there already` };
  state.messages.set(message.id, message);
  const siblings = state.children.get(message.parentId);
  if (siblings) siblings.push(message.id);
  else state.children.set(message.parentId, [message.id]);
  moveLeaf(state, message.role === "assistant" ? message.run : undefined, message.id);
  return { message: message.id };
}

/** Moves the ends of the conversation and of a run to `leaf`; with `from`, only those that stand there. */
function moveLeaf(state: MutableState, runId: string | undefined, leaf: string | null, from?: string): void {
  if (from === undefined || state.leaf === from) state.leaf = leaf;
  const run = runId === undefined ? undefined : state.runs.get(runId);
  if (run && (from === undefined || run.leaf === from)) (run as Mutable<LiveRun>).leaf = leaf;
}

/** Adds text to a part that streams; text up to `offset` that is there already is passed over (-1: always new). */
function extendPart(
  message: MutableAnswer,
  index: number,
  type: "text" | "reasoning",
  offset: number,
  text: string,
): void {
  const part = message.parts[index];
  if (part === undefined) {
    // A checkpoint names text only; calls between its parts are known when the message completes.
    while (message.parts.length < index) message.parts.push({ type: "text", text: "" });
    message.parts[index] = { type, text };
  } else if (part.type === type) {
    const fresh = offset < 0 ? text : text.slice(Math.max(0, part.text.length - offset));
    (part as Mutable<typeof part>).text += fresh;
  } else if (offset >= 0) {
    message.parts[index] = { type, text };
  }
}

function closeQuestions(state: MutableState, call: string): void {
  for (const question of state.questions.values()) if (question.call === call) state.questions.delete(question.id);
}

/** What waited for a run that was stopped or failed waits for a person from now on, unless it is what stopped it. */
function holdInputs(state: MutableState, run: string, reason: RunEnd): void {
  if (reason !== "interrupted" && reason !== "failed") return;
  state.inbox = state.inbox.map((input) => {
    const goesOn = input.delivery === "interrupt" && reason === "interrupted";
    return input.run === run && !goesOn ? { ...input, held: true } : input;
  });
}

function editInput(state: MutableState, event: Extract<Event, { type: "input.edited" }>): Change {
  const index = state.inbox.findIndex(({ id }) => id === event.input);
  const input = state.inbox[index];
  if (!input) return skipped(event, "it names no input that waits");
  const { parts = input.parts, delivery = input.delivery, run = input.run, before } = event;
  const edited: WaitingInput = { ...input, parts, delivery, run, held: event.run === undefined && input.held };
  if (before === undefined) {
    state.inbox[index] = edited;
  } else {
    state.inbox.splice(index, 1);
    const place = before === null ? -1 : state.inbox.findIndex(({ id }) => id === before);
    state.inbox.splice(place < 0 ? state.inbox.length : place, 0, edited);
  }
  return { input: input.id };
}

/** Notes of people on a message; its content stays as it is. */
function mark(
  state: MutableState,
  event: Event & { readonly message: string },
  marks: Partial<Pick<Message, "label" | "starred" | "removed">>,
): Change {
  const message = state.messages.get(event.message);
  if (!message) return skipped(event, "it names no message");
  Object.assign(message, marks);
  return { message: message.id };
}

function changeCall(
  state: MutableState,
  event: Event & { readonly message: string; readonly call: string },
  change: Partial<Call>,
): Change {
  const call = answer(state, event.message)?.calls.find((other) => other.id === event.call);
  if (!call) return skipped(event, "it names no call");
  if (isEnded(call.status)) return skipped(event, `the call ${event.call} has its result`);
  Object.assign(call, change);
  return { message: event.message, call: event.call };
}

function endCall(
  state: MutableState,
  event: Event & { readonly message: string; readonly call: string; readonly output: string },
  status: CallStatus,
): Change {
  closeQuestions(state, event.call);
  return changeCall(state, event, { status, output: event.output, progress: "", endedAt: event.at });
}

function skipped(item: FeedItem, why: string): Change {
  return { skipped: `${item.type}: ${why}` };
}
