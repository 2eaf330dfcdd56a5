import { type Command, CommanderError } from "commander";

/** A command line that runs no command. */
export type UnperformedLine =
  /** Text to print on stdout, without further action. */
  | { readonly type: "text"; readonly text: string }
  /** A sentence, perhaps with a suggestion in a second one. */
  | { readonly type: "mistake"; readonly message: string };

/**
 * Text that begins with a dash, as in `-p "- fix this"` or `run "--help me"` (T63): no option's name contains a
 * blank. A value may contain blanks after `=`, as may a path after a letter (`-C/my files`).
 */
const DASHED_WORDS = /^-(?!\w[/~.])[^\s=]*\s/;

/** Prefix of such text while the command line is parsed. Arguments of a program cannot contain it. */
const MARK = "\0";

/** Parses the arguments of a command. Returns what to print instead of running it, if anything. Writes nothing. */
export function parse(command: Command, argv: readonly string[]): UnperformedLine | undefined {
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

/** Removes the mark from a value, or from each value of a list. */
function unmarked<T>(value: T): T {
  if (Array.isArray(value)) return value.map(unmarked) as T;
  return typeof value === "string" && value.startsWith(MARK) ? (value.slice(MARK.length) as T) : value;
}

/** Turns the parser's message into a sentence. */
function sentence(message: string): string {
  const text = message
    .replaceAll(MARK, "")
    .replace(/^error: /, "")
    .replace(/\n\(/, " (")
    .replace(/ is invalid\. (Allowed choices are|It takes)/, " is not valid. $1");
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?)]$/.test(capital) ? capital : `${capital}.`;
}
