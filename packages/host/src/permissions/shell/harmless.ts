import { UNKNOWN } from "../match.ts";
import { ALWAYS_HARMLESS, TABLES, type Table } from "./harmless-table.ts";

/** Ends a pattern that speaks of a command with harmless options alone, as in `git log [harmless]`. */
const MARK = " [harmless]";
/** Stands in the beginnings of the tables for any plain name. */
const ANY_NAME = "NAME";
const PLAIN_NAME = /^[A-Za-z][\w:.-]*$/;

/** `-abc` as `-a`, `-b`, `-c`; the rest as it is. */
function lettersApart({ options, wordy }: Table): string[] {
  return options
    .split(" ")
    .flatMap((option) =>
      !wordy && /^-[A-Za-z0-9]{2,}$/.test(option) ? [...option.slice(1)].map((letter) => `-${letter}`) : [option],
    );
}

/** The words that a command begins with, of which it is known what is harmless behind them. */
interface Start {
  readonly words: readonly string[];
  /** Absent: whatever stands behind them is. */
  readonly table?: Table;
  readonly options: ReadonlySet<string>;
}

/** By their first word, the longest first; of those of one length what is spelled out comes before what has any name. */
const STARTS: ReadonlyMap<string, readonly Start[]> = Map.groupBy(
  [
    ...Object.entries(TABLES)
      .map(([start, table]) => ({ words: start.split(" "), table, options: new Set(lettersApart(table)) }))
      .sort((a, b) => b.words.length - a.words.length || a.words.indexOf(ANY_NAME) - b.words.indexOf(ANY_NAME)),
    ...Array.from(ALWAYS_HARMLESS, (name) => ({ words: [name], options: new Set<string>() })),
  ],
  ({ words: [name = ""] }) => name,
);

/** The words in front of `[harmless]`; undefined for a pattern of another kind. */
export function harmlessOf(pattern: string): string | undefined {
  return pattern.endsWith(MARK) ? pattern.slice(0, -MARK.length) : undefined;
}

/** Whether it is known which options of the command are harmless. */
export function hasHarmless(command: string): boolean {
  const words = command.split(" ");
  return startOf(words)?.words.length === words.length;
}

/**
 * The pattern for all harmless uses of a command, of which these words are one; undefined when they are not. `splits`: a
 * word of them may turn out to be several.
 */
export function harmlessPattern(words: readonly string[], splits: boolean): string | undefined {
  const start = startOf(words);
  if (start === undefined) return undefined;
  const { table, options } = start;
  const { length } = start.words;
  if (table !== undefined && (splits || !keepsTo(table, options, words.slice(length)))) return undefined;
  return words.slice(0, length).join(" ") + MARK;
}

/** The longest beginning of which it is known what is harmless. */
function startOf(words: readonly string[]): Start | undefined {
  const [name = ""] = words;
  return STARTS.get(name)?.find((start) =>
    start.words.every((word, at) => word === words[at] || (word === ANY_NAME && PLAIN_NAME.test(words[at] ?? ""))),
  );
}

function keepsTo(table: Table, options: ReadonlySet<string>, words: readonly string[]): boolean {
  const operands: string[] = [];
  let ended = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    // The name of a file can look like an option, so what may be any name is none of the words that are harmless.
    if (word.startsWith(UNKNOWN)) return false;
    // Behind `--` stand operands for the program, and for scripts (`npm test --`) options once more.
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

/**
 * Whether the word behind an option can be its value. One that looks like an option may be one: what takes a value in one
 * version, or where it is attached (`git log -U`), reads the next word as an option of its own in another.
 */
function isValue(word: string | undefined, { value }: Table): boolean {
  return word !== undefined && !word.startsWith(UNKNOWN) && !/^-(?!\d|$)/.test(word) && value?.test(word) !== false;
}

/** Where the value of an option stands. */
type OptionValue = "none" | "next" | { readonly attached: string };

/** Undefined when the option is not harmless. */
function wordValue(word: string, options: ReadonlySet<string>): OptionValue | undefined {
  if (options.has(word)) return "none";
  if (options.has(`${word}:`)) return "next";
  const end = word.indexOf("=");
  const name = word.slice(0, Math.max(end, 0));
  const takes = name !== "" && (options.has(`${name}:`) || options.has(`${name}=`));
  return takes ? { attached: word.slice(end + 1) } : undefined;
}

/** As `wordValue`, of the letters behind one dash. */
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
