import { setImmediate } from "node:timers/promises";
import { Language, type Node, Parser } from "web-tree-sitter";

// To be imported when it is wanted, and only so: a module runs once, whereas `Parser.init` that is called twice at a
// time loads the library twice, and what belongs to the first one stops working.
await Parser.init();

/** Loads a grammar of `@vscode/tree-sitter-wasm`. */
export function loadLanguage(file: string): Promise<Language> {
  const folder = import.meta.resolve("@vscode/tree-sitter-wasm/package.json");
  return Language.load(new URL(`wasm/tree-sitter-${file}.wasm`, folder));
}

/** A text as a tree, whose memory has to be given back. */
export interface ParsedText extends Disposable {
  readonly root: Node;
}

/** Parses a text, with pauses. Every text has a tree, also one with errors. */
export async function parse(text: string, language: Language, pauses: Pauses): Promise<ParsedText> {
  const parser = new Parser().setLanguage(language);
  try {
    for (;;) {
      const tree = parser.parse(text, null, { progressCallback: () => pauses.due });
      if (tree) return { root: tree.rootNode, [Symbol.dispose]: () => tree.delete() };
      await pauses.take();
      // The next call goes on from where this one was stopped.
    }
  } finally {
    parser.delete();
  }
}

/** How long, in ms, something may go on until everything else has its turn. */
const LONGEST = 10;

/** Pauses in long work that is done in one thread with everything else. */
export class Pauses {
  readonly #signal: AbortSignal | undefined;
  #until = performance.now() + LONGEST;

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether it is time for a pause. */
  get due(): boolean {
    return performance.now() > this.#until;
  }

  /** Lets everything else have its turn. Throws the signal's reason when it has aborted. */
  async take(): Promise<void> {
    await setImmediate();
    this.#signal?.throwIfAborted();
    this.#until = performance.now() + LONGEST;
  }
}
