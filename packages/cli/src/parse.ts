import { type Command, CommanderError } from "commander";

/** What a command line comes to that is not to be carried out. */
export type Unread =
  /** To be written to stdout; nothing else is to be done. */
  | { readonly type: "text"; readonly text: string }
  /** One sentence, perhaps with a second one that suggests something. */
  | { readonly type: "mistake"; readonly message: string };

/**
 * Words that begin with a dash, as in `-p "- fix this"` or `run "--help me"` (T63): no option has a blank in its name. A value
 * can have blanks behind `=`, as a path can behind a letter (`-C/my files`).
 */
const DASHED_WORDS = /^-(?!\w[/~.])[^\s=]*\s/;

/** Stands before such words while the command line is read. No argument of a program can hold it. */
const MARK = "\0";

/** Lets a command read its arguments; returns what keeps it from being carried out. Writes nothing. */
export function parse(command: Command, argv: readonly string[]): Unread | undefined {
  let written = "";
  const write = (text: string) => {
    written += text;
  };
  for (const each of [command, ...command.commands])
    each.exitOverride().configureOutput({ writeOut: write, writeErr: write });
  try {
    command.hook("preAction", (_, carriedOut) => unmark(carriedOut));
    command.parse(
      argv.map((word) => (DASHED_WORDS.test(word) ? MARK + word : word)),
      { from: "user" },
    );
    unmark(command);
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { type: "text", text: written };
    return { type: "mistake", message: sentence(error.message) };
  }
}

function unmark(command: Command): void {
  command.args = unmarked(command.args);
  command.processedArgs = unmarked(command.processedArgs);
  for (const [name, value] of Object.entries(command.opts())) command.setOptionValue(name, unmarked(value));
}

/** A value without the mark; a list of values, each without it. */
function unmarked<T>(value: T): T {
  if (Array.isArray(value)) return value.map(unmarked) as T;
  return typeof value === "string" && value.startsWith(MARK) ? (value.slice(MARK.length) as T) : value;
}

/** The parser's words as a sentence. */
function sentence(message: string): string {
  const text = message
    .replaceAll(MARK, "")
    .replace(/^error: /, "")
    .replace(/\n\(/, " (")
    .replace(/ is invalid\. (Allowed choices are|It takes)/, " is not valid. $1");
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?)]$/.test(capital) ? capital : `${capital}.`;
}
