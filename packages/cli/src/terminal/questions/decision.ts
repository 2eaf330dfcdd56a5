import type { CodePaint } from "../full/markdown/look.ts";

/** A question that the user answers with one of several choices. */
export interface DecisionRequest {
  /** The party that asks, and its request, on one line. */
  readonly title: string;
  /** The subject of the decision, complete and without hidden characters (S12). */
  readonly body: readonly string[];
  /** The body with syntax highlighting, if the terminal has colours. */
  painted?(paint: CodePaint): readonly string[];
  /** The title to show if the question fills the whole screen. */
  readonly name?: string;
  /** True for a decision about a call. The user can then also change the approval mode by a key. */
  readonly asksLess?: boolean;
  readonly question: string;
  readonly choices: readonly DecisionChoice[];
  /** True if cancelling stops the agent. */
  readonly stops?: boolean;
  /** A choice whose text is unfinished. Unless `again`, this choice is selected at the start. */
  readonly begun?: DecisionResult;
  /** Called when the text of a choice changes, if the terminal supports that. */
  onBegun?(begun: DecisionResult): void;
  /** The question's place among the waiting questions, such as `1 of 3`; empty if no other question waits. */
  place?(): string;
  /** True if the same question was shown before. Keys that were typed before it appears are then used. */
  readonly again?: boolean;
  readonly signal?: AbortSignal;
}

/** A choice of a {@link DecisionRequest}. */
export interface DecisionChoice {
  readonly key: string;
  readonly text: string;
  /** Short text for small screens. */
  readonly brief?: string;
  /** True if the choice has a lasting effect. Its text is then always shown in full. */
  readonly holdsOn?: boolean;
  /** Label of an optional text, such as `Why`. */
  readonly takesWords?: string;
}

/** The choice that the user made. */
export interface DecisionResult {
  readonly key: string;
  /** Text that the user typed with the choice. */
  readonly words?: string;
}
