import { setImmediate } from "node:timers/promises";
import { Language, type Node, Parser } from "web-tree-sitter";

// Import this module only dynamically. A module runs once, but two concurrent calls of `Parser.init` load the library
// twice, and objects of the first instance stop working.
const started = Parser.init();
// `loadLanguage` reports the error.
started.catch(() => {});

/** Loads a grammar of `@vscode/tree-sitter-wasm`. */
export async function loadLanguage(file: string): Promise<Language> {
  await started;
  const folder = import.meta.resolve("@vscode/tree-sitter-wasm/package.json");
  return Language.load(new URL(`wasm/tree-sitter-${file}.wasm`, folder));
}

/** A parsed text. Dispose of it to free its memory. */
export interface ParsedText extends Disposable {
  readonly root: Node;
}

/** Parses a text, with pauses for other work. A text with syntax errors has a tree too. */
export async function parseTree(text: string, language: Language, pauses: Pauses): Promise<ParsedText> {
  const parser = new Parser().setLanguage(language);
  try {
    for (;;) {
      const tree = parser.parse(text, null, { progressCallback: () => pauses.due });
      if (tree) return { root: tree.rootNode, [Symbol.dispose]: () => tree.delete() };
      await pauses.take();
    }
  } finally {
    parser.delete();
  }
}

const LONGEST = 10;

/** Pauses in long work on the main thread, so that other work can run. */
export class Pauses {
  readonly #signal: AbortSignal | undefined;
  #until = performance.now() + LONGEST;

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  get due(): boolean {
    return performance.now() > this.#until;
  }

  async take(): Promise<void> {
    await setImmediate();
    this.#signal?.throwIfAborted();
    this.#until = performance.now() + LONGEST;
  }
}
