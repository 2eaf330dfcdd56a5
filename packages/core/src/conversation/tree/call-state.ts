import type { CallEnded, Event } from "../event.ts";
import type { Delta, FeedItem } from "../feed-item.ts";
import { type AssistantMessage, type Call, type CallStatus, isEnded } from "../message.ts";
import { toolNameOf } from "../offered-tool.ts";
import type { BroughtFile, Json, Part } from "../part.ts";
import type { ConversationState, Mutable, MutableState } from "../state.ts";
import { noteQuestions } from "./questions.ts";

/** The objects of a state that an item of the feed changed. See {@link reduce}. */
export interface Change {
  readonly message?: string;
  readonly call?: string;
  readonly run?: string;
  readonly input?: string;
  /** Reason why the item was skipped: from a newer version, or malformed. */
  readonly skipped?: string;
}

export type MutableAssistant = Mutable<Omit<AssistantMessage, "parts" | "calls">> & { parts: Part[]; calls: Call[] };

export function assistantOf(state: MutableState, id: string): MutableAssistant | undefined {
  const message = state.messages.get(id);
  return message?.role === "assistant" ? (message as unknown as MutableAssistant) : undefined;
}

/**
 * Returns a call. `message` is the message that contains the call; without it, the function first looks for that
 * message.
 * @example for (const id of session.state.calls.keys()) console.log(callIn(session.state, { call: id })?.status);
 */
export function callIn(
  { messages, calls }: Pick<ConversationState, "messages" | "calls">,
  { call, message = calls.get(call) ?? "" }: { readonly call: string; readonly message?: string },
): Call | undefined {
  const asking = messages.get(message);
  return asking?.role === "assistant" ? asking.calls.find(({ id }) => id === call) : undefined;
}

/**
 * Returns the tool name of a call for users. For an unknown call, returns the tool name in `item`.
 * @example for (const id of session.state.calls.keys()) console.log(toolIn(session.state, { call: id }));
 */
export function toolIn(
  state: Pick<ConversationState, "messages" | "calls">,
  item: { readonly call: string; readonly message?: string; readonly tool?: string },
): string {
  const call = callIn(state, item);
  return call ? toolNameOf(call) : (item.tool ?? "");
}

export type CallItem = (Event | Delta) & { readonly message: string; readonly call: string };

export function calledBy(state: MutableState, { message, call }: CallItem): Mutable<Call> | undefined {
  return assistantOf(state, message)?.calls.find((other) => other.id === call);
}

/**
 * Returns the message, id, tool and executed arguments of a call. Events that ask about the call or end it contain
 * them.
 */
export function callFields(
  message: string,
  { id, tool, input, executedInput = input }: Pick<Call, "id" | "tool" | "input" | "executedInput">,
): { readonly message: string; readonly call: string; readonly tool: string; readonly input?: Json } {
  return { message, call: id, tool, ...(executedInput !== undefined && { input: executedInput }) };
}

export function noteCall(state: MutableState, item: CallItem, note: Partial<Pick<Call, "drafts" | "changes">>): Change {
  const call = calledBy(state, item);
  if (!call) return skippedItem(item, "it names no call");
  Object.assign(call, note);
  return { message: item.message, call: item.call };
}

export function changeCall(
  state: MutableState,
  event: Event & { readonly message: string; readonly call: string },
  change: Partial<Call>,
): Change {
  const call = assistantOf(state, event.message)?.calls.find((other) => other.id === event.call);
  if (!call) return skippedItem(event, "it names no call");
  if (isEnded(call.status)) return skippedItem(event, `the call ${event.call} has its result`);
  Object.assign(call, change);
  return { message: event.message, call: event.call };
}

export function endCall(state: MutableState, event: Event & CallEnded<string>, status: CallStatus): Change {
  noteQuestions(state.questions, event);
  state.asked.delete(event.call);
  const files = event.files?.map((file): BroughtFile => {
    const data = state.files.get(file.digest);
    return { type: "file", ...file, ...(data !== undefined && { data }) };
  });
  const { output, modelOutput, seen, changedFiles, at: endedAt } = event;
  const forModel = modelOutput === undefined ? {} : { modelOutput };
  const found = { ...(seen && { seen }), ...(changedFiles !== undefined && { changedFiles }) };
  const ended = { status, output, ...forModel, progress: "", endedAt, ...found };
  return changeCall(state, event, files ? { ...ended, files } : ended);
}

/** Files from results that a state keeps: number and base 64 characters. One call returns fewer. */
const FILES_KEPT = 32;
const CHARACTERS_KEPT = 32 * 1024 * 1024;

/**
 * Keeps a stored text, or one of the last stored files. All readers of a log keep the same files, so that events can
 * refer to a file by its digest.
 */
export function storeContent(
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

export function skippedItem(item: FeedItem, why: string): Change {
  return { skipped: `${item.type}: ${why}` };
}

/** Records the start or the end of a process. The state keeps an ended process until the model knows of the end. */
export function noteProcess(
  state: MutableState,
  event: Extract<Event, { type: "process.started" | "process.ended" }>,
): Change {
  if (event.type === "process.started") {
    const { process: id, title, message, call, at: startedAt } = event;
    const known = state.processes.get(id);
    state.processes.set(id, known ? { ...known, title } : { id, title, message, call, startedAt });
    if (!known) state.processesBegun++;
    return { message, call };
  }
  const process = state.processes.get(event.process);
  if (!process || process.outcome !== undefined) return skippedItem(event, "it names no process that runs");
  if (event.known) state.processes.delete(process.id);
  else state.processes.set(process.id, { ...process, outcome: event.outcome });
  return { message: process.message, call: process.call };
}
