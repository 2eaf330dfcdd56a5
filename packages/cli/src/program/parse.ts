import { Command, CommanderError } from "commander";

/** The words and options that a command accepts. */
export interface CommandLine<Arguments> {
  /** Describes the words of a command to the parser. The parser passes the arguments of a line to `read`. */
  readonly define: (command: Command, read: (wanted: Arguments) => void) => void;
  /** Adds the first word to a line if the user omitted it. */
  readonly complete?: (argv: readonly string[]) => readonly string[];
}

/** A command line that contains an error, or that only asks for help. */
export type UnperformedLine =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "mistake"; readonly message: string };

/**
 * Text that begins with a dash, as in `-p "- fix this"` or `run "--help me"` (T63): no option's name contains a space.
 * A value may contain spaces after `=`, as may a path after a letter (`-C/my files`).
 */
const DASHED_WORDS = /^-(?!\w[/~.])[^\s=]*\s/;

/** Prefix of such text while the command line is parsed. Arguments of a program cannot contain it. */
const MARK = "\0";

/** Parses the arguments of the command `name`. Returns a text or an error to print if the command cannot run. */
export function parseCommandLine<Arguments>(
  name: string,
  { define, complete = (words) => words }: CommandLine<Arguments>,
  argv: readonly string[],
): { readonly type: "read"; readonly arguments: Arguments } | UnperformedLine {
  let written = "";
  const write = (text: string) => {
    written += text;
  };
  const command = new Command(name)
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: write })
    .hook("preAction", (_, carriedOut) => unmark(carriedOut));
  // Every line that the parser accepts reaches an action, and each action reads its arguments.
  let wanted!: Arguments;
  define(command, (read) => {
    wanted = read;
  });
  try {
    command.parse(
      complete(argv).map((word) => (DASHED_WORDS.test(word) ? MARK + word : word)),
      { from: "user" },
    );
    return { type: "read", arguments: wanted };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { type: "text", text: written };
    return { type: "mistake", message: mistakeSentence(error.message) };
  }
}

function unmark(command: Command): void {
  command.args = unmarked(command.args);
  command.processedArgs = unmarked(command.processedArgs);
  for (const [name, value] of Object.entries(command.opts())) command.setOptionValue(name, unmarked(value));
}

function unmarked<T>(value: T): T {
  if (Array.isArray(value)) return value.map(unmarked) as T;
  return typeof value === "string" && value.startsWith(MARK) ? (value.slice(MARK.length) as T) : value;
}

function mistakeSentence(message: string): string {
  const text = message
    .replaceAll(MARK, "")
    .replace(/^error: /, "")
    .replace(/\n\(/, " (")
    .replace(/ is invalid\. (Allowed choices are|Use)/, " is not valid. $1");
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?)]$/.test(capital) ? capital : `${capital}.`;
}
