import type { WaitingInput } from "@banyan/core/conversation";
import { excerpt } from "./excerpt.ts";

const WORDS = { steer: "steer", queue: "queued", interrupt: "interrupt" } as const;

/** How something that waits reaches the agent, in a word. */
export function waitingWord({ delivery, held }: Pick<WaitingInput, "delivery" | "held">): string {
  return held ? "held" : WORDS[delivery];
}

/** `steer: use the other file`: something that waits, on one line. */
export function waitingLine(input: Pick<WaitingInput, "parts" | "delivery" | "held">, width: number): string {
  const word = waitingWord(input);
  return `${word}: ${waitingText(input, Math.max(20, width - word.length - 2))}`;
}

/** What it says, on one line: its first text, as what a person typed; what goes along is in the others. */
export function waitingText({ parts }: Pick<WaitingInput, "parts">, width: number): string {
  const typed = parts.find((part) => part.type === "text");
  const texts = parts.flatMap((part) => {
    if (part.type === "file") return [`(file: ${part.name ?? part.mediaType})`];
    return part === typed ? [part.text] : [];
  });
  return excerpt(texts.join(" "), width);
}
