/** A piece of a model's content: either reasoning or answer. */
export interface ThinkTagPiece {
  readonly type: "text" | "reasoning";
  readonly text: string;
}

const OPEN = "<think>";
const CLOSE = "</think>";
/** UTF-16 units searched for a closing tag, for models that omit the opening tag. */
const WITHOUT_OPEN = 2_048;
/** Maximum UTF-16 units of white space before the opening tag. */
const BLANKS = 64;

/** Models whose templates write the opening tag themselves, so that answers begin with reasoning. */
const LEAVES_OUT_OPEN = /qwq|deepseek-r1|r1-distill|qwen3.*thinking|glm-z1|exaone-deep/i;

/**
 * Separates reasoning from the answer if a server sends both as content (F58). `<think>...</think>` at the very
 * beginning is reasoning; later tags are text. A tag may be split between two pieces.
 * ```
 * begin ──▶ inside ──▶ behind ──▶ over     over: all later content is text
 *   ╰────▶ maybe ───────╯                  maybe: a model that omits the opening tag
 * ```
 * @example
 * const tags = new ThinkTags("qwen3");
 * const pieces = [...tags.take("<think>Easy.</think>Four."), ...tags.end()];
 */
export class ThinkTags {
  #state: "begin" | "inside" | "maybe" | "behind" | "over" = "begin";
  /** Held content: the beginning of a tag, or text that may be reasoning. */
  #held = "";
  readonly #leavesOutOpen: boolean;

  /** @param model The model's name, which decides if the opening tag may be missing. */
  constructor(model: string) {
    this.#leavesOutOpen = LEAVES_OUT_OPEN.test(model);
  }

  /** True if all later content is plain text. */
  get isOver(): boolean {
    return this.#state === "over";
  }

  /** Takes some content. Returns the pieces that are certain. */
  take(text: string): ThinkTagPiece[] {
    const all = this.#held + text;
    this.#held = "";
    switch (this.#state) {
      case "begin":
        return this.#begin(all);
      case "inside":
        return this.#inside(all);
      case "maybe":
        return this.#maybe(all);
      case "behind":
        return this.#behind(all);
      case "over":
        return piecesWithText("text", all);
    }
  }

  /** Ends the content, and returns the held piece. */
  end(): ThinkTagPiece[] {
    const held = this.#held;
    const wasInside = this.#state === "inside";
    this.#held = "";
    this.#state = "over";
    return wasInside ? piecesWithText("reasoning", held) : piecesWithText("text", held);
  }

  #begin(all: string): ThinkTagPiece[] {
    const text = all.trimStart();
    if (text.startsWith(OPEN)) {
      this.#state = "inside";
      return this.#inside(text.slice(OPEN.length).replace(/^\s+/, ""));
    }
    if (OPEN.startsWith(text) && all.length - text.length < BLANKS) {
      this.#held = all;
      return [];
    }
    this.#state = this.#leavesOutOpen ? "maybe" : "over";
    return this.#leavesOutOpen ? this.#maybe(all) : piecesWithText("text", all);
  }

  #inside(all: string): ThinkTagPiece[] {
    const end = all.indexOf(CLOSE);
    if (end === -1) {
      const kept = overlapWithTag(all, CLOSE);
      this.#held = all.slice(all.length - kept);
      return piecesWithText("reasoning", all.slice(0, all.length - kept));
    }
    this.#state = "behind";
    return [...piecesWithText("reasoning", all.slice(0, end)), ...this.#behind(all.slice(end + CLOSE.length))];
  }

  #maybe(all: string): ThinkTagPiece[] {
    const end = all.indexOf(CLOSE);
    if (end === -1 && all.length < WITHOUT_OPEN) {
      this.#held = all;
      return [];
    }
    if (end !== -1) return this.#inside(all);
    this.#state = "over";
    return piecesWithText("text", all);
  }

  /** Blanks between the closing tag and the answer belong to neither. */
  #behind(all: string): ThinkTagPiece[] {
    const text = all.trimStart();
    if (text !== "") this.#state = "over";
    return piecesWithText("text", text);
  }
}

function piecesWithText(type: ThinkTagPiece["type"], text: string): ThinkTagPiece[] {
  return text === "" ? [] : [{ type, text }];
}

/** Number of units at the end of a text that are the beginning of a tag. */
function overlapWithTag(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length--)
    if (text.endsWith(tag.slice(0, length))) return length;
  return 0;
}
