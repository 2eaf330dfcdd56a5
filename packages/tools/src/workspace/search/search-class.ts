import {
  invalidPattern,
  member,
  ownCharacter,
  type PatternReader,
  posixClass,
  readCharacter,
  readProperty,
  SETS,
} from "./search-characters.ts";

/** A character class in brackets, in JavaScript syntax. */
export interface CharacterClass {
  readonly source: string;
  /** True if the pattern lists a line end. */
  readonly spans: boolean;
  /** True if the pattern lists the carriage return. */
  readonly raw: boolean;
}

/** Reads a class from its opening to its closing bracket. Throws a `WorkspaceError` if the meaning is unclear. */
export function readClass(reader: PatternReader): CharacterClass {
  const posix = /^\[:(\w+):\]/.exec(reader.rest)?.[1];
  if (posix !== undefined && posixClass(posix))
    throw invalidPattern(`[:${posix}:] is a class of characters only inside of brackets`, `Write [[:${posix}:]]`);
  reader.takes("[");
  const isNegated = reader.takes("^");
  const hasBracket = reader.rest.startsWith("]");
  if (isNegated && hasBracket && !reader.rest.includes("]", 1)) {
    reader.takes("]");
    return { source: "[^]", spans: true, raw: false };
  }
  if (!isNegated && hasBracket)
    throw invalidPattern(
      "[] is an empty class",
      "Write \\[\\] for the two brackets, or [\\]ab] for a class that contains ]",
    );
  const members: Member[] = [];
  do members.push(readMember(reader));
  while (!reader.takes("]"));
  const source = `[${isNegated ? "^" : ""}${members.map((one) => one.source).join("")}]`;
  const has = (code: number) => !isNegated && members.some(({ from, to }) => from <= code && code <= to);
  const letters = new Set(members.map(({ letter }) => letter));
  const hasAll = !isNegated && Object.keys(SETS).some((one) => letters.has(one) && letters.has(one.toUpperCase()));
  return { source, spans: hasAll || has(10) || has(13), raw: has(13) };
}

interface Member {
  readonly source: string;
  /** The first and last code of the listed characters; NaN for a named set. */
  readonly from: number;
  readonly to: number;
  readonly letter?: string;
}

function readMember(reader: PatternReader): Member {
  if (/^(?:&&|--|~~)\[/.test(reader.rest))
    throw invalidPattern("Classes cannot be intersected", "Write (?![aeiou])[a-z] for [a-z&&[^aeiou]]");
  const first = readOne(reader);
  if (Number.isNaN(first.from) || !/^-(?:[^\]\\[]|\\[^dwshvpP]|\[(?!:))/i.test(reader.rest)) return first;
  reader.takes("-");
  const last = readOne(reader);
  if (last.from < first.from) throw invalidPattern("Range out of order in character class");
  return { source: `${first.source}-${last.source}`, from: first.from, to: last.to };
}

function readOne(reader: PatternReader): Member {
  if (reader.isAtEnd) throw invalidPattern("Unterminated character class");
  const posix = reader.match(/^\[:(\^?)(\w+):\]/);
  if (posix) {
    const members = posixClass(posix[2]);
    return namedMember(posix[1] ? `[^${members}]` : members);
  }
  const character = reader.character();
  if (character !== "\\") return single(character);
  const meant = readCharacter(reader);
  if (meant !== undefined) return single(meant);
  const property = readProperty(reader);
  if (property !== undefined) return namedMember(property);
  const letter = reader.isAtEnd ? "\\" : reader.character();
  const set = SETS[letter.toLowerCase()];
  if (set === undefined) return single(letter === "b" ? "\b" : ownCharacter(letter));
  return { ...namedMember(letter === letter.toLowerCase() ? set : `[^${set}]`), letter };
}

function namedMember(source: string): Member {
  return { source, from: Number.NaN, to: Number.NaN };
}

function single(character: string): Member {
  const { source, code } = member(character);
  return { source, from: code, to: code };
}
