import type { FilledField, QuestionField } from "@banyan/core/conversation";

/** Things that a person is asked at once, each with choices and room for words. Nothing of it may hide on a terminal (S12). */
export interface Form {
  /** Who asks, on one line. */
  readonly title: string;
  /** What it is about. */
  readonly text: string;
  readonly fields: readonly QuestionField[];
  /** Words that stand there, field by field. */
  readonly begun: readonly string[];
  /** Called when the words of a field are others, where that can be known before they are ended. */
  onWords?(field: number, words: string): void;
  /** The same was shown before and is asked once more: what is typed now is about it. */
  readonly again?: boolean;
  /** Takes the question back. */
  readonly signal?: AbortSignal;
}

/** What was filled in, field by field. */
export type Filled = readonly FilledField[];
