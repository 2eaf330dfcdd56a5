import { cutBefore } from "../conversation/shown/visible-text.ts";
import type { PromptMessage } from "../ports/model.ts";

export type CountTexts = (...texts: readonly string[]) => Promise<number>;

/** Returns the texts, calls and results of a message, without images and reasoning. */
export function messageTexts(message: PromptMessage): string[] {
  const said = message.parts.flatMap((part) => {
    if (part.type === "text") return [part.text];
    if (part.type === "call") return [`[Call of ${part.tool}] ${JSON.stringify(part.input)}`];
    return part.type === "file" ? [`[A file: ${part.name ?? part.mediaType}]`] : [];
  });
  if (message.role === "user") return said;
  return [...said, ...message.results.map(({ tool, output }) => `[Result of ${tool}] ${output}`)];
}

interface SummaryPiece {
  readonly piece: readonly PromptMessage[];
  readonly tokens: number;
  readonly rest: readonly PromptMessage[];
}

/**
 * Returns as many of the first messages as fit into `most` tokens. If the first message is too large, the piece ends
 * inside it, and the next piece continues there. Calls and their results stay in one request.
 */
export async function takeSummaryPiece(
  messages: readonly PromptMessage[],
  most: number,
  count: CountTexts,
): Promise<SummaryPiece> {
  let taken = 0;
  let tokens = 0;
  for (const message of messages) {
    const more = await count(...messageTexts(message));
    if (tokens + more > most) break;
    tokens += more;
    taken++;
  }
  if (taken > 0) return { piece: messages.slice(0, taken), tokens, rest: messages.slice(taken) };
  const [first, ...others] = messages as [PromptMessage];
  const text = messageTexts(first).join("\n");
  const { length, tokens: size } = await fitTokens(text, most, count);
  const behind = text.slice(length);
  return {
    piece: [userText(text.slice(0, length))],
    tokens: size,
    rest: behind === "" ? others : [userText(CONTINUED + behind), ...others],
  };
}

const CONTINUED = "[The message before goes on:]\n";

async function fitTokens(text: string, most: number, count: CountTexts) {
  let { length } = text;
  let tokens = await count(text);
  while (tokens > most && length > LEAST) {
    length = Math.max(LEAST, cutBefore(text, Math.floor(length * Math.min(0.9, most / tokens))));
    tokens = await count(text.slice(0, length));
  }
  return { length, tokens };
}

/** Each piece makes progress. */
const LEAST = 100;

export function userText(text: string): PromptMessage {
  return { role: "user", parts: [{ type: "text", text }] };
}
