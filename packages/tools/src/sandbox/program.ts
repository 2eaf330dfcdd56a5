/** A program to start, its arguments and all of its environment. */
export interface Program {
  /** A path, or a name that is looked for along `PATH`. */
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** A program and its arguments as the text of a shell command: every character stands for itself. */
export function shellWords({ file, args }: Pick<Program, "file" | "args">): string {
  return [file, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}

/** The variable whose words are run in the sandbox: so the text does not grow with the command, however it is quoted. */
export const WORDS = "BANYAN_SANDBOX_WORDS";

/** The variable that whatever runs in a sandbox has, and the processes around it have not. */
export const INSIDE = "BANYAN_IN_SANDBOX";
