import { type AssistantMessage, type Call, isEnded, type Message, shownOutput } from "../message.ts";
import type { Part } from "../part.ts";
import {
  type HistoryCall,
  type HistoryMessage,
  type HistoryPart,
  type HistoryResult,
  parsedInput,
} from "./history-message.ts";

/**
 * Returns the messages of a path as a history. Leaves out summaries, recalled memory, unreadable messages, and work
 * that a provider did itself. `turnOf` returns the newest run of a turn.
 * @example
 * const history = historyOf(pathTo(session.state, session.state.leaf), (run) => latestRun(session.state, run));
 */
export function historyOf(path: readonly Message[], turnOf: (run: string) => string): readonly HistoryMessage[] {
  return path.flatMap((message): readonly HistoryMessage[] => {
    const { role, id } = message;
    if (role === "summary" || message.unreadable !== undefined) return [];
    if (role === "user") {
      const parts = message.parts.filter((part) => !isEmpty(part));
      return parts.some((part) => part.type === "file" || part.text.trim() !== "") ? [{ role, id, parts }] : [];
    }
    const parts = responseParts(message);
    return parts.length === 0 ? [] : [{ role, id, turn: turnOf(message.run), parts }];
  });
}

function responseParts(message: AssistantMessage): readonly HistoryPart[] {
  const { finish, calls } = message;
  // A provider refuses its own data for a response that it has not finished.
  const isWhole = finish !== undefined && finish !== "interrupted" && finish !== "error";
  return message.parts.flatMap((part): readonly HistoryPart[] => {
    const provider = isWhole && "provider" in part && part.provider ? { provider: part.provider } : {};
    const { type } = part;
    if (type === "provider" || isEmpty(part)) return [];
    if (type === "text" || type === "reasoning") return [{ type, text: part.text, ...provider }];
    if (type !== "call") return [part];
    const call = calls.find(({ id }) => id === part.call);
    return call ? [{ ...historyCall(call), ...provider }] : [];
  });
}

function isEmpty(part: Part): boolean {
  // A client may have a part of the log without the bytes of its files.
  if (part.type === "file") return part.data === undefined && part.url === undefined;
  if (part.type === "text") return part.text === "";
  return part.type === "reasoning" && part.text.trim() === "" && part.provider === undefined;
}

function historyCall(call: Call): HistoryCall {
  const { modelOutput, ...shown } = call;
  const { id, tool, inputText, status, files = [] } = shown;
  const asked = { type: "call", id, tool, inputText, ...parsedInput(inputText) } as const;
  if (!isEnded(status)) return asked;
  const forModel = modelOutput === undefined ? {} : { modelOutput: shownOutput(call) };
  const output = shownOutput(shown);
  return {
    ...asked,
    result: { status: resultStatus(call), output, ...forModel, files: files.filter(({ data }) => data) },
  };
}

/** A denial by a rule is written as a failure, because its text has the reason. */
function resultStatus({ status, approved }: Call): HistoryResult["status"] {
  if (status === "completed") return status;
  return status === "denied" && approved === false ? "denied" : "failed";
}
