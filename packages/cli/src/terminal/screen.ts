/** The writing half of a terminal: knows whether it stands at the beginning of a line. */
export class Screen {
  readonly #output: NodeJS.WriteStream;
  #atLineStart = true;

  constructor(output: NodeJS.WriteStream) {
    this.#output = output;
  }

  get columns(): number {
    return this.#output.columns || 80;
  }

  write(text: string): void {
    if (text === "") return;
    this.#output.write(text);
    this.#atLineStart = text.endsWith("\n");
  }

  /** Tells the terminal something that shows nothing. */
  send(bytes: string): void {
    this.#output.write(bytes);
  }

  freshLine(): void {
    if (!this.#atLineStart) this.write("\n");
  }

  /** What was typed ended with Enter, which the terminal has shown. */
  enterPressed(): void {
    this.#atLineStart = true;
  }
}
