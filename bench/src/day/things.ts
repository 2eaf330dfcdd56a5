import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DayProgram, Way } from "./program.ts";
import type { Screen } from "./screen.ts";
import { ASK, ASK_HERON, ASK_KITE, EDIT, ENDS, FAIL, RUN, STORY, type Wire, WORK } from "./wire.ts";

/** A running program, with its provider and folder. */
export interface Day extends AsyncDisposable {
  readonly program: DayProgram;
  readonly wire: Wire;
  readonly cwd: string;
  screen: Screen;
  /** Restarts the program with these arguments. */
  start(words: readonly string[]): Promise<void>;
}

/** The mode of a program: with or without approval prompts. */
export type How = "asking" | "free";

/** A task that users do all day. */
export interface Thing {
  readonly what: string;
  readonly how: How;
  /** Prepares the task. */
  before?(day: Day): Promise<void>;
  /** Does the task outside the program. Returns the number of keys. */
  act?(day: Day): Promise<number>;
  /** Resolves when the task is done. */
  done(day: Day): Promise<void>;
}

const DENIED_FOR = "Not so loud.";
const STEER = "Say it in French.";
const NEXT = "Then say hello.";
const PATIENCE = 30_000;
/** Milliseconds for a program to become idle after the expected text appeared. */
const PAUSE = 700;

/** Keys that are the same in all programs. */
export const TYPED = {
  ask: `${ASK}<Enter>`,
  kite: ASK_KITE,
  reason: DENIED_FOR,
  steer: STEER,
  next: NEXT,
} as const;

export const GREETING = "greeting.txt";
export const NOTES = "notes-of-the-day.md";
export const PICTURE = "dot.png";
/** The completed form of `Read @notes`. */
const WHOLE_NAME = /Read [^"]{0,40}notes-of-the-day\.md/;

const answers = {
  banyan: /branches put down roots/,
  heron: /waits in shallow water/,
  kite: /hangs in the wind/,
};

async function say({ screen }: Day, text: string, until: RegExp): Promise<void> {
  await screen.press(`${text}<Enter>`);
  await screen.shows(until);
  // The program has drawn its prompt again.
  await sleep(PAUSE);
}

/** Matches the last occurrence. */
const lastOf = (what: RegExp) => new RegExp(`${what.source}(?![^]*${what.source})`);

/** Presses the keys of a task. Returns their number. */
export async function follow({ screen, cwd }: Day, way: Way): Promise<number> {
  if ("none" in way) throw new Error(way.none);
  let keys = 0;
  for (const step of way) {
    if (typeof step !== "string") await screen.shows(step.after);
    keys += await screen.press((typeof step === "string" ? step : step.press).replaceAll("{cwd}", cwd));
  }
  return keys;
}

/** Resolves when a condition holds, checked every 10 ms. */
async function holds(what: string, isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + PATIENCE; !isSo(); await sleep(10))
    if (Date.now() > end) throw new Error(`Half a minute passed, and ${what} not.`);
}

const requested =
  (text: string) =>
  ({ wire }: Day) =>
    holds(`"${text}" was sent`, () => wire.requests.some((request) => request.includes(text)));

const greets =
  (text: string) =>
  ({ cwd }: Day) =>
    holds(`the file says "${text}"`, () => readFileSync(join(cwd, GREETING), "utf8").includes(text));

const end = (prompt: string) => new RegExp(ENDS[prompt] ?? "");

async function asked(day: Day, prompt: typeof EDIT | typeof RUN): Promise<void> {
  const { asks } = day.program;
  if (!asks) throw new Error("It never asks.");
  await say(day, prompt, prompt === EDIT ? asks.edit : asks.command);
}

async function edited(day: Day): Promise<void> {
  await say(day, EDIT, end(EDIT));
}

/** Creates a second branch of a conversation. */
async function branched(day: Day): Promise<void> {
  await say(day, ASK, answers.banyan);
  await say(day, ASK_HERON, answers.heron);
}

async function working(day: Day): Promise<void> {
  await say(day, WORK, /sleep 1; echo one/);
}

export const things = {
  ask: { what: "ask, until the answer is there", how: "asking", done: ({ screen }) => screen.shows(answers.banyan) },
  "approve an edit": {
    what: "let a change be made that is asked about",
    how: "asking",
    before: (day) => asked(day, EDIT),
    done: greets("Good evening"),
  },
  "deny an edit": {
    what: "deny a change, and say why",
    how: "asking",
    before: (day) => asked(day, EDIT),
    done: requested(DENIED_FOR),
  },
  "approve a command": {
    what: "let a command run that is asked about",
    how: "asking",
    before: (day) => asked(day, RUN),
    done: ({ screen }) => screen.shows(end(RUN)),
  },
  "approve for good": {
    what: "let a command run, and not be asked again: it is asked for a second time",
    how: "asking",
    before: (day) => asked(day, RUN),
    done: async (day) => {
      await day.screen.shows(end(RUN));
      await sleep(PAUSE);
      await day.screen.press(`${RUN}<Enter>`);
      await day.screen.shows(end(RUN), 2);
    },
  },
  "read a failure": {
    what: "see the whole output of a command that failed: line 150 of 300",
    how: "free",
    before: (day) => say(day, FAIL, end(FAIL)),
    done: ({ screen }) => screen.shows(/case 150\b/),
  },
  steer: {
    what: "say something that the agent hears in the middle of its work",
    how: "free",
    before: working,
    done: async (day) => {
      await requested(STEER)(day);
      const heard = day.wire.requests.find((request) => request.includes(STEER)) ?? "";
      if (heard.includes(ENDS[WORK] ?? "")) throw new Error("It heard it only when it had ended.");
    },
  },
  stop: {
    what: "stop an answer",
    how: "free",
    before: (day) => say(day, STORY, /Chapter 5 /),
    done: ({ screen, program }) => screen.shows(program.stopped),
  },
  queue: {
    what: "say what comes next, for when the agent has ended",
    how: "free",
    before: working,
    done: async (day) => {
      await requested(NEXT)(day);
      const heard = day.wire.requests.find((request) => request.includes(NEXT)) ?? "";
      if (!heard.includes(ENDS[WORK] ?? "")) throw new Error("It heard it before it had ended.");
    },
  },
  "come back": {
    what: "go on with the last conversation, from the shell until its answer is shown",
    how: "asking",
    before: async (day) => {
      await say(day, ASK, answers.banyan);
      await day.screen.leave(day.program.leave);
    },
    act: async (day) => {
      const { called, back, asking } = day.program;
      await day.start([...asking, ...back]);
      return `${[called, ...back].join(" ")}\n`.length;
    },
    done: ({ screen }) => screen.shows(answers.banyan),
  },
  "find a conversation": {
    what: "open the one of three conversations in which a word was said",
    how: "asking",
    before: async (day) => {
      for (const [question, answer] of [
        [ASK, answers.banyan],
        [ASK_HERON, answers.heron],
        [ASK_KITE, answers.kite],
      ] as const) {
        await say(day, question, answer);
        await day.screen.leave(day.program.leave);
        await day.start(day.program.asking);
        await day.screen.shows(day.program.ready);
        await sleep(PAUSE * 4);
      }
    },
    done: ({ screen }) => screen.shows(answers.heron),
  },
  undo: { what: "put back the files of the last turn", how: "free", before: edited, done: greets("Good morning") },
  branch: {
    what: "ask the last question in other words, as if it had not been asked",
    how: "asking",
    before: branched,
    done: async (day) => {
      await requested(ASK_KITE)(day);
      const isTurn = (request: string) => request.includes(ASK_KITE) && request.includes('"tools":[{');
      const sent = day.wire.requests.find(isTurn) ?? "";
      if (sent.includes(ASK_HERON)) throw new Error("What was asked before was sent, too.");
      await day.screen.shows(answers.kite);
    },
  },
  "the other branch": {
    what: "go back to what was said before that",
    how: "asking",
    before: async (day) => {
      await branched(day);
      await follow(day, day.program.ways.branch);
      await day.screen.shows(answers.kite);
      await sleep(PAUSE);
    },
    done: ({ screen }) =>
      screen.until("the answer of before below the new one", (text) => {
        return text.search(lastOf(answers.heron)) > text.search(lastOf(answers.kite));
      }),
  },
  picture: {
    what: "show it a picture: paste its path, and ask",
    how: "free",
    done: async (day) => {
      await requested(" what is it?")(day);
      // The mock drops images of some formats: check the program's own display.
      await day.screen.shows(/\[image/i);
    },
  },
  "name a file": {
    what: "name a file by some of its letters, and ask",
    how: "asking",
    // Some programs send a list of the folder first: the name must be in the user's text.
    done: ({ wire }) =>
      holds("the whole name was sent", () => wire.requests.some((request) => WHOLE_NAME.test(request))),
  },
  model: {
    what: "take another model, and ask it",
    how: "asking",
    done: ({ wire, program }) =>
      holds("another model was asked", () =>
        wire.requests.some((request) => request.includes(ASK) && program.other.test(JSON.parse(request).model)),
      ),
  },
  spent: {
    what: "see what has been spent",
    how: "asking",
    before: (day) => say(day, ASK, answers.banyan),
    done: ({ screen, program }) => screen.shows(program.spent),
  },
  "own command": {
    what: "run a command of one's own, and see its output",
    how: "asking",
    done: ({ screen }) => screen.shows(/own-42/),
  },
  changes: {
    what: "see what has been changed",
    how: "free",
    before: edited,
    done: ({ screen, program }) => screen.shows(program.changed),
  },
} satisfies Record<string, Thing>;

export type ThingName = keyof typeof things;
