import { type Command, CommanderError } from "commander";

/** What a command line comes to that is not to be carried out. */
export type Unread =
  /** To be written to stdout; nothing else is to be done. */
  | { readonly type: "text"; readonly text: string }
  /** One sentence, perhaps with a second one that suggests something. */
  | { readonly type: "mistake"; readonly message: string };

/** Lets a command read its arguments; returns what keeps it from being carried out. Writes nothing. */
export function parse(command: Command, argv: readonly string[]): Unread | undefined {
  let written = "";
  const write = (text: string) => {
    written += text;
  };
  for (const each of [command, ...command.commands])
    each.exitOverride().configureOutput({ writeOut: write, writeErr: write });
  try {
    command.parse(argv, { from: "user" });
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { type: "text", text: written };
    return { type: "mistake", message: sentence(error.message) };
  }
}

/** The parser's words as a sentence. */
function sentence(message: string): string {
  const text = message
    .replace(/^error: /, "")
    .replace(/\n\(/, " (")
    .replace(/ is invalid\. (Allowed choices are|It takes)/, " is not valid. $1");
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?)]$/.test(capital) ? capital : `${capital}.`;
}
