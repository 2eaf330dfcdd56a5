import type { Terminal } from "../../terminal/contract/terminal.ts";

interface PromptLine {
  readonly prompt: string;
  readonly initial: string;
}

export interface UserQuestionsOptions {
  readonly terminal: Terminal;
  /** Returns whether the agent works on the user's branch. */
  isWorking(): boolean;
  /** True if the user can leave while the agent continues to work. */
  readonly mayLeave: boolean;
  prompted(isWorking: boolean): PromptLine;
}

/**
 * Asks the user for lines, and asks the agent's questions, while other clients may start or answer the agent. A full
 * terminal shows both at once. A plain terminal asks one thing at a time: a question takes the prompt back.
 */
export class UserQuestions {
  readonly #options: UserQuestionsOptions;
  #wake: (() => void) | undefined;
  /** Takes back the prompt of a plain terminal. */
  #reading: AbortController | undefined;
  #asked: Promise<void> = Promise.resolve();
  #doing: Promise<unknown> = Promise.resolve();
  #isOver = false;

  constructor(options: UserQuestionsOptions) {
    this.#options = options;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Reads a line once no question is open and the agent rests. Returns undefined when the user leaves. A plain terminal
   * notices leaving only while it reads, so it also reads, without a prompt, while the agent works if the user may
   * leave.
   */
  async read(): Promise<string | undefined> {
    const { terminal, isWorking, mayLeave, prompted } = this.#options;
    while (!this.#isOver) {
      if (terminal.live || !mayLeave) await this.#rest();
      await this.#answered();
      if (this.#isOver) break;
      this.#reading = new AbortController();
      const { signal } = this.#reading;
      const line = await terminal.read({ ...prompted(isWorking()), signal });
      this.#reading = undefined;
      if (line !== undefined || !signal.aborted) return line;
    }
    return undefined;
  }

  /** Waits for the work of a line before the next question is asked. */
  doing<Done>(work: Promise<Done>): Promise<Done> {
    this.#doing = work;
    return work;
  }

  ask(question: () => Promise<void>): void {
    const { live } = this.#options.terminal;
    // A plain terminal takes the prompt back, and asks the questions of a command first.
    if (!live) this.#reading?.abort();
    this.#asked = live ? question() : this.#doing.then(question, question);
  }

  /** The agent has stopped working. A plain terminal shows the prompt again below the answer. */
  rested(): void {
    this.#wake?.();
    if (!this.#options.terminal.live) this.#reading?.abort();
  }

  /** The user leaves. Their last line is still carried out. */
  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  /** Resolves when no question is open. New questions may arrive meanwhile. */
  async #answered(): Promise<void> {
    for (let request: unknown; request !== this.#asked; ) {
      request = this.#asked;
      await request;
    }
  }

  async #rest(): Promise<void> {
    while (this.#options.isWorking() && !this.#isOver)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }
}
