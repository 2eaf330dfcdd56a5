/** A text and where its cursor stands, counted in code units. */
export interface TextAt {
  readonly text: string;
  readonly at: number;
}

/** What a key comes to: another text or place, something that the editor does itself, or nothing. */
export type VimStep = TextAt | "up" | "down" | "undo" | undefined;

/** A character as a person sees it, or a long paste that stands as one piece. */
interface Unit {
  readonly at: number;
  readonly text: string;
  readonly kind: "word" | "sign" | "blank" | "end";
}

/** What was deleted or copied last: whole lines, or a piece of one. */
interface Register {
  readonly text: string;
  readonly isLines: boolean;
}

type Operator = "d" | "c" | "y";

/**
 * The keys of vi for the text of a prompt (T56): a mode to insert, in which it begins, and a normal one, in which letters
 * move and edit. What a key does to a text is worked out here; the editor carries it out, so that there is one way to undo.
 *
 * ```
 * insert ──Esc──▶ normal: h j k l w b e 0 ^ $ gg G   move
 *    ▲              │    d c y with one of these, dd cc yy, D C x, p P, u   edit
 *    ╰─i a I A o O, c╯
 * ```
 */
export class Vim {
  #mode: "insert" | "normal" = "insert";
  /** An operator that waits for a motion, and the first `g` of two. */
  #pending = "";
  #register: Register = { text: "", isLines: false };

  get mode(): "insert" | "normal" {
    return this.#mode;
  }

  /** Inserts again, as after a message was sent. */
  insert(): void {
    this.#mode = "insert";
    this.#pending = "";
  }

  /** Esc: leaves the mode to insert, a character to the left, or drops what was begun. */
  escape({ text, at }: TextAt): TextAt {
    this.#pending = "";
    if (this.#mode === "normal") return { text, at };
    this.#mode = "normal";
    const left = unitsOf(text).findLast((unit) => unit.at < at);
    return { text, at: left && left.kind !== "end" ? left.at : at };
  }

  /** A character in the normal mode. */
  key(character: string, { text, at }: TextAt): VimStep {
    const keys = this.#pending + character;
    this.#pending = "";
    if (["d", "c", "y", "g", "dg", "cg", "yg"].includes(keys)) {
      this.#pending = keys;
      return undefined;
    }
    const [, operator, motion = ""] = /^([dcy])(.+)$/.exec(keys) ?? [];
    return operator ? this.#operate(operator as Operator, motion, { text, at }) : this.#simple(keys, { text, at });
  }

  /** Where the cursor may stand in the normal mode: on a character, and behind the last one only of an empty line. */
  settled({ text, at }: TextAt): TextAt {
    const [start, end] = lineAround(text, at);
    return at === end && end > start
      ? { text, at: unitsOf(text).findLast((unit) => unit.at < at)?.at ?? at }
      : { text, at };
  }

  #simple(key: string, { text, at }: TextAt): VimStep {
    const [start, end] = lineAround(text, at);
    const inserting = (place: TextAt): TextAt => {
      this.#mode = "insert";
      return place;
    };
    switch (key) {
      case "j":
        return "down";
      case "k":
        return "up";
      case "u":
        return "undo";
      case "i":
        return inserting({ text, at });
      case "a":
        return inserting({ text, at: Math.min(end, behind(text, at)) });
      case "I":
        return inserting({ text, at: firstOf(text, start, end) });
      case "A":
        return inserting({ text, at: end });
      case "o":
        return inserting({ text: `${text.slice(0, end)}\n${text.slice(end)}`, at: end + 1 });
      case "O":
        return inserting({ text: `${text.slice(0, start)}\n${text.slice(start)}`, at: start });
      case "x":
        return this.#cut("d", { text, at }, at, Math.min(end, behind(text, at)));
      case "D":
        return this.#cut("d", { text, at }, at, end);
      case "C":
        return this.#cut("c", { text, at }, at, end);
      case "p":
      case "P":
        return this.#put(key === "p", { text, at });
      default: {
        const to = motionOf(key, { text, at });
        return to && this.settled({ text, at: to.at });
      }
    }
  }

  #operate(operator: Operator, motion: string, place: TextAt): VimStep {
    const { text, at } = place;
    const [start, end] = lineAround(text, at);
    if (motion === operator) return this.#wholeLines(operator, place, start, end);
    const to = motionOf(operator === "c" && motion === "w" ? REST : motion, place);
    if (!to) return undefined;
    if (motion === "gg" || motion === "G") {
      const [first, last] = [lineAround(text, Math.min(at, to.at))[0], lineAround(text, Math.max(at, to.at))[1]];
      return this.#wholeLines(operator, place, first, last);
    }
    const target = to.isInclusive ? behind(text, to.at) : motion === "w" ? Math.min(to.at, end) : to.at;
    return this.#cut(operator, place, Math.min(at, target), Math.max(at, target));
  }

  #cut(operator: Operator, { text, at }: TextAt, from: number, to: number): VimStep {
    if (from === to && operator !== "c") return undefined;
    this.#register = { text: text.slice(from, to), isLines: false };
    if (operator === "y") return { text, at: Math.min(at, from) };
    const cut = { text: text.slice(0, from) + text.slice(to), at: from };
    if (operator === "d") return this.settled(cut);
    this.#mode = "insert";
    return cut;
  }

  #wholeLines(operator: Operator, { text, at }: TextAt, start: number, end: number): VimStep {
    this.#register = { text: text.slice(start, end), isLines: true };
    if (operator === "y") return { text, at };
    if (operator === "c") {
      this.#mode = "insert";
      return { text: text.slice(0, start) + text.slice(end), at: start };
    }
    // The line end goes too: that behind it, or of the last line that before it.
    const rest = end < text.length ? text.slice(0, start) + text.slice(end + 1) : text.slice(0, Math.max(0, start - 1));
    const [first, last] = lineAround(rest, Math.min(start, rest.length));
    return { text: rest, at: firstOf(rest, first, last) };
  }

  #put(isBehind: boolean, { text, at }: TextAt): VimStep {
    const { text: put, isLines } = this.#register;
    const [start, end] = lineAround(text, at);
    if (isLines) {
      const line = isBehind ? end + 1 : start;
      const whole = isBehind
        ? `${text.slice(0, end)}\n${put}${text.slice(end)}`
        : `${text.slice(0, start)}${put}\n${text.slice(start)}`;
      return { text: whole, at: firstOf(whole, line, lineAround(whole, line)[1]) };
    }
    if (put === "") return undefined;
    const where = isBehind ? Math.min(end, behind(text, at)) : at;
    return this.settled({
      text: text.slice(0, where) + put + text.slice(where),
      at: where + Math.max(0, put.length - 1),
    });
  }
}

/** The motion to the end of what is under the cursor: a word that is changed keeps the blank behind it. */
const REST = "rest";

/** Where a motion leads; `isInclusive`: what is changed by it goes up to the end of the character there. */
function motionOf(
  motion: string,
  { text, at }: TextAt,
): { readonly at: number; readonly isInclusive?: boolean } | undefined {
  const [start, end] = lineAround(text, at);
  const units = unitsOf(text);
  const here = units.findLastIndex((unit) => unit.at <= at);
  const kind = (index: number) => units[index]?.kind;
  const isGap = (index: number) => kind(index) === "blank" || kind(index) === "end";
  const place = (index: number) => units[index]?.at ?? text.length;
  switch (motion) {
    case "h":
      return { at: Math.max(start, units.findLast((unit) => unit.at < at)?.at ?? 0) };
    case "l":
      return { at: Math.min(end, behind(text, at)) };
    case "0":
      return { at: start };
    case "^":
      return { at: firstOf(text, start, end) };
    case "$":
      return { at: end };
    case "gg":
      return { at: firstOf(text, 0, lineAround(text, 0)[1]) };
    case "G": {
      const [first, last] = lineAround(text, text.length);
      return { at: firstOf(text, first, last) };
    }
    case "w": {
      let next = here;
      if (!isGap(here)) while (kind(next) === kind(here)) next++;
      while (isGap(next)) next++;
      return { at: place(next) };
    }
    case "b": {
      let before = (here < 0 ? 0 : at >= text.length ? units.length : here) - 1;
      while (before > 0 && isGap(before)) before--;
      while (before > 0 && kind(before - 1) === kind(before)) before--;
      return { at: place(Math.max(0, before)) };
    }
    case "e": {
      let next = here + 1;
      while (isGap(next)) next++;
      while (kind(next) !== undefined && kind(next + 1) === kind(next)) next++;
      return next >= units.length ? { at: text.length } : { at: place(next), isInclusive: true };
    }
    case REST: {
      let next = here;
      while (!isGap(next) && kind(next + 1) === kind(here)) next++;
      return { at: place(next), isInclusive: !isGap(next) };
    }
    default:
      return undefined;
  }
}

/** Where the line around a place begins and ends. */
function lineAround(text: string, at: number): readonly [start: number, end: number] {
  const end = text.indexOf("\n", at);
  return [at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1, end < 0 ? text.length : end];
}

/** The first character of a line that is no blank; the end of a line of blanks alone. */
function firstOf(text: string, start: number, end: number): number {
  return end - text.slice(start, end).trimStart().length;
}

/** The place behind the character at a place. */
function behind(text: string, at: number): number {
  const unit = unitsOf(text).find((one) => one.at >= at);
  return unit ? unit.at + unit.text.length : text.length;
}

const CHARACTERS = new Intl.Segmenter();
/** How the editor writes a long paste. */
const PASTE = /(\[paste #\d+(?: (?:\+\d+ lines|\d+ chars))?\])/;

function unitsOf(text: string): Unit[] {
  let at = 0;
  return text.split(PASTE).flatMap((piece, index) => {
    const characters = index % 2 === 1 ? [piece] : Array.from(CHARACTERS.segment(piece), ({ segment }) => segment);
    return characters.map((character): Unit => {
      const unit = { at, text: character, kind: kindOf(character) };
      at += character.length;
      return unit;
    });
  });
}

function kindOf(character: string): Unit["kind"] {
  if (character === "\n") return "end";
  if (/^\s/.test(character)) return "blank";
  return (character.length > 2 && PASTE.test(character)) || /^[\p{L}\p{N}\p{M}_]/u.test(character) ? "word" : "sign";
}
