import type { KeyBindings } from "../keys/key-bindings.ts";
import { characterOf } from "../keys/keyboard.ts";

/** A single line of input in a list: a filter, a name, a reason. The user can edit only the end of the line. */
export class LineInput {
  text = "";

  constructor(text = "") {
    this.text = text;
  }

  key(key: string, keys: KeyBindings): boolean {
    const before = this.text;
    const character = characterOf(key);
    if (character !== undefined) this.text += character;
    else if (keys.matches(key, "delete-back"))
      this.text = [...GRAPHEMES.segment(this.text)]
        .slice(0, -1)
        .map(({ segment }) => segment)
        .join("");
    else if (keys.matches(key, "delete-word-back")) this.text = this.text.replace(/\S+\s*$/, "");
    else if (keys.matches(key, "delete-to-start")) this.text = "";
    return this.text !== before;
  }
}

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });
