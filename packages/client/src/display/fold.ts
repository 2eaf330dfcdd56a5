import type { Call } from "@banyan/core/conversation";
import { inEnglish, type Say, visibleLine } from "@banyan/core/shown";
import { formatSeconds } from "../words/amounts.ts";
import { shownStatus } from "../words/shown-call.ts";

/** Milliseconds from which a thought has a place in a transcript. */
const SHOWN_THOUGHT = 2_000;

/**
 * An ended part of a transcript that a client can fold with its neighbours: a call that only read, a thought of `time`
 * milliseconds, or a part without content. See {@link foldNeighbours}.
 */
export type QuietPart =
  | { readonly type: "call"; readonly call: Call }
  | { readonly type: "thought"; readonly time: number }
  | { readonly type: "empty" };

/**
 * Returns a call as a quiet part, if the call only read and succeeded. Running calls, failed calls and calls with files
 * are never folded.
 * @example quietCall(toolCall) ?? "The call stays on a line of its own."
 */
export function quietCall(call: Call): QuietPart | undefined {
  const isQuiet = call.about?.looksAt !== undefined && shownStatus(call) === "completed" && call.files === undefined;
  return isQuiet ? { type: "call", call } : undefined;
}

/**
 * Groups neighbouring items that a client shows as one line. All items stay, in order. An item that is not a quiet part
 * forms a group alone.
 * @example foldNeighbours([toolCall], quietCall) // [[toolCall]]
 */
export function foldNeighbours<Item>(
  items: readonly Item[],
  partOf: (item: Item) => QuietPart | undefined,
): readonly (readonly [Item, ...Item[]])[] {
  const groups: [Item, ...Item[]][] = [];
  let open: Item[] | undefined;
  for (const item of items) {
    const isQuiet = partOf(item) !== undefined;
    if (open && isQuiet) {
      open.push(item);
      continue;
    }
    const group: [Item, ...Item[]] = [item];
    groups.push(group);
    open = isQuiet ? group : undefined;
  }
  return groups;
}

/**
 * Returns whether a quiet part is shown in the transcript. A thought of less than two seconds is not.
 * @example hasPlace({ type: "thought", time: 500 }) // false
 */
export function hasPlace(part: QuietPart): boolean {
  return part.type === "call" || (part.type === "thought" && part.time >= SHOWN_THOUGHT);
}

/**
 * Returns one line for a group of quiet parts, such as `Read 3 files (412 lines), searched twice (9 hits), thought
 * 4 s`. The most frequent kind of reads comes first.
 * @example foldSentence([{ type: "thought", time: 4_000 }]) // "Thought 4 s"
 */
export function foldSentence(parts: readonly QuietPart[], say: Say = inEnglish): string {
  const calls = parts.flatMap((part) => (part.type === "call" ? [part.call] : []));
  const kinds = [...Map.groupBy(calls, ({ about }) => about?.looksAt?.one ?? "").values()];
  const searches = kinds.find(([call]) => call?.about?.looksAt?.one === "search") ?? [];
  const reads = kinds.filter((kind) => kind !== searches).toSorted((one, other) => other.length - one.length);
  const what = reads.map((kind) => readObjects(kind, say)).join(", ");
  const thoughts = parts.flatMap((part) => (part.type === "thought" && hasPlace(part) ? [part.time] : []));
  const time = formatSeconds(thoughts.reduce((sum, each) => sum + each, 0));
  const said = [
    ...(what === "" ? [] : [say("Read {what}", { what })]),
    ...(searches.length === 0 ? [] : [searchedTimes(searches, say)]),
    ...(thoughts.length === 0 ? [] : [say("thought {time}", { time })]),
  ];
  return said.join(", ").replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
}

/** The objects of calls of one kind, with the number of lines of files. */
function readObjects(calls: readonly Call[], say: Say): string {
  const { one = "", several = "" } = calls[0]?.about?.looksAt ?? {};
  const objects = `${calls.length} ${visibleLine(calls.length === 1 ? one : several)}`;
  const lines = countMatchingLines(calls, /^\d+\t/gm);
  return one === "file" && lines > 0 ? `${objects} (${say.count(lines, "{count} line", "{count} lines")})` : objects;
}

function searchedTimes(searches: readonly Call[], say: Say): string {
  const { length } = searches;
  const times = length === 2 ? say("searched twice") : say.count(length, "searched once", "searched {count} times");
  return `${times} (${say.count(countMatchingLines(searches, /^.+?:\d+:/gm), "{count} hit", "{count} hits")})`;
}

/** Counts the lines of the outputs that begin with `pattern`. The tools add other lines for the model. */
function countMatchingLines(calls: readonly Call[], pattern: RegExp): number {
  return calls.reduce((count, { output = "" }) => count + (output.match(pattern)?.length ?? 0), 0);
}
