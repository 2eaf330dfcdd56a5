/** What a fence says where it opens a block. */
export interface Fence {
  /** Of the opening fence in the text, 1-based. */
  readonly line: number;
  readonly marker: "`" | "~";
  /** How many markers there are, at least 3. What closes the block has at least as many. */
  readonly length: number;
  /** The columns before the fence, 0 to 3. As many spaces are taken from the beginning of each line of the block. */
  readonly indent: number;
  /** What follows the markers, without spaces and tabs around it; otherwise as it was written, escapes and all. */
  readonly info: string;
}

/**
 * Hears of fenced blocks as they arrive: `opened`, `text` any number of times, and at last either `closed` or
 * `unclosed`; then perhaps the next block. What a listener throws comes out of the parser, which is then of no more use.
 */
export interface FenceListener {
  opened(fence: Fence): void;
  /** What came next of the block. All of it, put together, is the block's text with its line ends, also the last one. */
  text(text: string): void;
  closed(): void;
  /** The text ended inside the block. */
  unclosed(): void;
}
