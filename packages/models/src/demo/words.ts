import type { ModelRequest, PromptMessage } from "@banyan/core/drivers";

const counted = new WeakMap<PromptMessage, number>();

/** The words of a request, about as many as a real model would count tokens; each message is counted once. */
export function wordsIn({ instructions, messages, tools }: ModelRequest): number {
  let words = wordsOf(instructions);
  for (const tool of tools) words += wordsOf(tool.description) + 1;
  for (const message of messages) {
    let own = counted.get(message);
    if (own === undefined) {
      own = wordsOf(contentOf(message));
      counted.set(message, own);
    }
    words += own;
  }
  return words;
}

function wordsOf(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

function contentOf(message: PromptMessage): string {
  const said = message.parts.map((part) => {
    if (part.type === "file") return part.name ?? part.mediaType;
    return part.type === "call" ? JSON.stringify(part.input) : part.text;
  });
  const came = message.role === "assistant" ? message.results.map((result) => result.output) : [];
  return [...said, ...came].join(" ");
}
