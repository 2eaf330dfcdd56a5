/** Returns a number from 0 to 1. The same seed gives the same numbers (mulberry32). */
export type Random = () => number;

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** The state of a file, a plan step or a process. `written` means created or changed: some programs do not distinguish them. */
export type State =
  | "created"
  | "changed"
  | "written"
  | "read"
  | "pending"
  | "in progress"
  | "completed"
  | "running"
  | "ended";

export type Kind = "order" | "correction" | "decision" | "question" | "file" | "plan" | "process" | "finding";

/** A fact of the conversation that must not be forgotten. Its code word occurs nowhere else. */
export interface Item {
  readonly kind: Kind;
  readonly word: string;
  /** The user's sentence; for an item of a call, the sentence of a good summary. */
  readonly sentence: string;
  /** The order that a correction corrects. */
  readonly corrects?: Item;
  /** The states of a file, a plan step or the process, in script order. */
  readonly states?: readonly State[];
}

/** The number of planted items of each kind. */
const COUNTS: Readonly<Record<Kind, number>> = {
  order: 5,
  correction: 2,
  decision: 2,
  question: 1,
  file: 4,
  plan: 3,
  process: 1,
  finding: 2,
};

/** Ordinary words. None contains another one or occurs in the filler. */
const WORDS =
  "heron walnut copper lantern maple cobalt harbour violet saddle thistle falcon amber orchid granite willow pepper marble cedar otter juniper raven tulip velvet bamboo coral ginger lotus meadow nutmeg opal quartz saffron topaz umber vanilla wicker yarrow zinnia badger beacon".split(
    " ",
  );

/** The states of the files, by their index. */
const FILE_STATES: readonly (readonly State[])[] = [["created"], ["changed"], ["read", "changed"], ["read"]];
const PLAN_STATES: readonly (readonly State[])[] = [
  ["completed"],
  ["in progress", "completed"],
  ["pending", "in progress"],
];

/** Returns the 20 items of a conversation, in the order in which they are planted. */
export function plantedItems(seed: number): readonly Item[] {
  const words = shuffled(WORDS, createRandom(seed));
  const take = () => words.pop() as string;
  const items: Item[] = [];
  const plant = (item: Item) => items.push(item);
  for (let at = 0; at < COUNTS.order; at++) {
    const word = take();
    plant({ kind: "order", word, sentence: `Keep report ${at + 1} in the folder ${word}.` });
  }
  for (let at = 0; at < COUNTS.correction; at++) {
    const word = take();
    const corrects = items[at] as Item;
    plant({ kind: "correction", word, corrects, sentence: `No, keep report ${at + 1} in ${word}.` });
  }
  for (let at = 0; at < COUNTS.decision; at++) {
    const word = take();
    plant({ kind: "decision", word, sentence: `We decided that store ${at + 1} is ${word}.` });
  }
  const question = take();
  plant({ kind: "question", word: question, sentence: `Still open: do we ship ${question}?` });
  for (const states of FILE_STATES) {
    const word = take();
    plant({ kind: "file", word, states, sentence: `${word}.txt` });
  }
  for (const states of PLAN_STATES) {
    const word = take();
    plant({ kind: "plan", word, states, sentence: `Mend ${word}` });
  }
  const watched = take();
  plant({ kind: "process", word: watched, states: ["running", "ended"], sentence: `tail -f ${watched}.log` });
  for (let at = 0; at < COUNTS.finding; at++) {
    const word = take();
    plant({ kind: "finding", word, sentence: `Leak ${at + 1} is in ${word}.` });
  }
  return items;
}

/** Returns the line of a good summary for an item in this state. */
export function summaryLine({ kind, sentence }: Item, state: State | undefined): string {
  if (state === undefined) return `- ${sentence}`;
  const what = kind === "file" ? "File" : kind === "plan" ? "Step" : "Process";
  return `- ${what} ${sentence}: ${state}`;
}

function shuffled<T>(all: readonly T[], random: Random): T[] {
  const left = [...all];
  for (let at = left.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [left[at], left[other]] = [left[other] as T, left[at] as T];
  }
  return left;
}
