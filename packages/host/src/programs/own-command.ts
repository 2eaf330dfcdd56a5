/** A word that a shell takes unquoted at any place. */
const PLAIN_WORD = /^[\w@%+:,./-][\w@%+=:,./-]*$/;

/**
 * Returns the command line with which this user runs the program, such as `npm start` or npx. npx gets `--no`, so that
 * it never downloads another package of this name (S32). Quotes words as needed.
 */
export function ownCommand(
  args: string | readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const line =
    typeof args === "string"
      ? args
      : args.map((word) => (PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
  if (env.npm_lifecycle_event === "start") return `npm start -- ${line}`;
  return env.npm_command === "exec" ? `npx --no banyan ${line}` : `banyan ${line}`;
}

/** Returns the words of an option with its value. A value that begins with a dash is joined by `=`. */
export function optionWords(name: string, value: string): readonly string[] {
  return value.startsWith("-") ? [`${name}=${value}`] : [name, value];
}
