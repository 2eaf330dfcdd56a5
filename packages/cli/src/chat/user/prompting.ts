import type { Terminal } from "../../terminal/terminal.ts";

/** The prompt that a line is asked for with, and what stands in it. */
interface Prompted {
  readonly prompt: string;
  readonly initial: string;
}

/** What the prompt is for. */
export interface PromptingOptions {
  readonly terminal: Terminal;
  /** Whether the agent works where the person looks. */
  isWorking(): boolean;
  /** Whether a person can leave while the agent works, which goes on then. */
  readonly mayLeave: boolean;
  /** What the person is asked for a line with. */
  prompted(isWorking: boolean): Prompted;
}

/**
 * What a person is asked while somebody else may make the agent work, or answer it: lines, and what the agent wants to know.
 * A terminal that redraws has room for both; in plain lines one thing is asked at a time, and a question takes the prompt back.
 */
export class Prompting {
  readonly #options: PromptingOptions;
  /** Wakes whoever waits for the run to end. */
  #wake: (() => void) | undefined;
  /** Takes back the prompt of a terminal that can ask one thing at a time. */
  #reading: AbortController | undefined;
  /** Questions that the person is asked, in their order. */
  #asked: Promise<void> = Promise.resolve();
  /** What the person does at the prompt. */
  #doing: Promise<unknown> = Promise.resolve();
  #isOver = false;

  constructor(options: PromptingOptions) {
    this.#options = options;
  }

  /** Nothing more is asked. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Asks for a line when nothing else is asked and the agent does not work; nothing when the person leaves. A terminal in
   * plain lines, which hears that they do only while it reads, reads on without a prompt where they may leave the agent at work.
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

  /** The person does something that they have typed at the prompt. */
  doing<Done>(work: Promise<Done>): Promise<Done> {
    this.#doing = work;
    return work;
  }

  /** Asks what the agent wants to know. */
  ask(question: () => Promise<void>): void {
    const { live } = this.#options.terminal;
    // Where one thing is asked at a time, the prompt is taken back, and what a command asks comes first.
    if (!live) this.#reading?.abort();
    this.#asked = live ? question() : this.#doing.then(question, question);
  }

  /** The agent has ended its work. Where nothing is redrawn, the prompt is shown anew behind what it said. */
  rested(): void {
    this.#wake?.();
    if (!this.#options.terminal.live) this.#reading?.abort();
  }

  /** The person leaves; what they did last is carried out. */
  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  /** Resolves when nothing is asked any more: while one thing is answered, another may be asked. */
  async #answered(): Promise<void> {
    for (let asked: unknown; asked !== this.#asked; ) {
      asked = this.#asked;
      await asked;
    }
  }

  /** Resolves when the agent does not work. */
  async #rest(): Promise<void> {
    while (this.#options.isWorking() && !this.#isOver)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }
}
