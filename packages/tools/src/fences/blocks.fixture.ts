import { type Fence, FenceParser } from "./index.ts";

/** A block, as the parser reported it. */
export interface Block extends Fence {
  readonly text: string;
  /** Undefined while more text of the block may come. */
  readonly end: "closed" | "unclosed" | undefined;
}

type Growing = { -readonly [Key in keyof Block]: Block[Key] };

/** Records what a parser reports. Throws on an impossible order of reports. */
export class Recorder {
  readonly blocks: Growing[] = [];
  /** The number of calls of `text`. */
  texts = 0;
  readonly #parser = new FenceParser({
    opened: (fence) => {
      const last = this.blocks.at(-1);
      if (last && last.end !== "closed") throw new Error("A block opened inside a block.");
      this.blocks.push({ ...fence, text: "", end: undefined });
    },
    text: (text) => {
      this.texts += 1;
      this.#open().text += text;
    },
    closed: () => {
      this.#open().end = "closed";
    },
    unclosed: () => {
      this.#open().end = "unclosed";
    },
  });

  push(...pieces: readonly string[]): this {
    for (const piece of pieces) this.#parser.push(piece);
    return this;
  }

  end(): readonly Block[] {
    this.#parser.end();
    return this.blocks;
  }

  #open(): Growing {
    const last = this.blocks.at(-1);
    if (!last || last.end !== undefined) throw new Error("No block is open.");
    return last;
  }
}

/** Parses a text that arrives in these pieces. */
export function blocksOf(...pieces: readonly string[]): readonly Block[] {
  return new Recorder().push(...pieces).end();
}

/** Returns the blocks that the parser should find. Applies the rules as regular expressions to whole lines. */
export function expectedBlocks(text: string): readonly Block[] {
  const blocks: Growing[] = [];
  for (const [index, whole] of text.split(/(?<=\n|\r(?!\n))/).entries()) {
    const line = whole.replace(/[\r\n]+$/, "");
    const open = blocks.at(-1)?.end === undefined ? blocks.at(-1) : undefined;
    if (open) {
      const closes = new RegExp(`^ {0,3}${open.marker}{${open.length},}[ \\t]*$`).test(line);
      if (closes) open.end = "closed";
      else open.text += whole.replace(new RegExp(`^ {0,${open.indent}}`), "");
      continue;
    }
    const match = /^( {0,3}|[-+*] | [-+*] |[-+*] {2}|\d[.)] )(`{3,}(?=[^`]*$)|~{3,})(.*)$/s.exec(line);
    if (!match) continue;
    const [, lead = "", markers = "", rest = ""] = match;
    const marker = markers.startsWith("~") ? "~" : "`";
    const info = rest.replace(/^[ \t]+/, "").replace(/[ \t]+$/, "");
    const fence = { line: index + 1, marker, length: markers.length, indent: lead.length, info } as const;
    blocks.push({ ...fence, text: "", end: undefined });
  }
  const last = blocks.at(-1);
  if (last && last.end === undefined) last.end = "unclosed";
  return blocks;
}
