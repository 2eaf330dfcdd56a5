import {
  anyCase,
  escapeCharacter,
  invalidPattern,
  ownCharacter,
  PatternReader,
  readCharacter,
  readProperty,
  SETS,
  VERTICAL,
  WORD,
} from "./search-characters.ts";
import { readClass } from "./search-class.ts";
import { assertion, choice, grouped, needsOf, type PatternPart, sequence, set } from "./search-part.ts";

/** A search pattern, translated for JavaScript. */
export interface Pattern {
  /** Matches single lines without their ends, or a file's whole text if the pattern `spans` lines. */
  readonly expression: RegExp;
  /** True if the pattern names a line end, or the beginning or end of a file. */
  readonly spans: boolean;
  /** True if the pattern names the carriage return: CRLF is then not read as one line end. */
  readonly raw: boolean;
  /** True if a part such as `\s` could match a line end, which a single line does not contain. */
  readonly stopsAtLineEnd: boolean;
  /** Each match contains at least one of these texts within a line. Empty if there are none. */
  readonly needs: readonly string[];
  readonly ignoresCase: boolean;
  /** A note on parts of the pattern that may have another meaning. */
  readonly note: string | undefined;
}

type Facts = Omit<Pattern, "expression" | "needs">;

interface Flags {
  readonly ignoresCase: boolean;
  readonly dotAll: boolean;
  readonly verbose: boolean;
}

const MOST_DEPTH = 200;

const NO_FLAGS: Flags = { ignoresCase: false, dotAll: false, verbose: false };

const [WORD_BEFORE, WORD_AFTER] = [`(?<=[${WORD}])`, `(?=[${WORD}])`];
const [NO_WORD_BEFORE, NO_WORD_AFTER] = [`(?<![${WORD}])`, `(?![${WORD}])`];
const WORD_START = NO_WORD_BEFORE + WORD_AFTER;
const WORD_END = WORD_BEFORE + NO_WORD_AFTER;
const TEXT_START = "(?<![^])";
const TEXT_END = "(?=\\r?\\n?(?![^]))";

const OPENING_FORMS: readonly (readonly [start: RegExp, advice: string])[] = [
  [/^\(\*/, "Verbs such as (*SKIP) are not supported; remove the verb, or write \\(\\* to find the characters (*"],
  [/^\(\?\|/, "Write (?:...) for (?|...)"],
  [/^\(\?\(/, "Write (?:one|other) instead of a condition"],
  [/^\(\?(?:R|\d|[+-]\d|&|P>)/, "A pattern cannot contain itself; write the inner pattern out"],
];

/**
 * Translates a pattern of a common dialect (PCRE, Rust, JavaScript, POSIX) into a JavaScript regular expression.
 * Letters, digits and words follow Unicode. Throws a `WorkspaceError` that names the unsupported part and a
 * replacement.
 */
export function translate(pattern: string): Pattern {
  const first = new Translation(pattern, { spans: false, raw: false, listsCases: false, references: new Set() });
  first.whole();
  const listsCases = first.ignoresCase && first.mindsCase;
  const translation = new Translation(pattern, {
    spans: first.spans,
    raw: first.raw,
    references: first.references,
    listsCases,
  });
  const { source, needs } = translation.whole();
  const { spans, raw, stopsAtLineEnd, ignoresCase, note } = translation;
  // V8 compiles `(?i:...)` wrongly: parts of a pattern get the flag of other parts. So the flag holds for all or none.
  const expression = compiled(source, `${spans ? "g" : ""}${ignoresCase && !listsCases ? "i" : ""}v`);
  return { expression, spans, raw, stopsAtLineEnd, needs, ignoresCase, note };
}

function compiled(source: string, flags: string): RegExp {
  try {
    const expression = new RegExp(source, flags);
    // A too large pattern fails at its first use only.
    expression.test("");
    expression.lastIndex = 0;
    return expression;
  } catch (cause) {
    const reason = String(cause).replace(/^.*?Invalid regular expression: .*\/[a-z]*: /s, "");
    throw invalidPattern(reason, undefined, cause);
  }
}

interface FirstPass extends Pick<Pattern, "spans" | "raw"> {
  /** True if case is ignored in some parts only. The sources of these parts list both cases of each letter. */
  readonly listsCases: boolean;
  readonly references: ReadonlySet<number>;
}

/** One pass over a pattern. The first pass collects facts that the second pass needs from the start. */
class Translation implements Facts {
  readonly #reader: PatternReader;
  readonly #known: FirstPass;
  readonly references = new Set<number>();
  readonly #names = new Map<string, number>();
  spans = false;
  raw = false;
  stopsAtLineEnd = false;
  ignoresCase = false;
  mindsCase = false;
  note: string | undefined;
  #groups = 0;
  #atomics = 0;
  #depth = 0;
  #isQuoted = false;

  constructor(pattern: string, known: FirstPass) {
    this.#reader = new PatternReader(pattern);
    this.#known = known;
  }

  whole(): PatternPart {
    const part = this.#choice(NO_FLAGS);
    if (!this.#reader.isAtEnd) throw invalidPattern("Unmatched ')'");
    const missing = [...this.references].find((number) => number > this.#groups);
    if (missing !== undefined) throw invalidPattern(`there is no group ${missing} for \\${missing}`);
    return part;
  }

  /** Reads alternatives up to the end of the group. Changed flags apply up to the end of the group. */
  #choice(outer: Flags): PatternPart {
    const options: PatternPart[] = [];
    let flags = outer;
    do {
      const parts: PatternPart[] = [];
      while (!this.#isAtEnd()) {
        this.#skipVerbose(flags);
        if (this.#isAtEnd()) break;
        const changed = this.#flagsHere(flags);
        if (changed) {
          flags = changed;
          continue;
        }
        const part = this.#quantified(this.#atom(flags, parts.at(-1)), flags);
        if (part) parts.push(part);
      }
      options.push(sequence(parts));
    } while (this.#reader.takes("|"));
    return choice(options);
  }

  #isAtEnd(): boolean {
    return this.#reader.isAtEnd || (!this.#isQuoted && /^[|)]/.test(this.#reader.rest));
  }

  #skipVerbose({ verbose }: Flags): void {
    if (verbose && !this.#isQuoted) this.#reader.match(/^(?:\s+|#.*)+/);
  }

  #flagsHere(flags: Flags): Flags | undefined {
    if (this.#isQuoted) return undefined;
    const found = this.#reader.match(/^\(\?(?!R\))([a-zA-Z]*)(?:-([a-zA-Z]*))?\)/);
    return found && changedFlags(flags, found[1], found[2]);
  }

  #atom(flags: Flags, before: PatternPart | undefined): PatternPart | undefined {
    const { rest } = this.#reader;
    if (this.#isQuoted) return this.#quoted(flags);
    if (rest.startsWith("(")) return this.#group(flags);
    if (rest.startsWith("[")) return this.#class(flags);
    const character = this.#reader.character();
    switch (character) {
      case "\\":
        return this.#escape(flags);
      case ".":
        return this.#dot(flags);
      case "^":
        // No match can contain a character of its own line before the line's beginning, so `^` is literal.
        return before?.exact ? this.#literal("^", flags) : this.#lineStart();
      case "$":
        return this.#isCharacterNext(flags) ? this.#literal("$", flags) : this.#lineEnd();
      case "*":
      case "+":
      case "?":
        throw invalidPattern("Nothing to repeat");
      default:
        return this.#literal(character, flags);
    }
  }

  #quoted(flags: Flags): PatternPart | undefined {
    const part = this.#reader.rest.startsWith("\\E") ? undefined : this.#literal(this.#reader.character(), flags);
    if (this.#reader.takes("\\E")) this.#isQuoted = false;
    return part;
  }

  /** Returns whether a character that every match contains comes next: a `$` before that character cannot mean the line's end. */
  #isCharacterNext({ verbose }: Flags): boolean {
    const { rest } = this.#reader;
    return !verbose && /^(?:\{(?!\d+,?\d*\})|\\[^\w\s<>]|[^\\^$.|?*+()[{\r\n])(?![?*]|\{[0,])/.test(rest);
  }

  #dot({ dotAll }: Flags): PatternPart {
    if (dotAll) return this.#spanning(set("[^]"));
    return this.#known.raw ? { source: "(?!\\r?\\n)[^]", needs: [] } : set("[^\\n]");
  }

  #lineStart(): PatternPart {
    return this.#known.spans ? assertion("(?:(?<=\\n)(?=[^])|(?<![^]))") : assertion("^");
  }

  #lineEnd(): PatternPart {
    return this.#known.spans ? assertion("(?=\\r?\\n|(?<!\\n)\\r?(?![^]))") : assertion("$");
  }

  #spanning<Spanning extends PatternPart>(part: Spanning): Spanning {
    this.spans = true;
    return part;
  }

  #literal(character: string, { ignoresCase }: Flags): PatternPart {
    if (character === "\n" || character === "\r") {
      this.spans = true;
      if (character === "\r") this.raw = true;
      return set(character === "\n" ? "\\n" : "\\r");
    }
    const isLetter = character.toLowerCase() !== character.toUpperCase();
    const source = isLetter ? this.#cased(escapeCharacter(character), ignoresCase) : escapeCharacter(character);
    // These characters have other bytes in other encodings, and their upper or lower case may share no bytes.
    const code = character.codePointAt(0) ?? 0;
    const isPlain = code < 0x80 || (!ignoresCase && code > 0xff && character.isWellFormed() && code !== 0xfffd);
    return isPlain ? { source, exact: character, needs: [], unit: true } : set(source);
  }

  #group(flags: Flags): PatternPart | undefined {
    if (this.#reader.match(/^\(\?#[^)]*\)/)) return undefined;
    const again = this.#reader.match(/^\(\?P=([^)]+)\)/)?.[1];
    if (again !== undefined) return this.#reference(again, flags);
    const { rest } = this.#reader;
    for (const [start, advice] of OPENING_FORMS)
      if (start.test(rest)) throw invalidPattern(`${start.exec(rest)?.[0]}... is not understood`, advice);
    if (this.#reader.takes("(?>")) return this.#atomic(this.#inner(flags));
    const look = this.#reader.match(/^\(\?<?[=!]/)?.[0];
    if (look) return assertion(`${look}${this.#inner(flags).source})`);
    const flagged = this.#reader.match(/^\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?:/);
    if (flagged) return grouped(this.#inner(changedFlags(flags, flagged[1], flagged[2])));
    const name = this.#reader.match(/^\(\?(?:P?<([^>=!]+)>|'([^']+)')/);
    if (!name && rest.startsWith("(?")) throw invalidPattern(`Invalid group ${rest.slice(0, 4)}`);
    if (!name) this.#reader.takes("(");
    this.#groups += 1;
    const number = this.#groups;
    const called = name?.[1] ?? name?.[2];
    if (called !== undefined) this.#names.set(called, number);
    const inner = this.#inner(flags);
    if (!this.#known.references.has(number)) return grouped(inner);
    return { source: `(?<g${number}>${inner.source})`, needs: needsOf(inner), unit: true };
  }

  #inner(flags: Flags): PatternPart {
    this.#depth += 1;
    if (this.#depth > MOST_DEPTH) throw invalidPattern("Groups are nested too deeply");
    const part = this.#choice(flags);
    this.#depth -= 1;
    if (!this.#reader.takes(")")) throw invalidPattern("Unterminated group");
    return part;
  }

  #atomic(part: PatternPart): PatternPart {
    this.#atomics += 1;
    const name = `a${this.#atomics}`;
    return { source: `(?:(?=(?<${name}>${part.source}))\\k<${name}>)`, needs: needsOf(part), unit: true };
  }

  #quantified(part: PatternPart | undefined, flags: Flags): PatternPart | undefined {
    let result = part;
    while (result && !this.#isQuoted) {
      this.#skipVerbose(flags);
      const found = this.#reader.match(/^(?:[*+?]|\{\d+(?:,\d*)?\}|\{,\d+\})/);
      if (!found) return result;
      const [quantifier] = found;
      const least = quantifier === "+" ? 1 : Number(/^\{(\d+)/.exec(quantifier)?.[1] ?? 0);
      const isPossessive = this.#reader.takes("+");
      const isLazy = !isPossessive && this.#reader.takes("?");
      const unit = result.unit ? result.source : `(?:${result.source})`;
      const source = `${unit}${quantifier.replace("{,", "{0,")}${isLazy ? "?" : ""}`;
      const repeated: PatternPart = { source, needs: least > 0 ? needsOf(result) : [] };
      result = isPossessive ? this.#atomic(repeated) : repeated;
    }
    return result;
  }

  #escape(flags: Flags): PatternPart | undefined {
    if (this.#reader.isAtEnd) throw invalidPattern("\\ at end of pattern");
    if (this.#reader.takes("Q")) {
      this.#isQuoted = true;
      return undefined;
    }
    const character = readCharacter(this.#reader);
    if (character !== undefined) return this.#literal(character, flags);
    const number = this.#reader.match(/^(?:([1-9]\d*)|g\{?([1-9]\d*)\}?)/);
    if (number) return this.#reference(Number(number[1] ?? number[2]), flags);
    const name = this.#reader.match(/^k(?:<([^>]+)>|\{([^}]+)\}|'([^']+)')/);
    if (name) return this.#reference(name[1] ?? name[2] ?? name[3] ?? "", flags);
    const property = readProperty(this.#reader);
    if (property !== undefined) return this.#set(`[${property}]`, flags);
    const boundary = this.#reader.match(/^b\{(start|end)(?:-half)?\}/)?.[1];
    if (boundary) return assertion(boundary === "start" ? WORD_START : WORD_END);
    const letter = this.#reader.character();
    const set = SETS[letter.toLowerCase()];
    if (set !== undefined) {
      if (letter === "v") this.spans = true;
      return this.#set(letter === letter.toLowerCase() ? `[${set}]` : `[^${set}]`, flags);
    }
    switch (letter) {
      case "b":
        return assertion(`(?:${WORD_END}|${WORD_START})`);
      case "B":
        return assertion(`(?:${WORD_BEFORE}${WORD_AFTER}|${NO_WORD_BEFORE}${NO_WORD_AFTER})`);
      // Some dialects use these for word boundaries, others for the characters.
      case "<":
        return { source: `(?:<|${WORD_START})`, needs: [], unit: true };
      case ">":
        return { source: `(?:>|${WORD_END})`, needs: [], unit: true };
      case "A":
        return this.#spanning(assertion(TEXT_START));
      case "z":
      case "Z":
        return this.#spanning(assertion(TEXT_END));
      case "R":
        return this.#spanning({ source: `(?:\\r\\n|[${VERTICAL}])`, needs: [], unit: true });
      case "N":
        return this.#dot(NO_FLAGS);
      case "K":
      case "E":
        // Whole lines are shown, so the start of the match does not matter.
        return undefined;
      case "|":
        this.note = "\\| was read as the character |; write | for one or the other";
        return this.#literal("|", flags);
      default:
        return this.#literal(ownCharacter(letter), flags);
    }
  }

  #reference(group: number | string, { ignoresCase }: Flags): PatternPart {
    const number = typeof group === "string" ? this.#names.get(group) : group;
    if (number === undefined) throw invalidPattern(`there is no group "${group}" before the place that refers to it`);
    if (ignoresCase && this.#known.listsCases)
      throw invalidPattern(
        "a reference cannot ignore case in a part of a pattern",
        "Write (?i) at the beginning, where it applies to all parts",
      );
    this.references.add(number);
    return { source: this.#known.references.has(number) ? `\\k<g${number}>` : "", needs: [] };
  }

  #set(source: string, { ignoresCase }: Flags): PatternPart {
    if (new RegExp(source, "v").test("\n")) this.stopsAtLineEnd = true;
    return set(this.#cased(source, ignoresCase));
  }

  #class(flags: Flags): PatternPart {
    const { source, spans, raw } = readClass(this.#reader);
    if (raw) this.raw = true;
    return spans ? this.#spanning(set(this.#cased(source, flags.ignoresCase))) : this.#set(source, flags);
  }

  #cased(source: string, ignoresCase: boolean): string {
    if (ignoresCase) this.ignoresCase = true;
    else this.mindsCase = true;
    return ignoresCase && this.#known.listsCases ? anyCase(source) : source;
  }
}

function changedFlags(flags: Flags, on = "", off = ""): Flags {
  const unknown = /[^imsxu]/.exec(on + off)?.[0] ?? (off.includes("m") ? "-m" : undefined);
  if (unknown !== undefined)
    throw invalidPattern(
      `the flag ${unknown} is not known`,
      "The flags are i, m, s and x; ^ and $ match at each line anyway",
    );
  const has = (flag: string, before: boolean) => (before || on.includes(flag)) && !off.includes(flag);
  const { ignoresCase, dotAll, verbose } = flags;
  return { ignoresCase: has("i", ignoresCase), dotAll: has("s", dotAll), verbose: has("x", verbose) };
}
