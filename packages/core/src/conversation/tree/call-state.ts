import type { CallEnded, Event } from "../event.ts";
import type { Delta, FeedItem } from "../feed-item.ts";
import {
  type AssistantMessage,
  type BroughtFile,
  type Call,
  type CallStatus,
  isEnded,
  type Json,
  type Part,
} from "../message.ts";
import { toolOf } from "../offered-tool.ts";
import type { ConversationState, Mutable, MutableState } from "../state.ts";
import { noteQuestions } from "./questions.ts";

/** What one item changed, so that a view can follow without comparing. */
export interface Change {
  readonly message?: string;
  readonly call?: string;
  readonly run?: string;
  readonly input?: string;
  /** Why the item was passed over: of a newer version, or malformed. */
  readonly skipped?: string;
}

/** A response as the owner of a state may change it. */
export type MutableAssistant = Mutable<Omit<AssistantMessage, "parts" | "calls">> & { parts: Part[]; calls: Call[] };

/** The response of this id. */
export function assistantOf(state: MutableState, id: string): MutableAssistant | undefined {
  const message = state.messages.get(id);
  return message?.role === "assistant" ? (message as unknown as MutableAssistant) : undefined;
}

/** A call as it stands, in the message that is named, else in the one that its conversation knows it of. */
export function callIn(
  { messages, calls }: Pick<ConversationState, "messages" | "calls">,
  { call, message = calls.get(call) ?? "" }: { readonly call: string; readonly message?: string },
): Call | undefined {
  const asking = messages.get(message);
  return asking?.role === "assistant" ? asking.calls.find(({ id }) => id === call) : undefined;
}

/** The name for users of the tool of a call, by the call or, where the conversation has none, by the item about it. */
export function toolIn(
  state: Pick<ConversationState, "messages" | "calls">,
  item: { readonly call: string; readonly message?: string; readonly tool?: string },
): string {
  const call = callIn(state, item);
  return call ? toolOf(call) : (item.tool ?? "");
}

/** An item that speaks of a call. */
export type OfCall = (Event | Delta) & { readonly message: string; readonly call: string };

/** The call that an item speaks of. */
export function callOf(state: MutableState, { message, call }: OfCall): Mutable<Call> | undefined {
  return assistantOf(state, message)?.calls.find((other) => other.id === call);
}

/** What an event that asks about a call, or ends it, says of it: whoever hears it needs no map of calls. */
export function sayingCall(
  message: string,
  { id, tool, input, executedInput = input }: Pick<Call, "id" | "tool" | "input" | "executedInput">,
): { readonly message: string; readonly call: string; readonly tool: string; readonly input?: Json } {
  return { message, call: id, tool, ...(executedInput !== undefined && { input: executedInput }) };
}

/** Notes something on a call that may have its result: what it does after that is not part of the result. */
export function noteCall(state: MutableState, item: OfCall, note: Partial<Pick<Call, "drafts" | "changes">>): Change {
  const call = callOf(state, item);
  if (!call) return skipped(item, "it names no call");
  Object.assign(call, note);
  return { message: item.message, call: item.call };
}

/** Changes a call that has no result yet. */
export function changeCall(
  state: MutableState,
  event: Event & { readonly message: string; readonly call: string },
  change: Partial<Call>,
): Change {
  const call = assistantOf(state, event.message)?.calls.find((other) => other.id === event.call);
  if (!call) return skipped(event, "it names no call");
  if (isEnded(call.status)) return skipped(event, `the call ${event.call} has its result`);
  Object.assign(call, change);
  return { message: event.message, call: event.call };
}

/** Gives a call its result, once. */
export function endCall(state: MutableState, event: Event & CallEnded<string>, status: CallStatus): Change {
  noteQuestions(state.questions, event);
  state.asked.delete(event.call);
  const files = event.files?.map((file): BroughtFile => {
    const data = state.files.get(file.digest);
    return { type: "file", ...file, ...(data !== undefined && { data }) };
  });
  const { output, seen, at: endedAt } = event;
  const ended = { status, output, progress: "", endedAt, ...(seen && { seen }) };
  return changeCall(state, event, files ? { ...ended, files } : ended);
}

/** Files of results that a state keeps by their digest, and characters of base 64 in them: more than one call may bring. */
const FILES_KEPT = 32;
const CHARACTERS_KEPT = 32 * 1024 * 1024;

/** Keeps a text; of files the last ones, which are the same wherever the log is read: what is stored may be named again. */
export function keepContent(
  { contents, files }: MutableState,
  { digest, text, mediaType }: Extract<Event, { type: "content.stored" }>,
): Change {
  if (mediaType === undefined) {
    contents.set(digest, text);
    return {};
  }
  files.delete(digest);
  files.set(digest, text);
  let size = files.values().reduce((sum, { length }) => sum + length, 0);
  for (const [oldest, { length }] of files) {
    if (files.size <= FILES_KEPT && size <= CHARACTERS_KEPT) break;
    files.delete(oldest);
    size -= length;
  }
  return {};
}

/** Says that an item was passed over, and why. */
export function skipped(item: FeedItem, why: string): Change {
  return { skipped: `${item.type}: ${why}` };
}

/** What a call began stays, or has ended: then it is kept until the model was told. */
export function noteProcess(
  state: MutableState,
  event: Extract<Event, { type: "process.started" | "process.ended" }>,
): Change {
  if (event.type === "process.started") {
    const { process: id, title, message, call, at: startedAt } = event;
    state.processes.set(id, { id, title, message, call, startedAt });
    state.processesBegun++;
    return { message, call };
  }
  const process = state.processes.get(event.process);
  if (!process || process.outcome !== undefined) return skipped(event, "it names no process that runs");
  if (event.known) state.processes.delete(process.id);
  else state.processes.set(process.id, { ...process, outcome: event.outcome });
  return { message: process.message, call: process.call };
}
