import { CHANGES, type Keys, MOST, needsMoreKeys, type Operator, readVimKeys, SELECTED } from "./vim-command.ts";
import {
  CASES,
  extentEnd,
  joinLines,
  moveByLines,
  otherCase,
  replaceCharacters,
  selectionExtent,
  shiftedLines,
} from "./vim-edits.ts";
import {
  firstNonBlank,
  lineAround,
  motionOf,
  objectAt,
  placeAfter,
  type Range,
  REST,
  type TextWithCursor,
  unitsOf,
} from "./vim-motions.ts";

/** Result of a key: a new text or cursor, an action of the editor, or nothing. */
export type VimStep = TextWithCursor | "up" | "down" | "undo" | undefined;

/** The last deleted or yanked text: whole lines, or part of a line. */
interface Register {
  readonly text: string;
  readonly isLines: boolean;
}

/** The mode, which decides what letters mean: text, commands, or commands on the selection. */
export type VimMode = "insert" | "normal" | "visual" | "visual line";

/**
 * vi's keys for the prompt (T56). The prompt begins in insert mode; in normal mode, letters move and edit.
 * This class computes the effect of a key. The editor applies the edit, so there is only one undo history.
 *
 * ```
 * insert ──Esc──▶ normal: h j k l w b e W B E 0 ^ $ gg G f F t T ; ,   move, with a count
 *    ▲              │    d c y with one of these or with iw a" i( ..., dd cc yy, x X D C s S Y, r ~ J, p P, u .   edit
 *    ╰─i a I A o O, c╯
 *                 │ v V
 *                 ╰──▶ visual: selects between anchor and cursor; o swaps them, iw a" i( ... select an object,
 *                      d x c s y p P r ~ u U J > < act on the selection, and Esc, v, V end it
 * ```
 */
export class Vim {
  #mode: VimMode = "insert";
  /** One end of the selection; the cursor is at the other. */
  #anchor = 0;
  /** Keys of an incomplete command, such as `2d` or `f`. */
  #pending = "";
  #register: Register = { text: "", isLines: false };
  #found: string | undefined;
  /** The last change and its inserted text. */
  #last: { readonly again: (place: TextWithCursor) => VimStep; readonly inserted: string } | undefined;
  #before: TextWithCursor | undefined;

  get mode(): VimMode {
    return this.#mode;
  }

  /** The selection, including the character under the cursor. */
  selected({ text, at }: TextWithCursor): Range | undefined {
    if (!this.#isVisual) return undefined;
    const [first, last] = [Math.min(at, this.#anchor), Math.min(text.length, Math.max(at, this.#anchor))];
    if (this.#mode === "visual line") return [lineAround(text, first)[0], lineAround(text, last)[1]];
    return [first, last < text.length ? placeAfter(text, last) : last];
  }

  deselect(): void {
    if (this.#isVisual) this.#mode = "normal";
  }

  /** Returns to insert mode, as after sending a message. */
  insert(): void {
    this.#mode = "insert";
    this.#pending = "";
    this.#before = undefined;
  }

  /** Esc: ends insert mode and moves left, or drops an incomplete command. */
  escape({ text, at }: TextWithCursor): TextWithCursor {
    this.#pending = "";
    if (this.#mode === "normal") return { text, at };
    if (this.#isVisual) {
      this.deselect();
      return this.settled({ text, at });
    }
    this.#mode = "normal";
    this.#noteInserted(text);
    const left = unitsOf(text).findLast((unit) => unit.at < at);
    return { text, at: left && left.kind !== "end" ? left.at : at };
  }

  key(character: string, place: TextWithCursor): VimStep {
    if (this.#isVisual) {
      const step = this.#visualKey(character, place);
      this.#begin(step);
      return step;
    }
    const keys = this.#pending + character;
    this.#pending = "";
    const command = readVimKeys(keys);
    if (needsMoreKeys(command)) {
      this.#pending = keys;
      return undefined;
    }
    if (command.rest === ".") return this.#again(place);
    const step = this.#carryOut(command, place);
    const isChange = command.operator ? command.operator !== "y" : CHANGES.test(command.rest);
    if (isChange && step !== undefined) {
      this.#last = { again: (from) => this.#carryOut(command, from), inserted: "" };
      this.#begin(step);
    }
    return step;
  }

  #begin(step: VimStep): void {
    this.#before = this.#mode === "insert" && typeof step === "object" ? step : undefined;
  }

  /** The cursor's place in normal mode: on a character; after the last one only on an empty line. */
  settled({ text, at }: TextWithCursor): TextWithCursor {
    const [start, end] = lineAround(text, at);
    return at === end && end > start
      ? { text, at: unitsOf(text).findLast((unit) => unit.at < at)?.at ?? at }
      : { text, at };
  }

  get #isVisual(): boolean {
    return this.#mode === "visual" || this.#mode === "visual line";
  }

  #visualKey(character: string, place: TextWithCursor): VimStep {
    const keys = this.#pending + character;
    const [, digits = "", key = ""] = /^([1-9]\d*)?(.*)$/su.exec(keys) ?? [];
    const isBegun = key === "" || /^[gfFtTria]$/.test(key);
    this.#pending = isBegun ? keys : "";
    if (isBegun) return undefined;
    return this.#visual(key, digits === "" ? undefined : Math.min(MOST, Number(digits)), place);
  }

  #visual(key: string, count: number | undefined, place: TextWithCursor): VimStep {
    const { text, at } = place;
    const range = this.selected(place) ?? [at, at];
    const isLines = this.#mode === "visual line" || /^[DXYCSR]$/.test(key);
    const operator = SELECTED[key];
    if (operator !== undefined) {
      this.#changing(key, count, place);
      const [first, last] = [lineAround(text, range[0])[0], lineAround(text, Math.max(range[0], range[1] - 1))[1]];
      if (!isLines) return this.#cut(operator, { text, at: range[0] }, ...range);
      return this.#wholeLines(operator, { text, at: first }, first, Math.max(last, range[1]));
    }
    if (/^(?:[pPJ<>~uU]|r.)$/su.test(key)) {
      this.#changing(key, count, place);
      return this.#changeSelected(key, count ?? 1, text, range, isLines);
    }
    if (key === "v" || key === "V") {
      const mode = key === "v" ? "visual" : "visual line";
      if (this.#mode === mode) return this.escape(place);
      this.#mode = mode;
      return place;
    }
    return this.#selectTo(key, count, place);
  }

  /** Ends the selection and records the change. `.` repeats it on an equally large part after the cursor. */
  #changing(key: string, count: number | undefined, place: TextWithCursor): void {
    const mode = this.#mode;
    const extent = selectionExtent(place.text, this.selected(place) ?? [place.at, place.at]);
    this.#mode = "normal";
    if (SELECTED[key] === "y") return;
    const again = (from: TextWithCursor) => {
      this.#mode = mode;
      this.#anchor = from.at;
      return this.#visual(key, count, extentEnd(extent, from));
    };
    this.#last = { again, inserted: "" };
  }

  #selectTo(key: string, count: number | undefined, place: TextWithCursor): VimStep {
    const { text, at } = place;
    if (key === "o") {
      const other = this.#anchor;
      this.#anchor = at;
      return { text, at: other };
    }
    if (key === "j" || key === "k") return moveByLines(place, (key === "j" ? 1 : -1) * (count ?? 1)) ?? place;
    if (/^[ia]./su.test(key)) {
      const object = objectAt(key, place);
      if (!object || object[0] === object[1]) return undefined;
      this.#anchor = object[0];
      return { text, at: unitsOf(text).findLast((unit) => unit.at < object[1])?.at ?? at };
    }
    const to = this.#target(key, count, place);
    return to && this.settled({ text, at: to.at });
  }

  #changeSelected(key: string, count: number, text: string, range: Range, isLines: boolean): VimStep {
    const [from, to] = range;
    const selected = text.slice(from, to);
    const replace = (by: string, at = from): TextWithCursor =>
      this.settled({ text: text.slice(0, from) + by + text.slice(to), at });
    switch (key.slice(0, 1)) {
      case "p":
      case "P": {
        const { text: kept, isLines: areLines } = this.#register;
        if (key === "p") this.#register = { text: selected, isLines };
        const put = Array<string>(count)
          .fill(kept)
          .join(areLines ? "\n" : "");
        if (areLines && !isLines) return replace(`\n${put}\n`, from + 1);
        return replace(put, areLines ? from : from + Math.max(0, put.length - 1));
      }
      case "J":
        return joinLines({ text, at: from }, Math.max(1, selected.split("\n").length - 1));
      case ">":
      case "<":
        return this.settled(shiftedLines(text, range, key === ">" ? count : -count));
      default: {
        const form = key.startsWith("r") ? () => key.slice(1) : CASES[key];
        const units = unitsOf(selected).map((unit) => (unit.kind === "end" || !form ? unit.text : form(unit.text)));
        return replace(units.join(""));
      }
    }
  }

  #noteInserted(text: string): void {
    const { text: before = "", at = 0 } = this.#before ?? {};
    const [head, tail] = [before.slice(0, at), before.slice(at)];
    const length = text.length - before.length;
    const isAdded = this.#before && length >= 0 && text.startsWith(head) && text.endsWith(tail);
    if (isAdded && this.#last) this.#last = { ...this.#last, inserted: text.slice(at, at + length) };
    this.#before = undefined;
  }

  #again(place: TextWithCursor): VimStep {
    const last = this.#last;
    if (!last) return undefined;
    const step = last.again(place);
    this.#last = last;
    if (this.#mode === "normal" || typeof step !== "object") return step;
    this.#mode = "normal";
    const { text, at } = step;
    const { inserted } = last;
    return this.settled({
      text: text.slice(0, at) + inserted + text.slice(at),
      at: at + Math.max(0, inserted.length - 1),
    });
  }

  #carryOut({ count, operator, rest }: Keys, place: TextWithCursor): VimStep {
    return operator ? this.#operate(operator, rest, count, place) : this.#simple(rest, count, place);
  }

  #simple(key: string, given: number | undefined, { text, at }: TextWithCursor): VimStep {
    const count = given ?? 1;
    const [start, end] = lineAround(text, at);
    const inserting = (place: TextWithCursor): TextWithCursor => {
      this.#mode = "insert";
      return place;
    };
    switch (key.slice(0, 1)) {
      case "j":
        return count === 1 ? "down" : moveByLines({ text, at }, count);
      case "k":
        return count === 1 ? "up" : moveByLines({ text, at }, -count);
      case "v":
      case "V":
        this.#mode = key === "v" ? "visual" : "visual line";
        this.#anchor = at;
        return { text, at };
      case "u":
        return "undo";
      case "i":
        return inserting({ text, at });
      case "a":
        return inserting({ text, at: Math.min(end, placeAfter(text, at)) });
      case "I":
        return inserting({ text, at: firstNonBlank(text, start, end) });
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
        return replaceCharacters({ text, at }, count, () => key.slice(1));
      case "~": {
        const turned = replaceCharacters({ text, at }, count, otherCase, true);
        return turned && this.settled({ ...turned, at: placeAfter(turned.text, turned.at) });
      }
      case "J":
        return joinLines({ text, at }, Math.max(1, count - 1));
      default: {
        const to = this.#target(key, given, { text, at });
        return to && this.settled({ text, at: to.at });
      }
    }
  }

  /** The target of a motion; `;` and `,` repeat the last character search. */
  #target(motion: string, count: number | undefined, place: TextWithCursor) {
    if (/^[fFtT]./su.test(motion)) this.#found = motion;
    const isAgain = motion === ";" || motion === ",";
    if (isAgain && this.#found === undefined) return undefined;
    const found = this.#found ?? "";
    // The capital letter searches in the opposite direction.
    const meant = motion === ";" ? found : motion === "," ? otherCase(found.slice(0, 1)) + found.slice(1) : motion;
    return motionOf(meant, place, { count: count ?? 1, ...(count !== undefined && { line: count }), isAgain });
  }

  #operate(operator: Operator, motion: string, count: number | undefined, place: TextWithCursor): VimStep {
    const { text, at } = place;
    const lines = { [operator]: (count ?? 1) - 1, j: count ?? 1, k: -(count ?? 1) }[motion];
    if (lines !== undefined || motion === "gg" || motion === "G") {
      const to = lines === undefined ? this.#target(motion, count, place) : moveByLines(place, lines);
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
    // Over words, the last line's end stays, and so does the indentation before the next word.
    const passed = motion.toLowerCase() === "w" ? (/\n\s*$/.exec(text.slice(at, to.at))?.[0].length ?? 0) : 0;
    const target = (to.isInclusive ? placeAfter(text, to.at) : to.at) - passed;
    return this.#cut(operator, place, Math.min(at, target), Math.max(at, target));
  }

  #cut(operator: Operator, { text, at }: TextWithCursor, from: number, to: number): VimStep {
    if (from === to && operator !== "c") return undefined;
    this.#register = { text: text.slice(from, to), isLines: false };
    if (operator === "y") return { text, at: Math.min(at, from) };
    const cut = { text: text.slice(0, from) + text.slice(to), at: from };
    if (operator === "d") return this.settled(cut);
    this.#mode = "insert";
    return cut;
  }

  #wholeLines(operator: Operator, { text, at }: TextWithCursor, start: number, end: number): VimStep {
    this.#register = { text: text.slice(start, end), isLines: true };
    if (operator === "y") return { text, at };
    if (operator === "c") {
      this.#mode = "insert";
      return { text: text.slice(0, start) + text.slice(end), at: start };
    }
    // Also remove a line end: the one after, or before the last line.
    const rest = end < text.length ? text.slice(0, start) + text.slice(end + 1) : text.slice(0, Math.max(0, start - 1));
    const [first, last] = lineAround(rest, Math.min(start, rest.length));
    return { text: rest, at: firstNonBlank(rest, first, last) };
  }

  #put(isBehind: boolean, count: number, { text, at }: TextWithCursor): VimStep {
    const { text: kept, isLines } = this.#register;
    const [start, end] = lineAround(text, at);
    if (isLines) {
      const put = Array<string>(count).fill(kept).join("\n");
      const line = isBehind ? end + 1 : start;
      const whole = isBehind
        ? `${text.slice(0, end)}\n${put}${text.slice(end)}`
        : `${text.slice(0, start)}${put}\n${text.slice(start)}`;
      return { text: whole, at: firstNonBlank(whole, line, lineAround(whole, line)[1]) };
    }
    if (kept === "") return undefined;
    const put = kept.repeat(count);
    const where = isBehind ? Math.min(end, placeAfter(text, at)) : at;
    return this.settled({
      text: text.slice(0, where) + put + text.slice(where),
      at: where + Math.max(0, put.length - 1),
    });
  }
}
