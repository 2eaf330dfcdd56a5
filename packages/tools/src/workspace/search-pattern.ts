import { basename } from "node:path/posix";
import picomatch from "picomatch";
import { WorkspaceError } from "./error.ts";
import { TOO_MANY_STARS } from "./git-ignore.ts";

/** Flags at the beginning of a pattern, `(?i)`, as ripgrep and others write them. */
const LEADING_FLAGS = /^\(\?([ims]+)\)/;

/** The pattern as a regular expression of JavaScript; throws a `WorkspaceError` that says what is wrong with it. */
export function compilePattern(pattern: string): RegExp {
  const flags = LEADING_FLAGS.exec(pattern)?.[1] ?? "";
  const source = pattern.replace(LEADING_FLAGS, "");
  try {
    return new RegExp(source, `${flags}u`);
  } catch {
    // Without `u`, more is allowed (`\-`); what is wrong in both ways is told from there.
  }
  try {
    return new RegExp(source, flags);
  } catch (cause) {
    throw invalid(cause);
  }
}

function invalid(cause: unknown): WorkspaceError {
  const reason = String(cause).replace(/^SyntaxError: Invalid regular expression: /, "");
  const advice = "To find text as it is, put \\ before characters such as ( [ { . * + ?";
  return new WorkspaceError("pattern", `The pattern is not a valid regular expression: ${reason}. ${advice}`, {
    cause,
  });
}

/**
 * Whether a file is among those that a glob means. Without `/` it is about the file's name, otherwise about its path
 * from the root. Everything matches when there is no glob.
 */
export function compileGlob(glob: string | undefined): (path: string) => boolean {
  if (glob === undefined) return () => true;
  if (glob === "" || TOO_MANY_STARS.test(glob)) {
    throw new WorkspaceError(
      "pattern",
      `The glob ${JSON.stringify(glob)} cannot be used. Name files such as *.ts or src/**/*.md, with at most four stars in a name.`,
    );
  }
  const matches = picomatch(glob, { dot: true, noextglob: true });
  return glob.includes("/") ? (path) => matches(path) : (path) => matches(basename(path));
}
