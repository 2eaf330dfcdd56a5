import { storedFiles } from "../conversation/brought-file.ts";
import type { EventBody } from "../conversation/event.ts";
import type { HistoryCall, HistoryResponse } from "../conversation/forms/history-message.ts";
import { historyOf } from "../conversation/forms/history-of.ts";
import { readHistory } from "../conversation/forms/read-history.ts";
import { type MessageForms, writeHistory } from "../conversation/forms/write-history.ts";
import { createId } from "../conversation/id.ts";
import type { Message } from "../conversation/message.ts";
import type { ConversationState } from "../conversation/state.ts";
import { latestRun } from "../conversation/tree/asking-run.ts";
import { noUsage } from "../conversation/usage.ts";
import { textDigest } from "../ports/runtime.ts";

export type { MessageForms };

/** Returns a path of a conversation as messages of a form. Throws `OptionError` for an unknown form. */
export function messagesOf<Form extends keyof MessageForms>(
  state: ConversationState,
  path: readonly Message[],
  form: Form,
): MessageForms[Form][] {
  return writeHistory(
    form,
    historyOf(path, (run) => latestRun(state, run)),
  );
}

/** The agent and the model of responses that another program got. */
const AGENT = "history";
const MODEL = "history/unknown";

const NO_RESULT = "(The history has no result of this call. The call may have taken effect.)";

/**
 * Returns the events that add a history below `at`, and the last new message, which gets the id `last`. Throws
 * `DirectiveError`.
 */
export function historyEvents(
  state: ConversationState,
  messages: readonly object[],
  at: string | null,
  last = createId(),
): { readonly events: readonly EventBody[]; readonly leaf: string | null } {
  const events: EventBody[] = [];
  const known = new Map(state.files);
  const calls = new Set(state.calls.keys());
  let parentId = at;
  let run: string | undefined;
  const endRun = () => {
    if (run !== undefined) events.push({ type: "run.ended", run, reason: "answered", leaf: parentId });
    run = undefined;
  };
  const histories = readHistory(messages);
  for (const [index, history] of histories.entries()) {
    const message = index === histories.length - 1 ? last : createId();
    if (history.role === "user") {
      endRun();
      const { parts } = history;
      events.push({ type: "message.added", message, parentId, role: "user", author: "user", parts });
    } else {
      if (run === undefined) {
        run = createId();
        events.push(runStarted(run, parentId));
      }
      events.push({ type: "message.started", message, parentId, run, model: MODEL });
      events.push(...responseEvents(message, history.parts, calls, known));
    }
    parentId = message;
  }
  endRun();
  return { events, leaf: parentId };
}

function runStarted(run: string, leaf: string | null): EventBody {
  const unknown = { settings: {}, limits: {}, instructions: "", tools: "" };
  return { type: "run.started", run, agent: AGENT, model: MODEL, mode: "chat", ...unknown, leaf };
}

function responseEvents(
  message: string,
  given: HistoryResponse["parts"],
  known: Set<string>,
  files: Map<string, string>,
): readonly EventBody[] {
  const calls: { readonly call: string; readonly of: HistoryCall }[] = [];
  const parts = given.map((part) => {
    if (part.type !== "call") return part;
    // Another history, or an earlier response of this history, may have a call with the same id.
    const call = known.has(part.id) || part.id.length > LONGEST_CALL_ID ? createId() : part.id;
    known.add(call);
    calls.push({ call, of: part });
    return { type: "call" as const, call };
  });
  const pending = calls.map(({ call, of: { tool, inputText, input } }): EventBody => {
    return { type: "call.pending", message, call, tool, inputText, ...(input !== undefined && { input }) };
  });
  const finish = calls.length > 0 ? "calls" : "stop";
  const completed: EventBody = { type: "message.completed", message, parts, finish, usage: noUsage, cost: 0 };
  return [...pending, completed, ...calls.flatMap(({ call, of }) => endEvents({ message, call }, of, files))];
}

const LONGEST_CALL_ID = 512;

function endEvents(
  place: { readonly message: string; readonly call: string },
  { tool, input, result }: HistoryCall,
  files: Map<string, string>,
): readonly EventBody[] {
  const call = { ...place, tool, ...(input !== undefined && { input }) };
  if (!result) return [{ type: "call.cancelled", ...call, output: NO_RESULT }];
  const { stored, named } = storedFiles(result.files, files, textDigest);
  for (const { digest } of named) files.set(digest, "");
  const executing: EventBody = { type: "call.executing", ...place, tool, attempt: 1, key: place.call };
  return [
    ...(result.status === "denied" ? [] : [executing]),
    ...stored,
    { type: `call.${result.status}`, ...call, output: result.output, ...(named.length > 0 && { files: named }) },
  ];
}
