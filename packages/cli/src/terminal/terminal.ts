import type { FilledField, QuestionField } from "@banyan/core/conversation";
import { slashIn } from "@banyan/core/shown";
import type { Style } from "../show/style.ts";
import type { Copied } from "./clipboard.ts";
import type { Decided, Decision } from "./decision.ts";
import type { LiveTerminal } from "./full/live-terminal.ts";

/**
 * Where a person sits. What is written stays: nothing of it is touched again. Between `read` and `ask` the person may
 * type ahead; none of it is lost.
 */
export interface Terminal {
  readonly style: Style;
  /** Characters in a line, as it is now. */
  readonly columns: number;
  /** Whether choices are offered as numbers rather than letters (T39). */
  readonly numbered: boolean;
  /** It was given back: nobody is there any more. */
  readonly isClosed: boolean;
  /** Shows text after what is there. Text of a model or a tool must be plain by then (S12). */
  write(text: string): void;
  /** Begins a new line, unless at the beginning of one. */
  freshLine(): void;
  /**
   * Asks for a message, or takes one that was typed ahead. Ctrl-C clears what is typed into the history; on an empty
   * prompt, twice within two seconds, it leaves, as Ctrl-D does (T4, T5, T6). Returns nothing when the person leaves.
   */
  read(request: MessageRequest): Promise<string | undefined>;
  /**
   * Asks for one line that decides something. What was typed before the question appeared is no answer (S14). Returns
   * nothing when the person interrupts or leaves, or when the signal aborts.
   */
  ask(question: Question): Promise<string | undefined>;
  /**
   * Lets a person decide something. What was typed before it appeared decides nothing, nor does Enter alone (S14). Returns
   * nothing when the person interrupts or leaves, or when the signal aborts.
   */
  decide(decision: Decision): Promise<Decided | undefined>;
  /**
   * Lets a person fill in a form. What was typed before it appeared fills in nothing, nor does Enter alone (S14). Returns
   * nothing when the person interrupts or leaves, or when the signal aborts.
   */
  fill(form: Form): Promise<Filled | undefined>;
  /** What else it can do, when it redraws its last lines; then things are written while something is asked. */
  readonly live?: LiveTerminal;
  /** Puts a text into the person's clipboard, where that can be reached, without what would control a terminal. */
  copy(text: string): Promise<Copied>;
  /** As if Ctrl-C had been pressed. */
  interrupt(): void;
  /** Gives the terminal back as it was. What is asked for now or later has no answer. */
  close(): void;
}

export interface MessageRequest {
  readonly prompt: string;
  /** What stands there to be edited. */
  readonly initial?: string;
  /** Takes the request back. A terminal with `live` needs none: it asks other things beside it. */
  readonly signal?: AbortSignal;
}

export interface Question extends MessageRequest {
  /** The same question was shown before and is asked once more: what is typed now is about it. */
  readonly again?: boolean;
  /** Called when another text stands there, where that can be known before the line is ended. */
  onDraft?(text: string): void;
  /** Called when the person goes back to what was asked before: nobody is interrupted then. Absent: there is nothing before. */
  onBack?(): void;
  /** Asked over what is asked already, and not after it. */
  readonly isOver?: boolean;
  /** The text is that of a file of this name: an editor of the person's own may show it as such. */
  readonly file?: string;
}

export interface TerminalOptions {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly style: Style;
  readonly env: NodeJS.ProcessEnv;
  /**
   * Called for a message that was typed while nobody asked for one; with `later`, it was ended with Alt+Enter. Returns
   * whether it was taken; else it waits for the next prompt.
   */
  onTyped(message: string, later: boolean): boolean;
  /** Called for Ctrl-C when it is not about what is being typed. */
  onInterrupt(): void;
  /** Called for a key that is about the conversation. */
  onAction?(action: TalkAction): void;
  /** Called when what was written, and is not taken by `read` or `onTyped` yet, is another text. */
  onDraft?(text: string): void;
}

/**
 * What a key can want of a conversation: to change what runs without asking, the list of sub-agents, what waited last for
 * the agent back into the prompt, or the tree at the last own message.
 */
export type TalkAction = "approval-mode" | "agents" | "take-back" | "rewind";

/** Milliseconds without a key after which what is typed next can be an answer. */
export const QUIET = 300;

/** Milliseconds within which lines that arrive are one paste, where the terminal does not mark it. */
export const PASTE_PAUSE = 20;

/** Milliseconds within which a second Ctrl-C leaves. */
export const LEAVE_WITHIN = 2_000;

export const LEAVE_HINT = "Press Ctrl-C again to exit";

/** Returns a line that is a command, and nothing for a message (T50). `?` alone asks for the keys (T54). */
export function commandLine(line: string): string | undefined {
  if (line.trim() === "?") return "/keys";
  return slashIn(line) && line;
}

/** Things that a person is asked at once, each with choices and room for words. Nothing of it may hide on a terminal (S12). */
export interface Form {
  /** Who asks, on one line. */
  readonly title: string;
  /** What it is about. */
  readonly text: string;
  /** One alone may have an empty heading. */
  readonly fields: readonly QuestionField[];
  /** Labels that are chosen already, field by field. */
  readonly chosen?: readonly (readonly string[])[];
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
