import { openRun, readableParts } from "@banyan/client/display";
import {
  type AiSdkUiMessage,
  type ConversationState,
  historyOf,
  isUserMessage,
  latestRun,
  type Message,
  pathTo,
  writeHistory,
} from "@banyan/core/conversation";

/**
 * Returns the current branch as UI messages, with changed files as `data-file` parts. Leaves out a turn that works or
 * waits, because the stream sends this turn.
 */
export function uiHistory(state: ConversationState): object[] {
  const path = endedPath(state);
  const calls = new Map(
    path.flatMap((each) => (each.role === "assistant" ? each.calls.map((call) => [call.id, call] as const) : [])),
  );
  const withFiles = (part: AiSdkUiMessage["parts"][number]): object[] => {
    if (part.type !== "dynamic-tool") return [part];
    const { changes = [] } = calls.get(part.toolCallId) ?? {};
    const files = changes.map(({ path: file, kind, added, removed, diff }) => {
      return { type: "data-file", id: `${part.toolCallId}:${file}`, data: { path: file, kind, added, removed, diff } };
    });
    return [part, ...files];
  };
  const messages = writeHistory(
    "ai-sdk-ui",
    historyOf(path, (run) => latestRun(state, run)),
  );
  return messages.map((message) => ({ ...message, parts: message.parts.flatMap(withFiles) }));
}

/** The responses of ended turns, and the messages of users, on the current branch. */
function endedPath(state: ConversationState): readonly Message[] {
  const shown: Message[] = [];
  /** The last message of the open turn, while the path is in this turn. */
  let open: string | null | undefined;
  for (const each of pathTo(state, state.leaf)) {
    if (each.role === "assistant") open = openRun(state, each.run)?.leaf;
    if (open === undefined && each.role === "assistant") shown.push(each);
    if (open === undefined && isUserMessage(each)) {
      const { unreadable: _, ...message } = each;
      shown.push({ ...message, parts: readableParts(each) });
    }
    if (each.id === open) open = undefined;
  }
  return shown;
}
