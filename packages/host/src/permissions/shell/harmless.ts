import { UNKNOWN } from "../match.ts";
import { ALWAYS_HARMLESS, TABLES, type Table } from "./harmless-table.ts";

/** Ends a pattern that speaks of a command with harmless options alone, as in `git log [harmless]`. */
const MARK = " [harmless]";
const PLAIN_NAME = /^[A-Za-z][\w:.-]*$/;

/** `-abc` as `-a`, `-b`, `-c`; the rest as it is. */
function lettersApart({ options, wordy }: Table): string[] {
  return options
    .split(" ")
    .flatMap((option) =>
      !wordy && /^-[A-Za-z0-9]{2,}$/.test(option) ? [...option.slice(1)].map((letter) => `-${letter}`) : [option],
    );
}

const OPTIONS: ReadonlyMap<Table, ReadonlySet<string>> = new Map(
  Object.values(TABLES).map((table) => [table, new Set(lettersApart(table))]),
);

/** How many words the longest beginning of a table has, by its first. */
const LONGEST: ReadonlyMap<string, number> = new Map(
  Object.keys(TABLES)
    .map((start) => start.split(" "))
    .sort((a, b) => a.length - b.length)
    .map((words) => [words[0] ?? "", words.length]),
);

/** The words in front of `[harmless]`; undefined for a pattern of another kind. */
export function harmlessOf(pattern: string): string | undefined {
  return pattern.endsWith(MARK) ? pattern.slice(0, -MARK.length) : undefined;
}

/** Whether it is known which options of the command are harmless. */
export function hasHarmless(command: string): boolean {
  return harmlessStart(command.split(" ")) === command;
}

/** The pattern for all harmless uses of a command, of which these words are one; undefined when they are not. */
export function harmlessPattern(words: readonly string[], splits: boolean): string | undefined {
  const start = harmlessStart(words);
  return start !== undefined && isUse(start, words, splits) ? start + MARK : undefined;
}

/**
 * Whether words are a harmless use of the command that they begin with. `splits`: a word of them may turn out to be
 * several.
 */
export function isHarmless(start: string, words: readonly string[], splits: boolean): boolean {
  if (harmlessStart(words) !== start) return false;
  return isUse(start, words, splits);
}

function isUse(start: string, words: readonly string[], splits: boolean): boolean {
  if (ALWAYS_HARMLESS.has(start)) return true;
  const table = tableOf(start);
  return table !== undefined && !splits && keepsTo(table, words.slice(start.split(" ").length));
}

/** The longest beginning of which it is known what is harmless. */
function harmlessStart(words: readonly string[]): string | undefined {
  const [name = ""] = words;
  if (ALWAYS_HARMLESS.has(name)) return name;
  for (let length = LONGEST.get(name) ?? 0; length > 0; length--) {
    if (words.length < length) continue;
    const start = words.slice(0, length).join(" ");
    if (tableOf(start) !== undefined) return start;
  }
  return undefined;
}

function tableOf(start: string): Table | undefined {
  if (Object.hasOwn(TABLES, start)) return TABLES[start];
  const [first = "", second = "", name = "", ...more] = start.split(" ");
  const any = `${first} ${second} NAME`;
  return more.length === 0 && PLAIN_NAME.test(name) && Object.hasOwn(TABLES, any) ? TABLES[any] : undefined;
}

function keepsTo(table: Table, words: readonly string[]): boolean {
  const options = OPTIONS.get(table) ?? new Set();
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
      const taken = table.wordy || word.startsWith("--") ? wordTakes(word, options) : lettersTake(word, options);
      if (taken === undefined) return false;
      at += taken;
      if (at >= words.length || words[at]?.startsWith(UNKNOWN)) return false;
    }
  }
  const { most, operand, first } = table;
  if (most !== undefined && (operands.length > most || operands.some((word) => word.includes(UNKNOWN)))) return false;
  if (first !== undefined && !first.test(operands[0] ?? "")) return false;
  return operand === undefined || operands.every((word) => operand.test(word));
}

/** How many words behind an option belong to it; undefined when it is not harmless. */
function wordTakes(word: string, options: ReadonlySet<string>): number | undefined {
  if (options.has(word)) return 0;
  if (options.has(`${word}:`)) return 1;
  const name = word.slice(0, word.indexOf("=") + 1).slice(0, -1);
  return name !== "" && (options.has(`${name}:`) || options.has(`${name}=`)) ? 0 : undefined;
}

function lettersTake(word: string, options: ReadonlySet<string>): number | undefined {
  if (/^-\d+$/.test(word)) return options.has("-#") ? 0 : undefined;
  for (let at = 1; at < word.length; at++) {
    const letter = `-${word[at]}`;
    if (options.has(`${letter}:`)) return at === word.length - 1 ? 1 : 0;
    if (options.has(`${letter}=`)) return 0;
    if (!options.has(letter)) return undefined;
  }
  return 0;
}
