import { isSameTurn, readableParts } from "@banyan/client/display";
import {
  type AssistantMessage,
  type ConversationState,
  describeUnreadable,
  isEnded,
  isUserMessage,
  type Message,
  type Part,
  pathTo,
  type UserPart,
} from "@banyan/core/conversation";
import type { AgUiMessage, AgUiPart, AgUiPatch } from "./event.ts";

/**
 * Returns the AG-UI id of a message part. The first text and the calls have the message's id. Other parts have this id
 * with their index.
 */
export function partId(message: string, part: number, isFirstText: boolean): string {
  return isFirstText ? message : `${message}.${part}`;
}

/**
 * Returns the id of our message for an AG-UI message id. An AG-UI id can stand for the message, one of its parts, or a
 * result of its calls.
 */
export function ownMessageId(state: ConversationState, id: string): string | undefined {
  const own = id.replace(/\.\d+$/, "");
  if (state.messages.has(own)) return own;
  return id.endsWith(RESULT) ? state.calls.get(id.slice(0, -RESULT.length)) : undefined;
}

/** Returns whether an AG-UI message belongs to a response in the turn of a run. */
export function isOfRun(state: ConversationState, id: string, run: string): boolean {
  const message = state.messages.get(ownMessageId(state, id) ?? "");
  return message?.role === "assistant" && isSameTurn(state, message.run, run);
}

const RESULT = ".result";

/** Returns the branch down to a message in the form of AG-UI. Leaves out responses of the run `without`. */
export function agUiHistory(state: ConversationState, leaf: string | null, without?: string): AgUiMessage[] {
  const path = leaf === null ? [] : pathTo(state, leaf);
  const isLeftOut = (each: Message) =>
    without !== undefined && each.role === "assistant" && isSameTurn(state, each.run, without);
  return path.filter((each) => !isLeftOut(each)).flatMap(agUiMessages);
}

/** Returns these messages in the form of AG-UI, each with the run of its sub-agent, if any. */
export function messagesNamed(state: ConversationState, named: ReadonlyMap<string, string | undefined>): object[] {
  return [...named].flatMap(([id, by]) => {
    const message = state.messages.get(id);
    return (message ? agUiMessages(message) : []).map((each) =>
      by === undefined ? each : { ...each, subagentRunId: by },
    );
  });
}

function agUiMessages(message: Message): AgUiMessage[] {
  // Texts of tools and of the engine are for the model only.
  if (isUserMessage(message)) return [{ id: message.id, role: "user", content: agUiContent(readableParts(message)) }];
  if (message.role !== "assistant") return [];
  const unreadable = describeUnreadable(message);
  return unreadable === undefined
    ? responseMessages(message)
    : [{ id: message.id, role: "assistant", content: unreadable }];
}

function responseMessages({ id, parts, calls }: AssistantMessage): AgUiMessage[] {
  const firstText = parts.findIndex(({ type }) => type === "text");
  const callMessages = calls.map(({ id: call, tool, inputText }) => ({
    id: call,
    type: "function" as const,
    function: { name: tool, arguments: inputText },
  }));
  const toolCalls = callMessages.length === 0 ? {} : { toolCalls: callMessages };
  const said = parts.flatMap((part, index): AgUiMessage[] => {
    if (part.type === "reasoning" && part.text !== "")
      return [{ id: partId(id, index, false), role: "reasoning", content: part.text }];
    if (part.type !== "text") return [];
    const isFirst = index === firstText;
    return [{ id: partId(id, index, isFirst), role: "assistant", content: part.text, ...(isFirst ? toolCalls : {}) }];
  });
  if (firstText < 0 && callMessages.length > 0) said.push({ id, role: "assistant", ...toolCalls });
  const results = calls
    .filter(({ status }) => isEnded(status))
    .map(({ id: call, output = "" }): AgUiMessage => agUiToolResult(call, output));
  return [...said, ...results];
}

/** Converts the result of a call to a message of AG-UI. */
export function agUiToolResult(toolCallId: string, content: string) {
  return { id: `${toolCallId}${RESULT}`, role: "tool" as const, toolCallId, content };
}

/** Converts the content of a user message to the form of AG-UI; plain text if all parts are text. */
export function agUiContent(parts: readonly UserPart[]): string | readonly AgUiPart[] {
  if (parts.every((part) => part.type === "text")) return parts.map((part) => part.text).join("\n\n");
  return parts.flatMap(agUiPart);
}

function agUiPart(part: UserPart): AgUiPart[] {
  if (part.type === "text") return [{ type: "text", text: part.text }];
  const source = agUiSource(part);
  return source ? [{ type: mediaKind(part.mediaType), source }] : [];
}

function agUiSource({ data, url, mediaType: mimeType }: Extract<Part, { type: "file" }>) {
  if (data !== undefined) return { type: "data", value: data, mimeType } as const;
  return url === undefined ? undefined : ({ type: "url", value: url, mimeType } as const);
}

function mediaKind(mediaType: string): "image" | "audio" | "video" | "document" {
  const [kind] = mediaType.split("/");
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "document";
}

/** The outline of a conversation's tree, which AG-UI programs get in their state under the key `banyan`. */
export interface Outline {
  /** The message that the next turn continues from by default. */
  readonly leaf: string | null;
  /** The last message of each branch, the newest branch last. `forwardedProps.banyan.at` selects a branch. */
  readonly branches: readonly string[];
}

const BRANCHES = 200;

export function agUiOutline({ messages, children, leaf }: ConversationState): Outline {
  const branches: string[] = [];
  for (const { id, call, removed } of messages.values())
    if (call === undefined && !removed && (children.get(id)?.length ?? 0) === 0) branches.push(id);
  return { leaf, branches: branches.slice(-BRANCHES) };
}

/** Returns the patch from one outline to the next. */
export function outlinePatch(before: Outline, now: Outline): AgUiPatch[] {
  const patch: AgUiPatch[] = [];
  if (before.leaf !== now.leaf) patch.push({ op: "replace", path: "/banyan/leaf", value: now.leaf });
  if (before.branches.join() !== now.branches.join())
    patch.push({ op: "replace", path: "/banyan/branches", value: now.branches });
  return patch;
}
