import { UNKNOWN } from "../match.ts";
import { ALWAYS_HARMLESS, type HarmlessArguments, TABLES } from "./harmless-table.ts";

/** The end of a pattern for a command with harmless options only, such as `git log [harmless]`. */
const MARK = " [harmless]";
/** Any plain name in the tables' command words. */
const ANY_NAME = "NAME";
const PLAIN_NAME = /^[A-Za-z][\w:.-]*$/;

/** Splits `-abc` into `-a`, `-b`, `-c`. */
function lettersApart({ options, wordy }: HarmlessArguments): string[] {
  return options
    .split(" ")
    .flatMap((option) =>
      !wordy && /^-[A-Za-z0-9]{2,}$/.test(option) ? [...option.slice(1)].map((letter) => `-${letter}`) : [option],
    );
}

/** The first words of a command with a table. */
interface Start {
  readonly words: readonly string[];
  /** The harmless arguments. Absent: any arguments are harmless. */
  readonly table?: HarmlessArguments;
  readonly options: ReadonlySet<string>;
}

/** By first word, longest first; at equal length, spelled-out words before any name. */
const STARTS: ReadonlyMap<string, readonly Start[]> = Map.groupBy(
  [
    ...Object.entries(TABLES)
      .map(([start, table]) => ({ words: start.split(" "), table, options: new Set(lettersApart(table)) }))
      .sort((a, b) => b.words.length - a.words.length || a.words.indexOf(ANY_NAME) - b.words.indexOf(ANY_NAME)),
    ...Array.from(ALWAYS_HARMLESS, (name) => ({ words: [name], options: new Set<string>() })),
  ],
  ({ words: [name = ""] }) => name,
);

/** Returns the command in a pattern such as `git log [harmless]`; undefined for any other pattern. */
export function harmlessOf(pattern: string): string | undefined {
  return pattern.endsWith(MARK) ? pattern.slice(0, -MARK.length) : undefined;
}

/** Returns whether the harmless options of a command are known. */
export function hasHarmless(command: string): boolean {
  const words = command.split(" ");
  return harmlessStart(words)?.words.length === words.length;
}

/** Returns the pattern for harmless uses of a command, if any. `splits`: a word may become several. */
export function harmlessPattern(words: readonly string[], splits: boolean): string | undefined {
  const start = harmlessStart(words);
  if (start === undefined) return undefined;
  const { table, options } = start;
  const { length } = start.words;
  if (table !== undefined && (splits || !keepsTo(table, options, words.slice(length)))) return undefined;
  return words.slice(0, length).join(" ") + MARK;
}

function harmlessStart(words: readonly string[]): Start | undefined {
  const [name = ""] = words;
  return STARTS.get(name)?.find((start) =>
    start.words.every((word, at) => word === words[at] || (word === ANY_NAME && PLAIN_NAME.test(words[at] ?? ""))),
  );
}

function keepsTo(table: HarmlessArguments, options: ReadonlySet<string>, words: readonly string[]): boolean {
  const operands: string[] = [];
  let ended = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    // A file's name can look like an option, so an unknown word is never harmless.
    if (word.startsWith(UNKNOWN)) return false;
    // After `--`, the program gets operands, but scripts (`npm test --`) may get options.
    if (word === "--") ended = true;
    else if (word.length < 2 || !word.startsWith("-") || (ended && table.operand === undefined)) operands.push(word);
    else {
      const value = table.wordy || word.startsWith("--") ? wordValue(word, options) : lettersValue(word, options);
      if (value === undefined) return false;
      if (value === "next" && !isValue(words[++at], table)) return false;
      if (typeof value === "object" && table.value?.test(value.attached) === false) return false;
    }
  }
  const { most, operand, first } = table;
  if (most !== undefined && (operands.length > most || operands.some((word) => word.includes(UNKNOWN)))) return false;
  if (first !== undefined && !first.test(operands[0] ?? "")) return false;
  return operand === undefined || operands.every((word) => operand.test(word));
}

/** Refuses a word that looks like an option: some versions read it as an option (`git log -U`). */
function isValue(word: string | undefined, { value }: HarmlessArguments): boolean {
  return word !== undefined && !word.startsWith(UNKNOWN) && !/^-(?!\d|$)/.test(word) && value?.test(word) !== false;
}

type OptionValue = "none" | "next" | { readonly attached: string };

/** Undefined if the option is not harmless. */
function wordValue(word: string, options: ReadonlySet<string>): OptionValue | undefined {
  if (options.has(word)) return "none";
  if (options.has(`${word}:`)) return "next";
  const end = word.indexOf("=");
  const name = word.slice(0, Math.max(end, 0));
  const takes = name !== "" && (options.has(`${name}:`) || options.has(`${name}=`));
  return takes ? { attached: word.slice(end + 1) } : undefined;
}

/** Like `wordValue`, for letters after one dash. */
function lettersValue(word: string, options: ReadonlySet<string>): OptionValue | undefined {
  if (/^-\d+$/.test(word)) return options.has("-#") ? "none" : undefined;
  for (let at = 1; at < word.length; at++) {
    const letter = `-${word[at]}`;
    const attached = word.slice(at + 1);
    if (options.has(`${letter}:`)) return attached === "" ? "next" : { attached };
    if (options.has(`${letter}=`)) return { attached };
    if (!options.has(letter)) return undefined;
  }
  return "none";
}
