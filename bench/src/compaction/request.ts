import type { ChatCompletionRequest } from "@copilotkit/aimock";

export type Message = ChatCompletionRequest["messages"][number];

/** Tokens of a message in addition to its texts. */
const ENVELOPE = 4;

/** Returns the tokens of a text, as the mock counts: the filler has exactly four characters per token. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}

export function textOf({ content }: Message): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text = "" }) => text).join("");
}

function messageTokens(message: Message): number {
  const calls = message.tool_calls?.map((call) => call.function.name + call.function.arguments).join("") ?? "";
  return ENVELOPE + tokensOf(textOf(message) + calls);
}

const isInstructions = ({ role }: Message) => (role as string) === "system" || (role as string) === "developer";

/** Returns the tokens before the conversation: instructions and tools. */
export function headTokens({ messages, tools }: ChatCompletionRequest): number {
  const instructions = messages.filter(isInstructions).reduce((sum, message) => sum + messageTokens(message), 0);
  return instructions + (tools ? tokensOf(JSON.stringify(tools)) : 0);
}

/** Returns the messages after the instructions. */
export function conversationIn({ messages }: ChatCompletionRequest): readonly Message[] {
  return messages.filter((message) => !isInstructions(message));
}

export function totalOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + messageTokens(message), 0);
}

/**
 * Splits a conversation before the part that the model has not answered: the results of the last calls, and everything
 * after them. The calls themselves count as answered.
 */
export function splitUnanswered(messages: readonly Message[]): {
  readonly answered: readonly Message[];
  readonly unanswered: readonly Message[];
} {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  return { answered: messages.slice(0, last + 1), unanswered: messages.slice(last + 1) };
}

/** Returns the ids of the calls in a conversation. */
export function callsIn(messages: readonly Message[]): ReadonlySet<string> {
  return new Set(messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)));
}

/** Returns faults of calls and results: each call needs one result, after the call and before the next other message. */
export function brokenCalls(messages: readonly Message[]): string[] {
  const problems: string[] = [];
  let open = new Set<string>();
  const close = () => {
    for (const id of open) problems.push(`${id} has no result`);
    open = new Set();
  };
  messages.forEach((message, at) => {
    const { role, tool_calls: calls = [], tool_call_id: id = "" } = message;
    if (role === "tool") {
      if (!open.delete(id)) problems.push(`the result of ${id} follows no call`);
      return;
    }
    // In some formats, a response with several calls is several messages.
    if (role !== "assistant" || messages[at - 1]?.role !== "assistant") close();
    for (const call of calls) {
      if (open.has(call.id)) problems.push(`${call.id} is there twice`);
      open.add(call.id);
    }
  });
  close();
  return problems;
}

/** Returns a request as one text, in the order of providers' caches. */
export function cacheText({ messages, tools = [] }: ChatCompletionRequest): string {
  return JSON.stringify(tools) + messages.map((message) => JSON.stringify(message)).join("\n");
}

/** Returns the length of the common beginning of two texts. */
export function commonPrefix(one: string, other: string): number {
  let low = 0;
  let high = Math.min(one.length, other.length);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (one.slice(low, middle) === other.slice(low, middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
