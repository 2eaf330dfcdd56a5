import type { Json } from "../../conversation/part.ts";
import { isJsonRecord } from "../../conversation/shape-problem.ts";

/** Differences that one message lists. */
const MOST = 4;
/** Characters of a value that a difference shows. */
const SHOWN = 60;

/** Returns lines such as `messages[1].content: recorded "Hello", sent "Goodbye"`; an empty list for equal values. */
export function differences(recorded: Json | undefined, sent: Json | undefined, most = MOST): string[] {
  const found: string[] = [];
  compare("", recorded, sent, found, most + 1);
  return found.length <= most ? found : [...found.slice(0, most), "and more"];
}

function compare(
  path: string,
  recorded: Json | undefined,
  sent: Json | undefined,
  found: string[],
  most: number,
): void {
  if (found.length >= most || recorded === sent) return;
  if (Array.isArray(recorded) && Array.isArray(sent)) {
    for (let index = 0; index < Math.max(recorded.length, sent.length); index++)
      compare(`${path}[${index}]`, recorded[index], sent[index], found, most);
    return;
  }
  if (isJsonRecord(recorded) && isJsonRecord(sent)) {
    for (const name of new Set([...Object.keys(recorded), ...Object.keys(sent)]))
      compare(path === "" ? name : `${path}.${name}`, fieldOf(recorded, name), fieldOf(sent, name), found, most);
    return;
  }
  const areTexts = typeof recorded === "string" && typeof sent === "string";
  if (areTexts && withoutLengths(recorded) === withoutLengths(sent)) return;
  const start = areTexts ? sharedStart(recorded, sent) : 0;
  found.push(`${path === "" ? "body" : path}: recorded ${shown(recorded, start)}, sent ${shown(sent, start)}`);
}

/** Hidden secrets of different lengths are equal. */
function withoutLengths(text: string): string {
  return text.replaceAll(/\*{6,}/g, "******");
}

function fieldOf(record: object, name: string): Json | undefined {
  return Object.hasOwn(record, name) ? (record as Record<string, Json>)[name] : undefined;
}

function sharedStart(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}

/** Shows the place where two values part. */
function shown(value: Json | undefined, start: number): string {
  if (value === undefined) return "nothing";
  if (typeof value !== "string") return cut(JSON.stringify(value), 0);
  return JSON.stringify(cut(value, start - SHOWN / 3));
}

function cut(text: string, start: number): string {
  const from = start <= 3 ? 0 : start;
  const part = text.slice(from, from + SHOWN);
  return `${from > 0 ? "..." : ""}${part}${from + SHOWN < text.length ? "..." : ""}`;
}
