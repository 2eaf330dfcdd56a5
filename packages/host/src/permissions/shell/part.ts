/** A part of a shell script. Rules judge each part. */
export type ShellPart = CommandPart | RedirectPart | OpaquePart | EvaluationPart;

/** A simple command, with its words expanded. `UNKNOWN` replaces pieces of words that are not known before it runs. */
export interface CommandPart {
  readonly kind: "command";
  /** The words of the command. Empty if there are only assignments. */
  readonly words: readonly string[];
  /** The assignments before the command: `NAME=value`. */
  readonly assignments: readonly string[];
  /** True if an unquoted variable may become several words. */
  readonly splits: boolean;
  /** The text of the command's here-document or here-string. */
  readonly input: string | undefined;
  /** True if its standard input, or its group's, is a here-document, here-string, file or pipe. */
  hasInput: boolean;
  /** The commands after it in its pipelines; set when these have been read. */
  feeds: readonly ShellPart[] | undefined;
  /** For a known wrapper such as `sudo`, the commands that it runs. */
  readonly runs: InnerCommands | undefined;
}

export interface InnerCommands {
  readonly parts: readonly ShellPart[];
  /** The index of the only inner command among the outer command's words, if unchanged there. */
  readonly at?: number;
}

/** A file that a redirection such as `> file` opens. */
export interface RedirectPart {
  readonly kind: "file";
  readonly access: "read" | "write";
  /** The path, relative to the shell's current folder and with `~` unexpanded; undefined if unknown. */
  readonly path: string | undefined;
}

/**
 * A script with more than plain words joined by `&&`, `||`, `;` and `|`. Such a script can change the meaning of its
 * commands (`((PATH=x)); ls`), so no pattern allows it (S18).
 */
export interface EvaluationPart {
  readonly kind: "evaluation";
  readonly text: string;
  /** True if the text is input of a command group, not code. */
  readonly reads?: true;
  readonly why: string;
}

/** A part that could not be analysed. */
export interface OpaquePart {
  readonly kind: "opaque";
  readonly text: string;
  readonly why: string;
}

/** Yields all parts, including the commands that commands such as `sudo` run. */
export function* allParts(parts: readonly ShellPart[]): Generator<ShellPart> {
  for (const part of parts) {
    yield part;
    if (part.kind === "command" && part.runs !== undefined) yield* allParts(part.runs.parts);
  }
}
