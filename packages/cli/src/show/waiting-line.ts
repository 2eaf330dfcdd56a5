import type { WaitingInput } from "@banyan/core";
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

/** What it says, on one line. */
export function waitingText({ parts }: Pick<WaitingInput, "parts">, width: number): string {
  const texts = parts.map((part) => (part.type === "text" ? part.text : `(file: ${part.name ?? part.mediaType})`));
  return excerpt(texts.join(" "), width);
}
