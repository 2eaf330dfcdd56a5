/** A reference in a message, written with a leading `@`. See {@link referencesIn}. */
export interface Reference {
  /** The text as typed, with the `@`. */
  readonly text: string;
  readonly name: string;
  /** Index at which the reference begins. */
  readonly at: number;
}

// The @ must begin a word, because mail addresses contain an @ inside.
const REFERENCE = /(?<![\p{L}\p{N}_.@/])@(?:"((?:\\.|[^"\\\n])+)"|((?!@)(?:\\[ "'`,;()<>]|[^\s"'`,;()<>])+))/gu;

/**
 * Returns the references of a message (B46): `@path`, `@dir/`, `@glob`, `@url`, `@"a path with spaces"` or `@a\ path\
 * with\ spaces`. A quoted name with a backslash keeps its quotes, because only the machine with the files can interpret
 * them.
 * @example referencesIn("Compare @a.txt and @b.txt.").map(({ name }) => name) // ["a.txt", "b.txt"]
 */
export function referencesIn(text: string): Reference[] {
  return [...text.matchAll(REFERENCE)].flatMap((match) => {
    const [whole, quoted, plain = ""] = match;
    // Punctuation at the end of a sentence does not belong to the name.
    const written = plain.replace(/[.!?:]+$/, "");
    const inQuotes = quoted?.includes("\\") ? `"${quoted}"` : quoted;
    const name = inQuotes ?? written.replaceAll(/\\([ "'`,;()<>])/g, "$1");
    if (name === "") return [];
    const typed = quoted === undefined ? `@${written}` : whole;
    return [{ text: typed, name, at: match.index }];
  });
}

/**
 * Returns a reference to a path in a form that `referencesIn` can read: `@path`, or in quotes, as JSON if necessary.
 * @example referenceTo("my notes.md") // '@"my notes.md"'
 */
export function referenceTo(path: string): string {
  const isReadBack = (text: string) => {
    const [first] = referencesIn(text);
    return first?.text === text && first.name === path;
  };
  return [`@${path}`, `@"${path}"`].find(isReadBack) ?? `@${JSON.stringify(path)}`;
}

/**
 * Returns the path of a reference. Decodes a quoted name if it is JSON. Returns any other name unchanged.
 * @example referencedPath("notes.md") // "notes.md"
 */
export function referencedPath(name: string): string {
  try {
    return name.startsWith('"') ? String(JSON.parse(name)) : name;
  } catch {
    // The path itself begins with a quotation mark.
    return name;
  }
}

/** A slash command in a message. See {@link slashIn}. */
export interface SlashLine {
  /** Without the slash. */
  readonly name: string;
  readonly argument: string;
}

const SLASH = /^\/(?:([\p{L}\p{M}\p{N}_-]+(?::\S*)?)(?:\s+(.*))?)?$/su;

/**
 * Returns the slash command of a message (C18), or nothing. A command begins with a slash and a name of letters,
 * digits, `_` and `-`. After a colon, the name can have any characters, because MCP servers choose the names of
 * prompts. Not commands: a path with a second slash or a full stop, `//`, `/*`, and a space before the slash.
 * @example slashIn("/model openai/gpt-5") // { name: "model", argument: "openai/gpt-5" }
 */
export function slashIn(text: string): SlashLine | undefined {
  const match = SLASH.exec(text.trimEnd());
  return match ? { name: match[1] ?? "", argument: match[2] ?? "" } : undefined;
}

const ROOT_FOLDERS =
  /^(?:bin|boot|dev|etc|home|lib|lib64|media|mnt|opt|private|proc|root|run|sbin|srv|sys|tmp|usr|var|Applications|Library|System|Users|Volumes)$/;

/**
 * True for an unknown command name that is a folder at the root of a machine. A message can begin with such a path,
 * such as `/tmp`.
 * @example isRootFolder("tmp") // true
 */
export function isRootFolder(name: string): boolean {
  return ROOT_FOLDERS.test(name);
}
