import type { Style } from "../../show/style.ts";
import type { CopyOutcome } from "../questions/clipboard.ts";
import type { DecisionRequest, DecisionResult } from "../questions/decision.ts";
import type { FilledForm, Form, MessageRequest, TerminalQuestion } from "../questions/question.ts";
import type { LiveTerminal } from "./live-terminal.ts";

/** The user's terminal. Printed text never changes. The user may type ahead between `read` and `ask`. */
export interface Terminal {
  readonly style: Style;
  readonly columns: number;
  /** True if choices are numbers instead of letters (T39). */
  readonly numbered: boolean;
  readonly isClosed: boolean;
  /** Appends text. Text of a model or tool must be free of control characters (S12). */
  write(text: string): void;
  freshLine(): void;
  /**
   * Reads a message, also one that was typed ahead. Ctrl-C moves the typed text into the history; twice within two
   * seconds on an empty prompt it leaves, as Ctrl-D does (T4, T5, T6). Resolves with undefined if the user leaves.
   */
  read(request: MessageRequest): Promise<string | undefined>;
  /**
   * Reads one line for a decision. Resolves with undefined if the user interrupts or leaves, or the signal aborts. For
   * this, `decide` and `fill`, input typed before the question does not count (S14).
   */
  ask(question: TerminalQuestion): Promise<string | undefined>;
  /** Lets the user decide. Enter alone does not decide (S14). Resolves like `ask`. */
  decide(decision: DecisionRequest): Promise<DecisionResult | undefined>;
  /** Lets the user fill in a form. Enter alone does not fill it in (S14). Resolves like `ask`. */
  fill(form: Form): Promise<FilledForm | undefined>;
  /**
   * The terminal, if it redraws its last lines. Absent for other terminals. Output can then appear during a question.
   */
  readonly live?: LiveTerminal;
  /** Copies a text, without control characters, to the user's clipboard, if one is accessible. */
  copy(text: string): Promise<CopyOutcome>;
  interrupt(): void;
  /** Restores the terminal. Pending and later questions have no answer. */
  close(): void;
}

export interface TerminalOptions {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly style: Style;
  readonly env: NodeJS.ProcessEnv;
  /** Called for a message without a request; `later`: with Alt+Enter. If false, it answers the next request. */
  onTyped(message: string, later: boolean): boolean;
  /** Called for Ctrl-C that does not concern the typed text. */
  onInterrupt(): void;
  /** Called for a key with an action on the conversation. */
  onAction?(action: TalkAction): void;
  onDraft?(text: string): void;
}

/**
 * Actions of keys on a conversation. They change the approval mode, list the sub-agents, withdraw the last queued
 * message, or open the tree at the user's last message.
 */
export type TalkAction = "approval-mode" | "agents" | "take-back" | "rewind";

/** Milliseconds without a key press that must pass before keys can answer a new question. */
export const QUIET = 300;

/** Milliseconds within which lines form one paste, if the terminal does not mark pastes. */
export const PASTE_PAUSE = 20;

/** Milliseconds within which a second Ctrl-C leaves the program. */
export const LEAVE_WITHIN = 2_000;

export const LEAVE_HINT = "Press Ctrl-C again to exit";
