/** What a script does, in parts that rules are held against one by one. */
export type ShellPart = CommandPart | FilePart | OpaquePart | EvaluationPart;

/** A simple command: its words as the program gets them, with `UNKNOWN` for what is only known when it runs. */
export interface CommandPart {
  readonly kind: "command";
  /** Empty when there are only assignments. */
  readonly words: readonly string[];
  /** The assignments in front of it: `NAME=value`. */
  readonly assignments: readonly string[];
  /** A word may turn out to be several: an unquoted variable. */
  readonly splits: boolean;
  /** The text of its here-document or here-string. */
  readonly input: string | undefined;
  /** Its standard input is a here-document, a here-string, a file or a pipe, also that of a group around the command. */
  hasInput: boolean;
  /** What runs behind it in its pipelines; told when they have been read. */
  feeds: readonly ShellPart[] | undefined;
  /** What it runs in turn, for commands known to run others. */
  readonly runs: Runs | undefined;
}

export interface Runs {
  readonly parts: readonly ShellPart[];
  /** Where in the words of the outer command the one inner command starts, when it stands there word by word. */
  readonly at?: number;
}

/** A file that a redirect opens. */
export interface FilePart {
  readonly kind: "file";
  readonly access: "read" | "write";
  /** As the shell resolves it from its current folder, `~` not yet replaced; undefined when it is not known. */
  readonly path: string | undefined;
}

/**
 * A script in which something may set or evaluate, or which is more than plain words joined by `&&`, `||`, `;` and `|`.
 * All that it runs is among the other parts, but what their words mean may have been changed (`((PATH=x)); ls`), so no
 * pattern allows it (S18).
 */
export interface EvaluationPart {
  readonly kind: "evaluation";
  readonly text: string;
  /** The text is what a group of commands reads, not what it runs. */
  readonly reads?: true;
  readonly why: string;
}

/** A piece of which nobody can say what it does. */
export interface OpaquePart {
  readonly kind: "opaque";
  readonly text: string;
  readonly why: string;
}

/** All parts, with what they run in turn. */
export function* allParts(parts: readonly ShellPart[]): Generator<ShellPart> {
  for (const part of parts) {
    yield part;
    if (part.kind === "command" && part.runs !== undefined) yield* allParts(part.runs.parts);
  }
}
