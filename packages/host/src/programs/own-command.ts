/** What a shell takes as it stands, wherever in a line. */
const PLAIN_WORD = /^[\w@%+:,./-][\w@%+=:,./-]*$/;

/**
 * How a person runs this program with some arguments, from where they started it: in a checkout by `npm start`, of an
 * installation through npx if that is how they did it (with `--no`, so that npx never downloads another package of this
 * name: S32). A text stands as it is; of words, each comes to the program as it is.
 */
export function ownCommand(
  args: string | readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const line = typeof args === "string" ? args : args.map(quoted).join(" ");
  // npm says in the environment which of its commands it carries out.
  if (env.npm_lifecycle_event === "start") return `npm start -- ${line}`;
  return env.npm_command === "exec" ? `npx --no banyan ${line}` : `banyan ${line}`;
}

/**
 * The words of an option with its value, such as an id. A value that begins with a dash would be taken for an option: it is
 * joined to its name by `=`.
 */
export function optionWords(name: string, value: string): readonly string[] {
  return value.startsWith("-") ? [`${name}=${value}`] : [name, value];
}

function quoted(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
