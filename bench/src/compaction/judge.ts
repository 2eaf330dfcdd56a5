import type { ChatCompletionRequest } from "@copilotkit/aimock";
import type { Item, Kind, State } from "./items.ts";
import { conversationIn, type Message, textOf } from "./request.ts";

/** The words for each state. The first match after a name counts, or else the nearest match before the name. */
const STATES: Readonly<Record<"file" | "plan" | "process", readonly (readonly [State, RegExp])[]>> = {
  file: [
    ["written", /<modified-files>/],
    ["created", /\b(created?|new|written)\b/i],
    ["changed", /\b(changed?|edited|(?<!<)modified|updated)\b/i],
    ["read", /\b(read|seen|looked at)\b|<read-files>/i],
  ],
  plan: [
    ["completed", /\b(completed?|done|finished)\b|\[x\]|[✓✔☑]/i],
    ["in progress", /\b(in[ _-]progress|doing|being done|under way|current)\b|\[[~>]\]|[◐▶]/i],
    ["pending", /\b(pending|to ?do|open|not begun|planned)\b|\[ \]|[☐○]/i],
  ],
  process: [
    ["ended", /\b(ended|stopped|finished|exited|gone|no longer)\b/i],
    ["running", /\b(running|runs|run)\b/i],
  ],
};

/** Maximum number of lines between a name and a heading with its state. */
const HEADING = 14;

/**
 * Returns the texts of a request in which an item counts, in order: those of the user, the program and a summary.
 * Answers of the model and results of tools do not count.
 */
export function tellingTexts(request: ChatCompletionRequest, summaries: readonly string[]): readonly string[] {
  const counts = (message: Message) =>
    message.role === "user" ||
    // Some programs send a summary as an answer of the model.
    (message.role === "assistant" && summaries.some((summary) => summary !== "" && textOf(message).includes(summary)));
  return conversationIn(request).filter(counts).map(textOf);
}

/** Returns the items that the texts mention in their current state. */
export function recalled(
  items: readonly Item[],
  texts: readonly string[],
  stateOf: (item: Item) => State | undefined,
): readonly Item[] {
  return items.filter((item) => isTold(item, texts, stateOf(item)));
}

function isTold(item: Item, texts: readonly string[], state: State | undefined): boolean {
  const all = texts.join("\n\n");
  switch (item.kind) {
    case "file":
    case "plan":
      return isSame(statesIn(item, all).at(-1), state);
    case "process": {
      const shown = statesIn(item, all).at(-1);
      return state === "running" ? shown === "running" : shown !== "running";
    }
    case "correction":
      return item.corrects !== undefined && all.includes(item.corrects.word) && isBehind(all, item, item.corrects);
    default:
      return all.includes(item.word);
  }
}

function isSame(shown: State | undefined, state: State | undefined): boolean {
  return shown === state || (shown === "written" && (state === "created" || state === "changed"));
}

function isBehind(text: string, item: Item, other: Item): boolean {
  return text.lastIndexOf(item.word) > text.indexOf(other.word);
}

/** Returns the states that a text gives an item, one per mention. */
export function statesIn({ kind, word }: Pick<Item, "kind" | "word">, text: string): (State | undefined)[] {
  const lines = text.split("\n");
  return lines.flatMap((line, at) =>
    [...line.matchAll(new RegExp(word, "g"))].map(({ index }) => {
      // In a list, a mention ends at the next one.
      const [behind = ""] = line.slice(index + word.length).split(/[,;]/);
      const before = line.slice(0, index);
      return (
        first(kind, behind.slice(0, 60)) ??
        last(kind, before) ??
        lines
          .slice(Math.max(0, at - HEADING), at)
          .reverse()
          .map((above) => (isHeading(above) ? last(kind, above) : undefined))
          .find((state) => state !== undefined)
      );
    }),
  );
}

function isHeading(line: string): boolean {
  return /[:>]\s*\**$/.test(line.trimEnd()) || /^\s*(#|\*\*|<)/.test(line);
}

function first(kind: Kind, text: string): State | undefined {
  const found = statesOf(kind, text);
  return found.sort((one, other) => one.at - other.at)[0]?.state;
}

function last(kind: Kind, text: string): State | undefined {
  return statesOf(kind, text).sort((one, other) => other.at - one.at)[0]?.state;
}

function statesOf(kind: Kind, text: string): { readonly state: State; readonly at: number }[] {
  if (kind !== "file" && kind !== "plan" && kind !== "process") return [];
  return STATES[kind].flatMap(([state, pattern]) =>
    [...text.matchAll(new RegExp(pattern, `${pattern.flags}g`))].map(({ index }) => ({ state, at: index })),
  );
}

/** Returns which of the user's messages a request contains word for word, and the message counts that its lines name. */
export function userWordsIn(texts: readonly string[], said: readonly string[]) {
  const whole = said.map((words) => texts.some((text) => text.includes(words)));
  const counted = texts.flatMap((text) =>
    [...text.matchAll(/(\d[\d,]*) [^\n.]*\bmessages?\b/g)].map(([, count = ""]) => Number(count.replaceAll(",", ""))),
  );
  return { whole, counted };
}
