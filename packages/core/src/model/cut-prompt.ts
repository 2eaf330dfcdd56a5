import type { ModelRequest } from "../ports/model.ts";

/**
 * True if the token count of a server shows that the server read only a part of a request (F69). Some servers silently
 * drop the beginning of a long prompt.
 * @param counted Tokens of the prompt by the server's count; 0 if the server counts none.
 * @param window Tokens of the model's window, if known.
 * @example isCut({ instructions: "", messages, tools: [], toolChoice: "auto", settings: {} }, 4_096, 4_096) // true
 */
export function isCut(request: ModelRequest, counted: number, window = Number.POSITIVE_INFINITY): boolean {
  if (counted <= 0) return false;
  if (counted >= window) return true;
  const texts = textsRead(request);
  const rough = texts.reduce((sum, text) => sum + text.length, 0) / 4;
  // A repetitive text has fewer tokens than its length suggests, so it must also exceed the window.
  if (rough > window && counted * 2 < rough) return true;
  // A count this small is not a filled window but a wrong count.
  if (counted < LEAST) return false;
  // For short texts the surrounding tokens dominate the count.
  return rough > counted && texts.reduce((sum, text) => sum + (text.match(WORDS)?.length ?? 0), 0) > counted;
}

/** Tokens of the smallest window of any server. */
const LEAST = 1_000;

/** Tokenizers split at all characters but letters, so a text has at least as many tokens as words. */
const WORDS = /[\p{L}\p{M}]+/gu;

/** Leaves out tools, whose form varies, and parts that some templates drop: reasoning, and text before calls. */
function textsRead({ instructions, messages }: ModelRequest): string[] {
  return [
    instructions,
    ...messages.flatMap(({ role, parts, ...message }) => {
      const results = "results" in message ? message.results.map(({ output }) => output) : [];
      if (role === "assistant" && results.length > 0) return results;
      return parts.flatMap((part) => (part.type === "text" ? part.text : []));
    }),
  ];
}
