/** Something that a person names in a message with an `@` in front. */
export interface Reference {
  /** As it was typed, the `@` included. */
  readonly text: string;
  /** What it names. */
  readonly name: string;
  /** Where the text begins. */
  readonly at: number;
}

// An @ at the beginning of a word: in an address of mail it stands in the middle of one.
const REFERENCE = /(?<![\p{L}\p{N}_.@/])@(?:"([^"\n]+)"|([^\s"'`,;()<>@][^\s"'`,;()<>]*))/gu;

/** What a message names with `@path`, `@dir/`, `@glob`, `@url` or `@"a path with blanks"` (B46). A bare word names nothing. */
export function referencesIn(text: string): Reference[] {
  return [...text.matchAll(REFERENCE)].flatMap((match) => {
    const [whole, quoted, plain = ""] = match;
    // A full stop or another mark at the end of a sentence does not belong to the name.
    const name = quoted ?? plain.replace(/[.!?:]+$/, "");
    if (name === "") return [];
    const typed = quoted === undefined ? `@${name}` : whole;
    return [{ text: typed, name, at: match.index }];
  });
}
