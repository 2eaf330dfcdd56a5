import { createId } from "@banyan/core";
import type { ModelPart, ModelRequest, ModelSink, PromptMessage } from "@banyan/core/drivers";
import type { Reply } from "./reply.ts";

/** Streams a reply word by word. `pace`: milliseconds per word; 0 sends everything at once. */
export async function streamReply(
  { reasoning, text, calls }: Reply,
  request: ModelRequest,
  pace: number,
  sink: ModelSink,
  signal: AbortSignal,
): Promise<void> {
  const { maxTokens = Number.POSITIVE_INFINITY, effort } = request.settings;
  const all: ModelPart[] = [];
  const thought = effort === "none" ? "" : reasoning;
  for (const piece of pieces(thought)) all.push({ type: "reasoning", text: piece });
  for (const piece of pieces(text)) all.push({ type: "text", text: piece });
  calls.forEach(({ tool, input }, index) => {
    all.push({ type: "call", index, id: `call_${createId()}`, tool });
    for (const [piece] of JSON.stringify(input).matchAll(/.{1,12}/gsu))
      all.push({ type: "call-input", index, text: piece });
    all.push({ type: "call-end", index });
  });
  const parts = all.slice(0, maxTokens);

  await inPace(parts, pace, sink, signal);
  const complete = parts.length === all.length;
  sink.push([
    {
      type: "finish",
      reason: !complete ? "length" : calls.length > 0 ? "calls" : "stop",
      // An estimate: each word, and each piece of a call, counts as a token.
      usage: {
        input: countRequestWords(request),
        cached: 0,
        cacheWrite: 0,
        output: parts.length,
        reasoning: parts.filter((part) => part.type === "reasoning").length,
      },
    },
  ]);
}

/** Pushes pieces by the clock, so that a busy program gets larger batches and not a slower answer. */
async function inPace(parts: readonly ModelPart[], pace: number, sink: ModelSink, signal: AbortSignal): Promise<void> {
  const begin = performance.now();
  let said = 0;
  while (said < parts.length) {
    signal.throwIfAborted();
    const due = pace > 0 ? Math.max(said + 1, Math.floor((performance.now() - begin) / pace)) : parts.length;
    const hasRoom = sink.push(parts.slice(said, due));
    said = due;
    if (!hasRoom) await unlessAborted(sink.ready(), signal);
    if (pace > 0) await unlessAborted(new Promise((resolve) => setTimeout(resolve, pace)), signal);
  }
  signal.throwIfAborted();
}

/** Waits for a promise, and rejects with the signal's reason if the signal aborts first. */
async function unlessAborted(something: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([something, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function pieces(text: string): string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}

const counted = new WeakMap<PromptMessage, number>();

/** The words of a request, roughly the tokens of a real model. Each message is counted once. */
function countRequestWords({ instructions, messages, tools }: ModelRequest): number {
  let words = countWords(instructions);
  for (const tool of tools) words += countWords(tool.description) + 1;
  for (const message of messages) {
    let own = counted.get(message);
    if (own === undefined) {
      own = countWords(messageContent(message));
      counted.set(message, own);
    }
    words += own;
  }
  return words;
}

function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

function messageContent(message: PromptMessage): string {
  const said = message.parts.map((part) => {
    if (part.type === "file") return part.name ?? part.mediaType;
    return part.type === "call" ? JSON.stringify(part.input) : part.text;
  });
  const came = message.role === "assistant" ? message.results.map((result) => result.output) : [];
  return [...said, ...came].join(" ");
}
