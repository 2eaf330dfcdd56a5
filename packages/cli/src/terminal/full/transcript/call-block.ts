import { type QuietPart, quietCall } from "@banyan/client/display";
import { type Call, isEnded, toolNameOf } from "@banyan/core/conversation";
import { cutTo } from "@banyan/core/shown";
import { callWord } from "../../../show/call-line.ts";
import { changeHead, diffLines } from "../../../show/diff-lines.ts";
import { plainLine, plainText } from "../../../show/plain-text.ts";
import { callArguments } from "../overlay/call-arguments.ts";
import { callLines } from "../overlay/call-view.ts";
import type { ViewerPage } from "../overlay/overlay.ts";
import { wrapCells } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";
import type { BlockLines, BlockLook, TranscriptBlock } from "./block.ts";

/** Maximum characters of an output on its page. */
const MOST_OUTPUT = 1_000_000;

/** Shows a live or ended call as a block of the transcript, and in full as a page. */
export class CallBlock implements TranscriptBlock, ViewerPage {
  readonly author = "agent";
  #call: Call;
  #isDropped = false;
  readonly #questions = new Set<string>();
  #shownEnd = false;

  /** The call object is mutable, and read at each frame. */
  constructor(call: Call) {
    this.#call = call;
  }

  get isDone(): boolean {
    return this.#shownEnd;
  }

  get title(): string {
    return `${plainLine(toolNameOf(this.#call))}: ${callWord(this.#call)}`;
  }

  get quiet(): QuietPart | "open" | undefined {
    if (this.#isDropped) return { type: "empty" };
    const { input, status, about } = this.#call;
    if (isEnded(status)) return quietCall(this.#call);
    // The arguments show whether a call only reads.
    return input === undefined || about?.looksAt !== undefined ? "open" : undefined;
  }

  update(call: Call): void {
    this.#call = call;
  }

  asks(question: string): void {
    this.#questions.add(question);
  }

  /** Removes the question if it belongs to the call. */
  answered(question: string): void {
    this.#questions.delete(question);
  }

  /** The response with the call was abandoned: there is no such call. */
  drop(): void {
    this.#isDropped = true;
  }

  show(look: BlockLook): BlockLines {
    if (this.#isDropped || this.#shownEnd) {
      this.#shownEnd = true;
      return { finished: [], open: [] };
    }
    const lines = callLines(this.#call, { ...look, asks: this.#questions.size > 0 });
    this.#shownEnd = isEnded(this.#call.status);
    return this.#shownEnd ? { finished: lines, open: [] } : { finished: [], open: lines };
  }

  lines(width: number, theme: Theme): readonly string[] {
    const { changes = [], output, progress } = this.#call;
    const said = plainText(cutTo(output ?? progress, MOST_OUTPUT, "")).replaceAll("\t", "    ");
    return [
      theme.dim("Arguments"),
      ...callArguments(this.#call, theme).map((line) => `  ${line}`),
      ...changes.flatMap((change) => ["", changeHead(change, theme), ...diffLines(change.diff, { style: theme })]),
      "",
      theme.dim(output === undefined ? "So far" : "Result"),
      ...said.split("\n").flatMap((line) => wrapCells(line, width - 2).map((part) => `  ${part}`)),
    ];
  }
}
