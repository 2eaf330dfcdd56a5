/** A part of a script. Rules judge each part. */
export type ShellPart = CommandPart | RedirectPart | OpaquePart | EvaluationPart;

/** A simple command: its words after expansion, with `UNKNOWN` for pieces that only running it would show. */
export interface CommandPart {
  readonly kind: "command";
  /** Empty if there are only assignments. */
  readonly words: readonly string[];
  /** The assignments before it: `NAME=value`. */
  readonly assignments: readonly string[];
  /** A word may become several: an unquoted variable. */
  readonly splits: boolean;
  /** The text of its here-document or here-string. */
  readonly input: string | undefined;
  /** Its standard input, or its group's, is a here-document, here-string, file or pipe. */
  hasInput: boolean;
  /** The commands after it in its pipelines; set when these have been read. */
  feeds: readonly ShellPart[] | undefined;
  /** The commands that it runs, for known wrappers. */
  readonly runs: InnerCommands | undefined;
}

export interface InnerCommands {
  readonly parts: readonly ShellPart[];
  /** The index in the outer command's words at which the only inner command starts, if it appears there unchanged. */
  readonly at?: number;
}

/** A file that a redirect opens. */
export interface RedirectPart {
  readonly kind: "file";
  readonly access: "read" | "write";
  /** Relative to the shell's current folder, with `~` unexpanded; undefined if unknown. */
  readonly path: string | undefined;
}

/**
 * A script that may set or evaluate, or that is more than plain words joined by `&&`, `||`, `;` and `|`. Its commands
 * are among the other parts, but it may change their meaning (`((PATH=x)); ls`), so no pattern allows it (S18).
 */
export interface EvaluationPart {
  readonly kind: "evaluation";
  readonly text: string;
  /** The text is input of a command group, not code. */
  readonly reads?: true;
  readonly why: string;
}

/** A part that could not be analysed. */
export interface OpaquePart {
  readonly kind: "opaque";
  readonly text: string;
  readonly why: string;
}

/** All parts, with the inner commands of commands. */
export function* allParts(parts: readonly ShellPart[]): Generator<ShellPart> {
  for (const part of parts) {
    yield part;
    if (part.kind === "command" && part.runs !== undefined) yield* allParts(part.runs.parts);
  }
}
