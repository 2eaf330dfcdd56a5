import type { Part } from "@banyan/core";
import { type Fence, type FenceListener, FenceParser } from "../../fences/index.ts";
import { type Addressee, type BlockAddress, type BlockTarget, parseBlockAddress } from "./address.ts";

/** A code block of a message whose address names a file. */
export interface FileBlock<File extends Addressee> {
  /** The name in errors: `block 2 (ts:10:14)`. */
  readonly name: string;
  readonly file: File;
  readonly target: BlockTarget;
  /** Every line ends with LF. */
  readonly text: string;
}

/** The code blocks of a message, by what they name. */
export interface CapturedBlocks<File extends Addressee> {
  readonly blocks: readonly FileBlock<File>[];
  /** Files whose blocks are invalid, with the reason. */
  readonly wrong: readonly { readonly file: File; readonly why: string }[];
  /** Reasons why the target of a block is unclear. If there are any, no block of the message may be applied. */
  readonly doubts: readonly string[];
  /** The number of code blocks without an address. */
  readonly plain: number;
}

/** Receives the blocks for files while they arrive. */
export interface CaptureListener<File extends Addressee> {
  /** Gets the next text of a block; empty at the start. `index` counts the blocks of the file, from 0. */
  grew(file: File, index: number, target: BlockTarget, text: string): void;
  /** A block for the file is complete. */
  closed(file: File, index: number): void;
}

interface OpenBlock<File extends Addressee> {
  readonly fence: Fence;
  readonly address: BlockAddress<File>;
  readonly number: number;
  readonly behind: number;
  /** The likely target while the block arrives, and its index among the blocks of its file, from 0. */
  readonly shown: { readonly file: File; readonly target: BlockTarget; readonly index: number } | undefined;
  readonly pieces: string[];
}

/** Finds code blocks that name a file in one message, while the message arrives (B27 to B30). */
export class Capture<File extends Addressee> implements FenceListener {
  readonly #files: readonly File[];
  readonly #listener: CaptureListener<File> | undefined;
  readonly #parser = new FenceParser(this);
  readonly #addressed: OpenBlock<File>[] = [];
  readonly #plain: OpenBlock<File>[] = [];
  readonly #counts = new Map<File, number>();
  #open: OpenBlock<File> | undefined;
  #unclosed: OpenBlock<File> | undefined;

  constructor(files: readonly File[], listener?: CaptureListener<File>) {
    this.#files = files;
    this.#listener = listener;
  }

  /** Adds the next piece of the message's text. A piece may end anywhere. */
  push(piece: string): void {
    this.#parser.push(piece);
  }

  /** Ends a text part of the message. Readers see a new paragraph after a part. */
  endPart(text: string): void {
    const closes = this.#open && closerOf(this.#open.fence).test(text);
    if (!this.#open || closes) this.#parser.push("\n");
  }

  /** Ends the message. `push` must not be called afterwards. */
  end(): CapturedBlocks<File> {
    this.#parser.end();
    const file = this.#wholeFile();
    if (file && this.#addressed.length === 0) return this.#endWhole(file);
    const wrong: { file: File; why: string }[] = [];
    const doubts: string[] = [];
    const blocks: FileBlock<File>[] = [];
    for (const block of this.#addressed) {
      const { address } = block;
      const name = blockName(block.number, block.fence);
      if (block === this.#unclosed) doubts.push(`${name} is not closed`);
      else if (address.type === "target") blocks.push({ name, ...address, text: fileBlockText(block) });
      else if (address.type === "wrong" && address.file)
        wrong.push({ file: address.file, why: `${name} ${address.why}` });
      else if (address.type === "wrong") doubts.push(`${name} ${address.why}`);
      const later = this.#plain.filter(({ behind }) => behind >= block.number);
      if (this.#mayHaveEndedEarly(block, later)) doubts.push(endedEarly(name, block.fence));
    }
    return { blocks, wrong, doubts, plain: this.#plain.length };
  }

  opened(fence: Fence): void {
    const address = parseBlockAddress(fence.info, this.#files);
    const among = address.type === "none" ? this.#plain : this.#addressed;
    const target = address.type === "none" ? this.#assumedTarget() : address.type === "target" ? address : undefined;
    const index = target ? (this.#counts.get(target.file) ?? 0) : 0;
    if (target) this.#counts.set(target.file, index + 1);
    const shown = target && { ...target, index };
    this.#open = { fence, address, number: among.length + 1, behind: this.#addressed.length, shown, pieces: [] };
    among.push(this.#open);
    this.#show(this.#open, "");
  }

  text(text: string): void {
    if (!this.#open) return;
    this.#open.pieces.push(text);
    this.#show(this.#open, text);
  }

  closed(): void {
    const { shown } = this.#open ?? {};
    this.#open = undefined;
    if (shown) this.#listener?.closed(shown.file, shown.index);
  }

  /** Returns the complete blocks of a file so far, each with its likely target. */
  closedBlocks(file: File): FileBlock<File>[] {
    return [...this.#addressed, ...this.#plain].flatMap((block) => {
      const { shown, number, fence } = block;
      if (shown?.file !== file || block === this.#open) return [];
      return [{ name: blockName(number, fence), file, target: shown.target, text: fileBlockText(block) }];
    });
  }

  unclosed(): void {
    this.#unclosed = this.#open;
  }

  #show({ shown }: OpenBlock<File>, text: string): void {
    if (shown) this.#listener?.grew(shown.file, shown.index, shown.target, text);
  }

  /** Returns the file that needs no address: a single file in mode complete. */
  #wholeFile(): File | undefined {
    const [only, ...more] = this.#files;
    return only?.mode === "complete" && more.length === 0 ? only : undefined;
  }

  /** Returns the target of a block without an address: the whole file, while no other block follows. */
  #assumedTarget(): { file: File; target: BlockTarget } | undefined {
    const file = this.#wholeFile();
    const isFirst = this.#addressed.length === 0 && this.#plain.length === 0;
    return file && isFirst ? { file, target: { type: "complete" } } : undefined;
  }

  #endWhole(file: File): CapturedBlocks<File> {
    const none = { blocks: [], wrong: [], doubts: [], plain: 0 };
    const [only, ...more] = this.#plain;
    if (only === undefined) return none;
    const name = blockName(1, only.fence);
    if (this.#mayHaveEndedEarly(only, more)) return { ...none, doubts: [endedEarly(name, only.fence)] };
    if (more.length > 0) {
      const why = `there are ${this.#plain.length} fences, and none is marked as the file`;
      return { ...none, wrong: [{ file, why }] };
    }
    if (this.#unclosed) return { ...none, doubts: [`${name} is not closed`] };
    return { ...none, blocks: [{ name, file, target: { type: "complete" }, text: fileBlockText(only) }] };
  }

  /**
   * Returns whether a fence inside its text may have ended the block too early. A later fence without info, which could
   * also be a closing fence, makes that possible. For Markdown files this is enough. For other files, the block must
   * also contain an opening fence, and the message must end inside the later fence.
   */
  #mayHaveEndedEarly({ fence, pieces, shown }: OpenBlock<File>, later: readonly OpenBlock<File>[]): boolean {
    const { marker, length } = fence;
    const following = later.filter(
      ({ fence: other }) => other.info === "" && other.marker === marker && other.length >= length,
    );
    if (following.length === 0 || !shown) return false;
    if (isMarkdown(shown.file.path)) return true;
    const opening = new RegExp(`^ {0,3}${marker}{${length},}[ \\t]*[^\\s${marker}]`, "m");
    return following.some((block) => block === this.#unclosed) && opening.test(pieces.join(""));
  }
}

/** Returns whether a path is that of a Markdown file, in which fences are normal text. */
export function isMarkdown(path: string): boolean {
  return /\.(md|markdown|mdx|rmd|qmd)$/i.test(path);
}

/** Returns the code blocks in the text parts of a message. */
export function captureMessage<File extends Addressee>(
  parts: readonly Part[],
  files: readonly File[],
): CapturedBlocks<File> {
  const capture = new Capture(files);
  for (const part of parts) {
    if (part.type !== "text") continue;
    capture.push(part.text);
    capture.endPart(part.text);
  }
  return capture.end();
}

function blockName(number: number, { info }: Fence): string {
  const shown = info.length > 80 ? `${info.slice(0, 80)}...` : info;
  return shown === "" ? `block ${number}` : `block ${number} (${shown})`;
}

function fileBlockText({ pieces }: OpenBlock<Addressee>): string {
  return pieces.join("").replaceAll("\r\n", "\n").replace(/\r$/, "\n");
}

function endedEarly(name: string, { marker, length }: Fence): string {
  return `${name} may have ended at a fence inside its text; write ${marker.repeat(length + 1)} around it`;
}

function closerOf({ marker, length }: Fence): RegExp {
  return new RegExp(`(?:^|\\n) {0,3}${marker}{${length},}[ \\t]*$`);
}
