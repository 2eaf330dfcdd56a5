import type { Recalled } from "@banyan/core/conversation";
import { counted } from "@banyan/core/conversation";
import { excerpt } from "./excerpt.ts";

/** That memory added something to what the model is told, and how to see it (S26, T51): `shower` is a key or a command. */
export function recalledLine(items: readonly Recalled[], shower: string): string {
  return `Memory added ${counted(items.length, "entry", "entries")} to what the model is told (${shower} shows them).`;
}

/** What it added, each with where it is from. */
export function recalledLines(items: readonly Recalled[], columns: number, dim: (text: string) => string): string[] {
  const room = Math.max(20, columns);
  return items.flatMap(({ text, source }) => [excerpt(text, room - 2), dim(`  ${excerpt(source, room - 4)}`)]);
}
