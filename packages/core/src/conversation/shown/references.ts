/** Something that a user names in a message with an `@` in front. */
export interface Reference {
  /** As it was typed, the `@` included. */
  readonly text: string;
  /** What it names. */
  readonly name: string;
  /** Where the text begins. */
  readonly at: number;
}

// An @ at the beginning of a word: in an address of mail it stands in the middle of one.
const REFERENCE = /(?<![\p{L}\p{N}_.@/])@(?:"((?:\\.|[^"\\\n])+)"|((?!@)(?:\\[ "'`,;()<>]|[^\s"'`,;()<>])+))/gu;

/**
 * The references of a message: `@path`, `@dir/`, `@glob`, `@url`, `@"a path with blanks"` or `@a\ path\ with\ blanks` (B46). A bare word
 * names nothing. A name in quotes that has a backslash keeps its quotes: only where the files are, is it known what that means.
 */
export function referencesIn(text: string): Reference[] {
  return [...text.matchAll(REFERENCE)].flatMap((match) => {
    const [whole, quoted, plain = ""] = match;
    // A full stop or another mark at the end of a sentence does not belong to the name.
    const written = plain.replace(/[.!?:]+$/, "");
    const inQuotes = quoted?.includes("\\") ? `"${quoted}"` : quoted;
    const name = inQuotes ?? written.replaceAll(/\\([ "'`,;()<>])/g, "$1");
    if (name === "") return [];
    const typed = quoted === undefined ? `@${written}` : whole;
    return [{ text: typed, name, at: match.index }];
  });
}

/** Returns how a message names a path, so that `referencesIn` reads it back: `@path`, or in quotes, as JSON if need be. */
export function referenceTo(path: string): string {
  const isReadBack = (text: string) => {
    const [first] = referencesIn(text);
    return first?.text === text && first.name === path;
  };
  return [`@${path}`, `@"${path}"`].find(isReadBack) ?? `@${JSON.stringify(path)}`;
}

/** The path that a reference in quotes names, if it is written as JSON; any other name is the path itself. */
export function referencedPath(name: string): string {
  try {
    return name.startsWith('"') ? String(JSON.parse(name)) : name;
  } catch {
    // The name itself begins with a quotation mark.
    return name;
  }
}

/** A command that a message asks for. */
export interface SlashLine {
  /** Without the slash. */
  readonly name: string;
  /** The words behind the name. */
  readonly argument: string;
}

const SLASH = /^\/(?:([\p{L}\p{M}\p{N}_-]+(?::\S*)?)(?:\s+(.*))?)?$/su;

/**
 * Returns the command that a message asks for, in all clients (C18); nothing where the message is words. The first word of a
 * command is a slash and a name: letters, digits, `_` and `-`, and anything behind a colon, since MCP servers name their
 * prompts as they like. A path with a second slash or a full stop is words, and so are `//`, `/*` and a blank before the slash.
 */
export function slashIn(text: string): SlashLine | undefined {
  const match = SLASH.exec(text.trimEnd());
  return match ? { name: match[1] ?? "", argument: match[2] ?? "" } : undefined;
}

const ROOT_FOLDERS =
  /^(?:bin|boot|dev|etc|home|lib|lib64|media|mnt|opt|private|proc|root|run|sbin|srv|sys|tmp|usr|var|Applications|Library|System|Users|Volumes)$/;

/** Returns whether a name that no command has is a folder at the root of a machine: a message that begins with `/tmp` is words then. */
export function isRootFolder(name: string): boolean {
  return ROOT_FOLDERS.test(name);
}
