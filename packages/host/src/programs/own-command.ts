/** A word that a shell takes unquoted at any place. */
const PLAIN_WORD = /^[\w@%+:,./-][\w@%+=:,./-]*$/;

/**
 * The command line with which this user runs the program, by how it was started: `npm start` in a checkout, or npx. npx
 * gets `--no`, so that it never downloads another package of this name (S32). A text is used unchanged; words are quoted.
 */
export function ownCommand(
  args: string | readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const line = typeof args === "string" ? args : args.map(quoteArgument).join(" ");
  // npm's environment variables show which command it runs.
  if (env.npm_lifecycle_event === "start") return `npm start -- ${line}`;
  return env.npm_command === "exec" ? `npx --no banyan ${line}` : `banyan ${line}`;
}

/**
 * The words of an option with its value, such as an id. A value that begins with a dash would count as an option, so it is
 * joined to the name by `=`.
 */
export function optionWords(name: string, value: string): readonly string[] {
  return value.startsWith("-") ? [`${name}=${value}`] : [name, value];
}

function quoteArgument(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
