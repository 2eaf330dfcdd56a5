import type { ModelRequest } from "../ports/model.ts";

/**
 * Returns whether a server read only a part of a request, by the server's count of tokens (F69). Some servers drop the beginning of
 * a prompt that is too long, and answer as if nothing had happened.
 *
 * @param counted Tokens of the prompt by the server's count; 0 when the server counts none.
 * @param window Tokens of the model's window, if they are known.
 */
export function isCut(request: ModelRequest, counted: number, window = Number.POSITIVE_INFINITY): boolean {
  if (counted <= 0) return false;
  if (counted >= window) return true;
  const texts = textsRead(request);
  const rough = texts.reduce((sum, text) => sum + text.length, 0) / 4;
  // A text of few different words has fewer tokens than its length says: it must also be too long for the window.
  if (rough > window && counted * 2 < rough) return true;
  // A smaller count is no window that was filled, but a count that is wrong.
  if (counted < LEAST) return false;
  // Short texts are not worth counting: what surrounds them counts more.
  return rough > counted && texts.reduce((sum, text) => sum + (text.match(WORDS)?.length ?? 0), 0) > counted;
}

/** Tokens of the smallest window that a server has. */
const LEAST = 1_000;

/** Tokenizers split at other characters than letters, so that a text has at least as many tokens as words. */
const WORDS = /[\p{L}\p{M}]+/gu;

/**
 * The texts of a request that each template shows to the model. Left out are tools, which templates write in forms of their
 * own, and what some of them drop: reasoning, and text in front of calls.
 */
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
