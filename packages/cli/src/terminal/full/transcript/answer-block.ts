import type { ChangeDraft } from "@banyan/core/conversation";
import { PlainText } from "../../../show/plain-text.ts";
import { MarkdownStream } from "../markdown/markdown-stream.ts";
import type { BlockLines, BlockLook, TranscriptBlock } from "./block.ts";

/** Shows a model's streaming text. */
export class AnswerBlock implements TranscriptBlock {
  readonly isApart = true;
  readonly #plain = new PlainText();
  readonly #stream = new MarkdownStream();
  hasBegun = false;
  #ended = false;
  #shownEnd = false;

  get isDone(): boolean {
    return this.#shownEnd;
  }

  push(text: string): void {
    const plain = this.#plain.push(text);
    // Models often begin with line ends, which would leave a gap.
    const begun = this.hasBegun ? plain : plain.replace(/^\s*\n/, "").replace(/^\s+$/, "");
    this.hasBegun ||= begun !== "";
    this.#stream.push(begun);
  }

  /** The current or next code block is a file change of the model. */
  capture(draft: ChangeDraft): void {
    this.#stream.capture(draft);
  }

  end(): void {
    this.#ended = true;
    this.#stream.end();
  }

  show(look: BlockLook): BlockLines {
    this.#shownEnd = this.#ended;
    return this.#stream.show(look.width, look.room, look);
  }
}
