import { type FilledField, slashIn } from "@banyan/client/words";
import type { QuestionField } from "@banyan/core/conversation";

export interface MessageRequest {
  readonly prompt: string;
  readonly initial?: string;
  /** Cancels the request. Not needed in a `live` terminal, which asks other questions at the same time. */
  readonly signal?: AbortSignal;
}

export interface TerminalQuestion extends MessageRequest {
  /** True if the same question was shown before. Text that was typed before it appears is then used. */
  readonly again?: boolean;
  /** The question's place among the waiting questions, such as `1 of 3`; empty if no other question waits. */
  place?(): string;
  /** Called when the text changes, if the terminal supports that. */
  onDraft?(text: string): void;
  /** Called when the user goes back to the previous question, which interrupts nothing. Absent without one. */
  onBack?(): void;
  /** True to open the question above the current question instead of after it. */
  readonly isOver?: boolean;
  /** Name of the file that the text belongs to, for the user's own editor. */
  readonly file?: string;
}

/** Questions for the user with choices and text, asked together. No character may be hidden (S12). */
export interface Form {
  readonly title: string;
  readonly text: string;
  /** A single field may have an empty heading. */
  readonly fields: readonly QuestionField[];
  /** Initially selected labels, by field. */
  readonly chosen?: readonly (readonly string[])[];
  /** Initial texts, by field. */
  readonly begun: readonly string[];
  /** The question's place among the waiting questions, such as `1 of 3`; empty if no other question waits. */
  place?(): string;
  /** Called when a field's text changes, if the terminal supports that. */
  onWords?(field: number, words: string): void;
  /** True if the same form was shown before. Keys that were typed before it appears are then used. */
  readonly again?: boolean;
  readonly signal?: AbortSignal;
}

/** Returns the title of a question, after its place among several waiting questions. */
export function placedTitle(title: string, { place }: Pick<Form, "place">): string {
  const at = place?.() ?? "";
  return at === "" ? title : `${at} · ${title}`;
}

/** Returns the line if it is a command; undefined for a message (T50). A lone `?` shows the keys (T54). */
export function commandLine(line: string): string | undefined {
  if (line.trim() === "?") return "/keys";
  return slashIn(line) && line;
}

/** The answers to a {@link Form}, in the order of its fields. */
export type FilledForm = readonly FilledField[];
