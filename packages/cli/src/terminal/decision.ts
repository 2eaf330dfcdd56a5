import type { CodePaint } from "./full/markdown/look.ts";

/** Something that a person decides. */
export interface Decision {
  /** Who asks for what, on one line. */
  readonly title: string;
  /** What is to be judged, in full. Nothing of it may hide on a terminal (S12). */
  readonly body: readonly string[];
  /** The same in the colours of its languages, where the terminal has them. */
  painted?(paint: CodePaint): readonly string[];
  /** What it is called when it has the whole screen. */
  readonly name?: string;
  /** It is about a call: what is asked at all can be changed instead. */
  readonly asksLess?: boolean;
  readonly question: string;
  readonly choices: readonly Choice[];
  /** Who does not decide stops the agent. */
  readonly stops?: boolean;
  /** A choice with the words that were typed so far: they stand there, and, unless asked again, with the choice made. */
  readonly begun?: Decided;
  /** Called when the words that are typed with a choice are others, where that can be known before they are ended. */
  onBegun?(begun: Decided): void;
  /** The same was shown before and is asked once more: what is typed now is about it. */
  readonly again?: boolean;
  /** Takes the question back. */
  readonly signal?: AbortSignal;
}

/** One way to decide it. */
export interface Choice {
  /** A letter. */
  readonly key: string;
  readonly text: string;
  /** The same in a word or two, where there is little room. */
  readonly brief?: string;
  /** It decides more than this once: what it says is read to its end, however little room there is. */
  readonly holdsOn?: boolean;
  /** Words that mean it too, where lines are typed. */
  readonly words?: readonly string[];
  /** What may be said with it, as in `Why`. */
  readonly takesWords?: string;
}

/** What was decided. */
export interface Decided {
  /** The letter of the choice. */
  readonly key: string;
  /** What was said with it. */
  readonly words?: string;
}
