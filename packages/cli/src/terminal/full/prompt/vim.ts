import { behind, firstOf, lineAround, motionOf, objectAt, REST, unitsOf } from "./vim-motions.ts";

/** A text and where its cursor stands, counted in code units. */
export interface TextAt {
  readonly text: string;
  readonly at: number;
}

/** What a key comes to: another text or place, something that the editor does itself, or nothing. */
export type VimStep = TextAt | "up" | "down" | "undo" | undefined;

/** What was deleted or copied last: whole lines, or a piece of one. */
interface Register {
  readonly text: string;
  readonly isLines: boolean;
}

type Operator = "d" | "c" | "y";

/** Keys of a command, by what they are: `2d3w` deletes six words. */
interface Command {
  readonly count: number | undefined;
  readonly operator: Operator | undefined;
  /** A motion, an object, or a letter that is a command of its own. */
  readonly rest: string;
}

/** Letters that stand for an operator and a motion. */
const SHORT: Readonly<Record<string, string>> = { x: "dl", X: "dh", D: "d$", C: "c$", s: "cl", S: "cc", Y: "yy" };

/** How often a command is done at most: a larger number is a slip of the hand. */
const MOST = 999;

/** Letters that change a text, beside the operators: `.` does them again. */
const CHANGES = /^[rJ~pPiaIAoO]/;

/**
 * The keys of vi for the text of a prompt (T56): a mode to insert, in which it begins, and a normal one, in which letters
 * move and edit. What a key does to a text is worked out here; the editor carries it out, so that there is one way to undo.
 *
 * ```
 * insert ──Esc──▶ normal: h j k l w b e W B E 0 ^ $ gg G f F t T ; ,   move, so many times
 *    ▲              │    d c y with one of these or with iw a" i( ..., dd cc yy, x X D C s S Y, r ~ J, p P, u .   edit
 *    ╰─i a I A o O, c╯
 * ```
 */
export class Vim {
  #mode: "insert" | "normal" = "insert";
  /** The keys of a command that is not whole yet: `2d`, `f`. */
  #pending = "";
  #register: Register = { text: "", isLines: false };
  /** The last search for a character on its line. */
  #found: string | undefined;
  /** The last command that changed the text, and what was inserted then. */
  #last: { readonly command: Command; readonly inserted: string } | undefined;
  /** The text when inserting began. */
  #before: TextAt | undefined;

  get mode(): "insert" | "normal" {
    return this.#mode;
  }

  /** Inserts again, as after a message was sent. */
  insert(): void {
    this.#mode = "insert";
    this.#pending = "";
    this.#before = undefined;
  }

  /** Esc: leaves the mode to insert, a character to the left, or drops what was begun. */
  escape({ text, at }: TextAt): TextAt {
    this.#pending = "";
    if (this.#mode === "normal") return { text, at };
    this.#mode = "normal";
    this.#noteInserted(text);
    const left = unitsOf(text).findLast((unit) => unit.at < at);
    return { text, at: left && left.kind !== "end" ? left.at : at };
  }

  /** A character in the normal mode. */
  key(character: string, place: TextAt): VimStep {
    const keys = this.#pending + character;
    this.#pending = "";
    const command = commandOf(keys);
    if (isBegun(command)) {
      this.#pending = keys;
      return undefined;
    }
    if (command.rest === ".") return this.#again(place);
    const step = this.#carryOut(command, place);
    const isChange = command.operator ? command.operator !== "y" : CHANGES.test(command.rest);
    if (isChange && step !== undefined) {
      this.#last = { command, inserted: "" };
      this.#before = this.#mode === "insert" && typeof step === "object" ? step : undefined;
    }
    return step;
  }

  /** Where the cursor may stand in the normal mode: on a character, and behind the last one only of an empty line. */
  settled({ text, at }: TextAt): TextAt {
    const [start, end] = lineAround(text, at);
    return at === end && end > start
      ? { text, at: unitsOf(text).findLast((unit) => unit.at < at)?.at ?? at }
      : { text, at };
  }

  #noteInserted(text: string): void {
    const { text: before = "", at = 0 } = this.#before ?? {};
    const [head, tail] = [before.slice(0, at), before.slice(at)];
    const length = text.length - before.length;
    const isAdded = this.#before && length >= 0 && text.startsWith(head) && text.endsWith(tail);
    if (isAdded && this.#last) this.#last = { ...this.#last, inserted: text.slice(at, at + length) };
    this.#before = undefined;
  }

  /** Does again what changed the text last. */
  #again(place: TextAt): VimStep {
    if (!this.#last) return undefined;
    const { command, inserted } = this.#last;
    const step = this.#carryOut(command, place);
    if (this.#mode === "normal" || typeof step !== "object") return step;
    this.#mode = "normal";
    const { text, at } = step;
    const written = { text: text.slice(0, at) + inserted + text.slice(at), at: at + Math.max(0, inserted.length - 1) };
    return this.settled(written);
  }

  #carryOut({ count, operator, rest }: Command, place: TextAt): VimStep {
    return operator ? this.#operate(operator, rest, count, place) : this.#simple(rest, count, place);
  }

  #simple(key: string, given: number | undefined, { text, at }: TextAt): VimStep {
    const count = given ?? 1;
    const [start, end] = lineAround(text, at);
    const inserting = (place: TextAt): TextAt => {
      this.#mode = "insert";
      return place;
    };
    switch (key.slice(0, 1)) {
      case "j":
        return count === 1 ? "down" : linesAway({ text, at }, count);
      case "k":
        return count === 1 ? "up" : linesAway({ text, at }, -count);
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
      case "p":
      case "P":
        return this.#put(key === "p", count, { text, at });
      case "r":
        return replaced({ text, at }, count, () => key.slice(1));
      case "~": {
        const turned = replaced({ text, at }, count, otherCase, true);
        return turned && this.settled({ ...turned, at: behind(turned.text, turned.at) });
      }
      case "J":
        return joined({ text, at }, Math.max(1, count - 1));
      default: {
        const to = this.#target(key, given, { text, at });
        return to && this.settled({ text, at: to.at });
      }
    }
  }

  /** Where a motion leads; `;` and `,` search again for the character that was searched for last. */
  #target(motion: string, count: number | undefined, place: TextAt) {
    if (/^[fFtT]./su.test(motion)) this.#found = motion;
    const isAgain = motion === ";" || motion === ",";
    if (isAgain && this.#found === undefined) return undefined;
    const found = this.#found ?? "";
    // The capital letter searches the other way.
    const meant = motion === ";" ? found : motion === "," ? otherCase(found.slice(0, 1)) + found.slice(1) : motion;
    return motionOf(meant, place, { count: count ?? 1, ...(count !== undefined && { line: count }), isAgain });
  }

  #operate(operator: Operator, motion: string, count: number | undefined, place: TextAt): VimStep {
    const { text, at } = place;
    const lines = { [operator]: (count ?? 1) - 1, j: count ?? 1, k: -(count ?? 1) }[motion];
    if (lines !== undefined || motion === "gg" || motion === "G") {
      const to = lines === undefined ? this.#target(motion, count, place) : linesAway(place, lines);
      if (!to) return undefined;
      const [first, last] = [lineAround(text, Math.min(at, to.at))[0], lineAround(text, Math.max(at, to.at))[1]];
      return this.#wholeLines(operator, place, first, last);
    }
    if (/^[ia]./su.test(motion)) {
      const range = objectAt(motion, place);
      return range && this.#cut(operator, place, ...range);
    }
    const to = this.#target(operator === "c" && motion.toLowerCase() === "w" ? REST : motion, count, place);
    if (!to) return undefined;
    // Over words, the end of the last line stays, and what is before the word on the next one.
    const passed = motion.toLowerCase() === "w" ? (/\n\s*$/.exec(text.slice(at, to.at))?.[0].length ?? 0) : 0;
    const target = (to.isInclusive ? behind(text, to.at) : to.at) - passed;
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

  #put(isBehind: boolean, count: number, { text, at }: TextAt): VimStep {
    const { text: kept, isLines } = this.#register;
    const [start, end] = lineAround(text, at);
    if (isLines) {
      const put = Array<string>(count).fill(kept).join("\n");
      const line = isBehind ? end + 1 : start;
      const whole = isBehind
        ? `${text.slice(0, end)}\n${put}${text.slice(end)}`
        : `${text.slice(0, start)}${put}\n${text.slice(start)}`;
      return { text: whole, at: firstOf(whole, line, lineAround(whole, line)[1]) };
    }
    if (kept === "") return undefined;
    const put = kept.repeat(count);
    const where = isBehind ? Math.min(end, behind(text, at)) : at;
    return this.settled({
      text: text.slice(0, where) + put + text.slice(where),
      at: where + Math.max(0, put.length - 1),
    });
  }
}

/** What keys say so far. A letter that stands for an operator and a motion is these. */
function commandOf(keys: string): Command {
  const [, first = "", operator, times = "", given = ""] =
    /^([1-9]\d*)?(?:([dcy])([1-9]\d*)?)?(.*)$/su.exec(keys) ?? [];
  const short = operator === undefined ? SHORT[given] : undefined;
  const count = first === "" && times === "" ? undefined : Math.min(MOST, Number(first || 1) * Number(times || 1));
  if (short !== undefined) return { count, operator: short.slice(0, 1) as Operator, rest: short.slice(1) };
  return { count, operator: operator as Operator | undefined, rest: given };
}

/** Whether more keys belong to a command. */
function isBegun({ operator, rest }: Command): boolean {
  return rest === "" || /^[gfFtT]$/.test(rest) || (operator ? /^[ia]$/ : /^r$/).test(rest);
}

/** The place so many lines below, or above when they are less than none: in the same column, where the line is that long. */
function linesAway({ text, at }: TextAt, count: number): TextAt | undefined {
  const [start] = lineAround(text, at);
  let line = start;
  for (let left = Math.abs(count); left > 0; left--) {
    const next = count > 0 ? lineAround(text, line)[1] + 1 : line === 0 ? -1 : lineAround(text, line - 1)[0];
    if (next < 0 || next > text.length) break;
    line = next;
  }
  if (line === start && count !== 0) return undefined;
  return { text, at: Math.min(line + at - start, lineAround(text, line)[1]) };
}

/** So many characters of the line in another form; nothing where it has fewer, unless they may be `fewer`. */
function replaced({ text, at }: TextAt, count: number, form: (character: string) => string, fewer = false) {
  const [, end] = lineAround(text, at);
  const units = unitsOf(text)
    .filter((unit) => unit.at >= at && unit.at < end)
    .slice(0, count);
  const last = units.at(-1);
  if (!last || (units.length < count && !fewer)) return undefined;
  const forms = units.map((unit) => form(unit.text));
  const lastAt = at + forms.slice(0, -1).join("").length;
  return { text: text.slice(0, at) + forms.join("") + text.slice(last.at + last.text.length), at: lastAt };
}

function otherCase(character: string): string {
  return character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase();
}

/** So many lines below put behind this one, each behind one blank. */
function joined({ text, at }: TextAt, times: number): TextAt | undefined {
  let place: TextAt | undefined;
  for (let time = 0; time < times; time++) {
    const from: TextAt = place ?? { text, at };
    const [start, end] = lineAround(from.text, from.at);
    if (end === from.text.length) break;
    const next = from.text.slice(end + 1).replace(/^[^\S\n]+/, "");
    const blank = end === start || next === "" || next.startsWith("\n") ? "" : " ";
    place = { text: from.text.slice(0, end) + blank + next, at: end };
  }
  return place;
}
