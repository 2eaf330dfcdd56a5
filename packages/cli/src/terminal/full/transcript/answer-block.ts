import type { QuietPart } from "@banyan/client/display";
import type { ChangeDraft } from "@banyan/core/conversation";
import { problemLines } from "../../../show/call-line.ts";
import { PlainText } from "../../../show/plain-text.ts";
import { MarkdownStream } from "../markdown/markdown-stream.ts";
import type { BlockLines, BlockLook, TranscriptBlock } from "./block.ts";

/** Shows a model's streaming text. */
export class AnswerBlock implements TranscriptBlock {
  readonly author = "agent";
  readonly #plain = new PlainText();
  readonly #stream = new MarkdownStream();
  /** New problems of files with the blocks so far, by path. */
  readonly #problems = new Map<string, readonly string[]>();
  hasBegun = false;
  #ended = false;
  #shownEnd = false;

  get isDone(): boolean {
    return this.#shownEnd;
  }

  /** Models often begin or write only white space before a call: such an answer is empty. */
  get quiet(): QuietPart | "open" | undefined {
    if (this.hasBegun) return undefined;
    return this.#ended ? { type: "empty" } : "open";
  }

  push(text: string): void {
    const plain = this.#plain.push(text);
    // Models often begin with line ends, which would leave a gap.
    const begun = this.hasBegun ? plain : plain.replace(/^\s*\n/, "").replace(/^\s+$/, "");
    this.hasBegun ||= begun !== "";
    this.#stream.push(begun);
  }

  /** The current or next code block is a file change of the model, or earlier blocks of a file would make new problems. */
  capture(draft: ChangeDraft): void {
    if (draft.problems) this.#problems.set(draft.path, draft.problems);
    else this.#stream.capture(draft);
  }

  end(): void {
    this.#ended = true;
    this.#stream.end();
  }

  show(look: BlockLook): BlockLines {
    this.#shownEnd = this.#ended;
    // The report about the made changes repeats the problems that remain.
    const problems = this.#ended ? [] : problemLines([...this.#problems.values()].flat(), look.theme, look.width);
    const { finished, open } = this.#stream.show(look.width, Math.max(1, look.room - problems.length), look);
    return { finished, open: [...open, ...problems] };
  }
}
