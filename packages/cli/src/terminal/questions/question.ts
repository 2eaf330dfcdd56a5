import { type FilledField, slashIn } from "@banyan/client/words";
import type { QuestionField } from "@banyan/core/conversation";

export interface MessageRequest {
  readonly prompt: string;
  /** Initial text. */
  readonly initial?: string;
  /** Cancels the request. Not needed with `live`, which asks other questions at the same time. */
  readonly signal?: AbortSignal;
}

export interface TerminalQuestion extends MessageRequest {
  /** The same question was shown before and is asked once more: what is typed now is about it. */
  readonly again?: boolean;
  /** Called when the text changes, if the terminal can tell. */
  onDraft?(text: string): void;
  /** Called when the user goes back to the previous question, which interrupts nothing. Absent without a previous question. */
  onBack?(): void;
  /** Opens above the present question instead of after it. */
  readonly isOver?: boolean;
  /** Name of the file that the text belongs to, for the user's own editor. */
  readonly file?: string;
}

/** Questions for the user with choices and text, asked together. No character may be hidden (S12). */
export interface Form {
  /** The requester, on one line. */
  readonly title: string;
  /** Introduction. */
  readonly text: string;
  /** A single field may have an empty heading. */
  readonly fields: readonly QuestionField[];
  /** Initially selected labels, by field. */
  readonly chosen?: readonly (readonly string[])[];
  /** Initial texts, by field. */
  readonly begun: readonly string[];
  /** Called when a field's text changes, if the terminal can tell. */
  onWords?(field: number, words: string): void;
  /** The same form again: keys typed before it appears count. */
  readonly again?: boolean;
  /** Cancels the form. */
  readonly signal?: AbortSignal;
}

/** Returns the line if it is a command; undefined for a message (T50). A lone `?` shows the keys (T54). */
export function commandLine(line: string): string | undefined {
  if (line.trim() === "?") return "/keys";
  return slashIn(line) && line;
}

/** The answers, by field. */
export type FilledForm = readonly FilledField[];
