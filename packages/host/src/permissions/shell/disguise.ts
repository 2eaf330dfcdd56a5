import { meets } from "../match.ts";
import { isInert } from "./inert.ts";
import { allParts, type CommandPart } from "./part.ts";
import { programOf } from "./wrapper.ts";

/** Maximum words after a wrapper at which the inner command may start. */
const MOST_STARTS = 24;

/** Options before a subcommand whose value is the next word. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  cargo: ["--color", "--config", "-Z", "-C"],
  docker: ["--context", "-c", "--host", "-H", "--config", "--log-level", "-l"],
  gh: ["-R", "--repo"],
  git: ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix", "--attr-source"],
  go: ["-C"],
  helm: ["-n", "--namespace", "--kube-context", "--kubeconfig"],
  kubectl: [
    "-n",
    "--namespace",
    "--context",
    "--kubeconfig",
    "--cluster",
    "--user",
    "-s",
    "--server",
    "--token",
    "--as",
  ],
  npm: ["--prefix", "-C", "-w", "--workspace", "--registry", "--loglevel", "--userconfig", "--cache", "--tag", "--otp"],
  pip: ["--python", "--log", "--proxy", "--timeout", "--cache-dir"],
  pnpm: ["-C", "--dir", "-F", "--filter", "--prefix", "-w", "--loglevel"],
  systemctl: ["-H", "--host", "-M", "--machine", "-t", "--type", "-p", "--property"],
  yarn: ["--cwd", "--cache-folder", "--registry"],
};

/** Programs whose code has slashes between the words of a command. */
const SLASHED = /^(?:g?awk|mawk|nawk|sed|gsed|perl|ed|ex|vim?|nvim|emacs)$/;

/** Removes options before the subcommand: `git -C x push` becomes `git push`. Undefined without such options. */
export function withoutOptions(words: readonly string[]): readonly string[] | undefined {
  const [name = "", second = ""] = words;
  if (second[0] !== "-" && second[0] !== "+") return undefined;
  const program = programOf(words);
  const values = Object.hasOwn(VALUES, program) ? VALUES[program] : undefined;
  let at = 1;
  for (; at < words.length; at++) {
    const word = words[at] ?? "";
    if (!/^[-+]/.test(word)) break;
    if (values?.includes(word)) at++;
  }
  return [name, ...words.slice(at)];
}

/**
 * Returns true if a command begins with another word, but contains the pattern's words and may run the pattern's
 * command (S25). Excludes programs that never run their arguments, if their output only goes to such programs.
 */
export function mayRun(pattern: string, part: CommandPart): boolean {
  const sought = literalWords(pattern);
  if (sought === undefined || !isNamed(sought[0] ?? "", part)) return false;
  const assigned = part.assignments.flatMap((text) => wordPieces(text.slice(text.indexOf("=") + 1), false));
  if (isAmong(sought, assigned)) return true;
  // `GIT_CONFIG_VALUE_0=push git x` has the words of the rule in another order.
  if (!isAmong(sought, [...piecesOfAll(part), ...assigned])) return false;
  return !isInert(part) || (part.feeds !== undefined && ![...allParts(part.feeds)].every(isInert));
}

/** A cheap first check: whether a word occurs at all. */
function isNamed(word: string, { words, assignments, input }: CommandPart): boolean {
  const sought = word.toLowerCase();
  const names = (text: string): boolean => text.toLowerCase().includes(sought);
  return (
    words.some(names) || assignments.some(names) || (input !== undefined && names(`${input}\n${unquotedWord(input)}`))
  );
}

/**
 * Returns whether a pattern could match a wrapped command at a later word, because the wrapper's options may end there.
 */
export function mayStart(pattern: string, { words, runs }: CommandPart): boolean {
  const starts = runs === undefined ? [] : words.slice(1, MOST_STARTS + 1);
  return starts.some((_, index) => meets(pattern, words.slice(index + 1).join(" ")));
}

/** Like `mayRun`, for a text that a group of commands gets as standard input. */
export function mayRunText(pattern: string, text: string): boolean {
  const sought = literalWords(pattern);
  return sought !== undefined && isAmong(sought, piecesOfInput(text));
}

/** Up to the first wildcard. */
function literalWords(pattern: string): readonly string[] | undefined {
  const wild = pattern.indexOf("*");
  const known = wild === -1 ? pattern : pattern.slice(0, pattern.lastIndexOf(" ", wild) + 1);
  const words = known.split(" ").filter((word) => word !== "");
  return words.length === 0 ? undefined : words;
}

function piecesOfAll({ words, input }: CommandPart): string[] {
  const [name = "", ...rest] = words;
  const slashed = SLASHED.test(programOf(words));
  const program = programOf([name]);
  // `git-push`, from git's own folder of programs, is `git push`.
  const pieces = [
    ...(program.startsWith("git-") ? ["git", program.slice(4)] : [program]),
    ...rest.flatMap((word) => wordPieces(word, slashed)),
  ];
  return input === undefined ? pieces : [...pieces, ...piecesOfInput(input)];
}

/** The words in a text that may be a script, also if quotes hide them: `r''m`. */
function piecesOfInput(text: string): string[] {
  return [...wordPieces(text, true), ...wordPieces(unquotedWord(text), true)];
}

function unquotedWord(text: string): string {
  return text.replace(/\\\n|['"\\]/g, "");
}

/** A word and the words inside it: of a path, the last part, or all with `slashed`. */
function wordPieces(text: string, slashed: boolean): string[] {
  const pieces = text.split(/[^\p{L}\p{N}_.+/@%-]+/u).flatMap((piece) => {
    const last = programOf([piece]);
    return slashed && piece.includes("/") ? [last, ...piece.split("/")] : [last];
  });
  return pieces.filter((piece) => piece !== "");
}

/** In order. */
function isAmong(sought: readonly string[], pieces: readonly string[]): boolean {
  let next = 0;
  for (const piece of pieces) {
    const wanted = sought[next];
    if (wanted === undefined) break;
    if (piece === wanted || (next === 0 && piece.toLowerCase() === wanted)) next++;
  }
  return next === sought.length;
}
