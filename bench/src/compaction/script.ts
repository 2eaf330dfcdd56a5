import { type Item, plantedItems, type State } from "./items.ts";

/** An action of the model with a tool. A program's `Hands` choose the tool. */
export type Act =
  | { readonly do: "write"; readonly path: string; readonly text: string }
  | { readonly do: "edit"; readonly path: string; readonly old: string; readonly text: string }
  | { readonly do: "read"; readonly path: string }
  | { readonly do: "plan"; readonly steps: readonly { readonly title: string; readonly state: State }[] }
  | { readonly do: "watch"; readonly command: string }
  | { readonly do: "stop watching" }
  | { readonly do: "run"; readonly command: string };

/** An act with its items. The mark is a text by which a reader of the act learns of the item. */
export interface Beat {
  readonly act: Act;
  /** Text of the model before the call. */
  readonly words?: string;
  readonly brings?: readonly { readonly item: Item; readonly state?: State; readonly mark: string }[];
}

/** The progress of a conversation. */
export interface Progress {
  /** The number of summaries so far. */
  readonly summaries: number;
  /** The share of the window that the last request used. */
  readonly fill: number;
  /** The number of acts in this turn. */
  readonly acts: number;
}

/** A user message, and the model's steps until the answer. */
export interface Turn {
  readonly says: string;
  readonly tells: readonly Item[];
  /** Returns the next act; undefined at the end of the turn. */
  next(progress: Progress): Beat | undefined;
}

export interface ScriptOptions {
  readonly seed: number;
  /** Tokens. */
  readonly window: number;
  /** True: the user pastes a third of the window when the context is filled to about 74 %. */
  readonly pastes?: boolean;
  /** True: the user's messages take twice the share that summaries keep of them. */
  readonly talkative?: boolean;
  /** The number of summaries after which the script ends. */
  readonly summaries?: number;
}

export interface Script {
  readonly items: readonly Item[];
  readonly turns: readonly Turn[];
  /** The files of the workspace before the conversation. */
  readonly files: Readonly<Record<string, string>>;
}

/** Turns after those that plant the items. */
const WORKING_TURNS = 14;
/**
 * The shares of the window for text and result of one work act, and the maximum length of a result. Most of it is
 * text: results alone would be shortened without a summary, and 20 summaries would need an endless conversation.
 */
const WORDS_SHARE = 0.04;
const RESULT_SHARE = 0.02;
const RESULT_MOST = 28_000;
/** Filler: lines of 20 words with three letters, each of which is a token. */
const WORDS_OF_A_LINE = 20;
const LINE = WORDS_OF_A_LINE * 4;
const LINES = 2_000;
const FILLER =
  "the big red fox ran far and saw one old dog lay low job man car hat top cup bed sun map key jar net box pen".split(
    " ",
  );
/** Each work act appends its number to this file, so that repeated calls are detected. */
export const RAN = "ran.txt";

export function scriptOf({ seed, window, pastes = false, talkative = false, summaries = 20 }: ScriptOptions): Script {
  const items = plantedItems(seed);
  const of = (kind: Item["kind"]) => items.filter((item) => item.kind === kind);
  const [orders, corrections, decisions, questions] = [of("order"), of("correction"), of("decision"), of("question")];
  const [files, steps, findings] = [of("file"), of("plan"), of("finding")];
  const [created, changed, changedLater, seen] = files as [Item, Item, Item, Item];
  const [watched] = of("process") as [Item];

  const plan = (at: 0 | 1): Beat => ({
    act: { do: "plan", steps: steps.map((item) => ({ title: item.sentence, state: stateAt(item, at) })) },
    // All programs write the state of a step after its title.
    brings: steps.map((item) => {
      const state = stateAt(item, at);
      return { item, state, mark: `${item.sentence}","status":"${state.replace(" ", "_")}"` };
    }),
  });
  const edit = (item: Item): Beat => {
    const mark = `The ${item.word} is new.`;
    return {
      act: { do: "edit", path: item.sentence, old: `The ${item.word} is old.`, text: mark },
      brings: [{ item, state: "changed", mark }],
    };
  };
  const read = (item: Item): Beat => ({
    act: { do: "read", path: item.sentence },
    brings: [{ item, state: "read", mark: item.sentence }],
  });
  const finding = (at: number): Beat => {
    const item = findings[at] as Item;
    return { act: { do: "run", command: `cat check-${at + 1}.log` }, brings: [{ item, mark: item.sentence }] };
  };
  const write: Beat = {
    act: { do: "write", path: created.sentence, text: "Begun.\n" },
    brings: [{ item: created, state: "created", mark: created.sentence }],
  };
  const watch: Beat = {
    act: { do: "watch", command: watched.sentence },
    brings: [{ item: watched, state: "running", mark: watched.sentence }],
  };
  const stopWatching: Beat = {
    act: { do: "stop watching" },
    // "The process was stopped" alone does not tell a reader which process.
    brings: [{ item: watched, state: "ended", mark: watched.word }],
  };

  let number = 0;
  const lines = Math.max(2, Math.round(Math.min(window * RESULT_SHARE * 4, RESULT_MOST) / LINE));
  const work = (): Beat => {
    number++;
    const from = ((number * lines) % (LINES - lines)) + 1;
    const act = {
      do: "run",
      command: `echo ${number} >> ${RAN}; sed -n ${from},${from + lines - 1}p notes.txt`,
    } as const;
    return { act, words: talk(Math.round(window * WORDS_SHARE)) };
  };

  const told = (says: string, tells: readonly Item[], ...beats: readonly Beat[]): Turn => ({
    says: [says, ...tells.map(({ sentence }) => sentence)].filter((text) => text !== "").join(" "),
    tells,
    next: ({ acts }) => beats[acts],
  });
  const planting = [
    told("Read the notes part by part.", orders.slice(0, 2), plan(0), write),
    told("", orders.slice(2), read(changed), edit(changed), read(changedLater), read(seen)),
    told("", corrections, finding(0)),
    told("", decisions, watch),
    told("", questions, finding(1)),
  ];

  const padding = talkative ? talk(Math.round((0.24 * window - 400) / WORKING_TURNS)) : "";
  const changes = [edit(changedLater), plan(1), stopWatching];
  /** Changes come between the 5th and the 20th summary; a shorter script has none. */
  const changingTurn = Math.ceil(WORKING_TURNS / 2);
  const working = Array.from({ length: WORKING_TURNS }, (_, index): Turn => {
    const part = index + 1;
    const due = pastes && part === 1 ? 0 : Math.round((summaries * part) / WORKING_TURNS);
    const begins = part === changingTurn && summaries >= 20 ? changes : [];
    return {
      says: `Go on with part ${part}.${padding}`,
      tells: [],
      next({ summaries: made, fill, acts }) {
        const beat = begins[acts];
        if (beat) return beat;
        if (acts > 400) return undefined;
        if (pastes && part === 1) return fill < 0.715 && made === 0 ? work() : undefined;
        return made < due || acts < begins.length + 2 ? work() : undefined;
      },
    };
  });
  const pasted = told(`Look at this too:${talk(Math.round(window / 3))}`, []);
  const turns = pastes ? [...planting, ...working.slice(0, 1), pasted, ...working.slice(1)] : [...planting, ...working];

  return {
    items,
    turns,
    files: {
      "notes.txt": Array.from({ length: LINES }, (_, at) => `${fillerLine(at)}\n`).join(""),
      [changed.sentence]: `The ${changed.word} is old.\n`,
      [changedLater.sentence]: `The ${changedLater.word} is old.\n`,
      [seen.sentence]: "Nothing new.\n",
      [`${watched.word}.log`]: "Watched.\n",
      "check-1.log": `${findings[0]?.sentence}\n`,
      "check-2.log": `${findings[1]?.sentence}\n`,
    },
  };
}

function stateAt({ states = [] }: Item, at: number): State {
  return (states[at] ?? states.at(-1)) as State;
}

/** Returns a number of filler tokens after a line end. */
function talk(tokens: number): string {
  const lines = Array.from({ length: Math.ceil(tokens / WORDS_OF_A_LINE) }, (_, at) => fillerLine(at * 7 + 3));
  return `\n${lines
    .join("\n")
    .slice(0, tokens * 4)
    .trimEnd()}`;
}

/** Returns 19 words and a line end; four characters per token. The first few thousand lines are all different. */
function fillerLine(at: number): string {
  return Array.from(
    { length: WORDS_OF_A_LINE },
    (_, word) => FILLER[(at * (word + 1) + word * word) % FILLER.length],
  ).join(" ");
}
