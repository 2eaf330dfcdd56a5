import { filledText } from "@banyan/client/words";
import type { QuestionField } from "@banyan/core/conversation";
import { plainLine } from "../../../show/plain-text.ts";
import { type FilledForm, type Form, placedTitle } from "../../questions/question.ts";
import type { KeyBindings } from "../keys/key-bindings.ts";
import { characterOf } from "../keys/keyboard.ts";
import { indentedLines, keyHint, lastColumns, listLine, longestThatFits, rule } from "../overlay/drawn-lines.ts";
import { LineInput } from "../overlay/line-input.ts";
import type { Overlay, OverlayEnd, OverlayView, ViewerPage } from "../overlay/overlay.ts";
import { cutToWidth, textWidth, wrapCells } from "../screen/cells.ts";
import type { ScreenSize } from "../screen/live-region.ts";
import type { Theme } from "../theme/theme.ts";

const WORDS = "Your own answer: ";

interface FieldInput {
  readonly field: QuestionField;
  /** Indices of the selected choices. */
  chosen: Set<number>;
  readonly words: LineInput;
  /**
   * The highlighted choice; the text comes after the last one. -1 until the user moves: Enter alone chooses nothing
   * (S14).
   */
  bar: number;
  /** True if the selection is the default. Typed text then replaces it. */
  isPreset: boolean;
}

/**
 * A form that asks one or more questions, one at a time. Digits, Space and arrow keys mark a choice, and Enter confirms
 * it (T64). If there are several questions, shows all answers before they are sent. Esc goes back one level: from the
 * text to the choices, from a field to the previous field.
 */
export class FormCard implements Overlay<FilledForm> {
  readonly isFull = false;
  readonly #form: Form;
  readonly #fillings: readonly FieldInput[];
  /** Index of the visible field; after the last one come all answers. */
  #at = 0;
  #hint = "";
  /** True while the user writes their own answer. */
  #isWriting = false;
  /** The state of the field before the last mark. */
  #before: Pick<FieldInput, "chosen" | "bar" | "isPreset"> | undefined;
  #isCut = false;

  constructor(form: Form) {
    this.#form = form;
    this.#fillings = form.fields.map((field, index) => ({
      field,
      chosen: new Set(field.choices.flatMap(({ label }, at) => (form.chosen?.[index]?.includes(label) ? [at] : []))),
      words: new LineInput(form.begun[index]),
      bar: -1,
      isPreset: (form.chosen?.[index]?.length ?? 0) > 0,
    }));
  }

  view({ columns, rows }: ScreenSize, theme: Theme, isArmed: boolean): OverlayView {
    const filling = this.#fillings[this.#at];
    const head = rule(theme.warning(placedTitle(this.#form.title, this.#form)), columns, theme);
    if (!filling) {
      const hint = theme.dim(cutToWidth("Enter sends all answers", columns));
      const answers = this.#answers().flatMap((line) => indentedLines(line, columns - 2));
      const room = Math.max(1, rows - 2);
      this.#isCut = answers.length > room;
      return { lines: [head, ...answers.slice(0, room).map((line) => cutToWidth(`  ${line}`, columns)), hint] };
    }
    const lines = this.#asked(filling, theme).flatMap((line) => wrapCells(line, columns));
    const text = [...this.#intro().flatMap((line) => wrapCells(line, columns)), ...lines];
    const all = this.#choices(filling, columns, theme, "all");
    const hint =
      this.#hint === ""
        ? theme.dim(longestThatFits(this.#does(filling), columns - 2) + (isArmed ? "" : " …"))
        : theme.warning(cutToWidth(this.#hint, columns));
    this.#isCut = text.length + all.length + 2 > rows;
    if (!this.#isCut) return this.#drawn([head, ...text], all, hint, filling, columns);
    const brief = this.#choices(filling, columns, theme, "brief");
    const most = Math.max(1, rows - 2 - Math.min(brief.length, Math.max(3, Math.ceil(rows / 2))));
    // Show the question from its beginning, and the form's text if there is room.
    const isLong = lines.length > most;
    const shown = isLong
      ? [...lines.slice(0, most - 1), cutToWidth(lines.slice(most - 1, most + 1).join(" "), columns)]
      : text.slice(-most);
    const room = Math.max(1, rows - 2 - shown.length);
    const top = Math.max(0, Math.min(filling.bar - room + 1, brief.length - room));
    return this.#drawn([head, ...shown], brief.slice(top, top + room), hint, filling, columns);
  }

  key(key: string, keys: KeyBindings): OverlayEnd<FilledForm> | undefined {
    this.#hint = "";
    if (keys.matches(key, "cancel")) return {};
    if (keys.matches(key, "interrupt")) return this.#back() ? undefined : {};
    const filling = this.#fillings[this.#at];
    if (!filling) {
      if (keys.matches(key, "list-choose")) return this.#done();
      if (keys.matches(key, "list-back")) this.#back();
      return undefined;
    }
    const last = filling.field.choices.length;
    if (keys.matches(key, "list-choose")) return this.#enter(filling);
    const isMove = keys.matches(key, "list-up") || keys.matches(key, "list-down");
    if (this.#isWriting && !isMove) {
      if (filling.words.key(key, keys)) this.#written(filling);
      return undefined;
    }
    this.#isWriting = false;
    this.#before = undefined;
    if (keys.matches(key, "list-up")) filling.bar = filling.bar <= 0 ? last : filling.bar - 1;
    else if (keys.matches(key, "list-down")) filling.bar = filling.bar >= last ? 0 : filling.bar + 1;
    else if (keys.matches(key, "list-first")) filling.bar = 0;
    else if (keys.matches(key, "list-last")) filling.bar = last;
    else if (keys.matches(key, "list-back")) this.#at = Math.max(0, this.#at - 1);
    else if (keys.matches(key, "list-open") && this.#fillings.length > 1) this.#at++;
    return undefined;
  }

  /** Space stands for the choice under the bar, a digit for a choice, and the last digit for the user's own answer. */
  mark(key: string): boolean {
    const filling = this.#fillings[this.#at];
    const character = characterOf(key) ?? "";
    if (!filling) return false;
    const { chosen, bar, isPreset, field } = filling;
    const named = character === " " ? bar : /^[1-9]$/.test(character) ? Number(character) - 1 : -1;
    if (named < 0 || named > field.choices.length || (character === " " && !field.choices[named])) return false;
    this.#hint = "";
    this.#before = { chosen: new Set(chosen), bar, isPreset };
    filling.bar = named;
    if (!field.choices[named]) return true;
    if (field.several || character === " ") toggle(filling, named);
    else chooseOnly(filling, named);
    return true;
  }

  unmark(): void {
    const filling = this.#fillings[this.#at];
    if (filling) Object.assign(filling, this.#before ?? { bar: -1 });
    this.#before = undefined;
  }

  get isWriting(): boolean {
    return this.#isWriting;
  }

  spares(key: string, keys: KeyBindings): boolean {
    return this.#at === 0 && !this.#isWriting && keys.matches(key, "interrupt");
  }

  paste(text: string): void {
    const filling = this.#fillings[this.#at];
    if (!filling) return;
    filling.words.text += plainLine(text);
    this.#written(filling);
  }

  footer(keys: KeyBindings): readonly string[] {
    const { isWriting } = this;
    return [
      keyHint(
        keys,
        "interrupt",
        isWriting ? "goes back to the choices" : this.#at > 0 ? "goes back" : "stops the agent",
      ),
      ...(this.#isCut ? [keyHint(keys, "open-output", "all of it")] : []),
    ];
  }

  get page(): ViewerPage {
    const { title, text, fields } = this.#form;
    return {
      title,
      lines: (width, theme) => [
        ...text.split("\n").flatMap((line) => wrapCells(line, width)),
        ...fields.flatMap(({ heading, text: question, choices }) => [
          "",
          ...wrapCells(heading === "" ? question : `${theme.bold(heading)}: ${question}`, width),
          ...choices.flatMap(({ label, description }, index) =>
            indentedLines(
              `${index + 1}  ${label}${description === undefined ? "" : `: ${description}`}`,
              width - 5,
              "     ",
            ),
          ),
        ]),
      ],
    };
  }

  #enter(filling: FieldInput): OverlayEnd<FilledForm> | undefined {
    const { field, words, bar } = filling;
    if (bar === field.choices.length && !this.#isWriting) {
      this.#isWriting = true;
      return undefined;
    }
    if (!field.several && field.choices[bar]) chooseOnly(filling, bar);
    if (bar < 0) this.#hint = "Choose an answer first.";
    else if (filling.chosen.size === 0 && words.text.trim() === "")
      this.#hint = this.#isWriting ? "Type an answer first." : "Nothing chosen yet. Press Space to choose.";
    else return this.#next();
    return undefined;
  }

  #next(): OverlayEnd<FilledForm> | undefined {
    this.#isWriting = false;
    this.#before = undefined;
    if (this.#fillings.length === 1) return this.#done();
    this.#at++;
    return undefined;
  }

  /** Goes back one level. Returns whether there was one. */
  #back(): boolean {
    if (this.#isWriting) this.#isWriting = false;
    else if (this.#at > 0) this.#at--;
    else return false;
    return true;
  }

  #written({ chosen, words, isPreset }: FieldInput): void {
    if (isPreset) chosen.clear();
    this.#form.onWords?.(this.#at, words.text);
  }

  #done(): OverlayEnd<FilledForm> {
    return { result: this.#filled() };
  }

  #filled(): FilledForm {
    return this.#fillings.map(({ field, chosen, words }) => ({
      chosen: field.choices.map(({ label }) => label).filter((_, index) => chosen.has(index)),
      words: words.text.trim(),
    }));
  }

  #answers(): readonly string[] {
    const { fields } = this.#form;
    return (filledText(fields, this.#filled()) ?? "Nothing answered.").split("\n");
  }

  #intro(): readonly string[] {
    const { text } = this.#form;
    return this.#at === 0 && text !== "" ? text.split("\n") : [];
  }

  #asked({ field }: FieldInput, theme: Theme): readonly string[] {
    const count = this.#fillings.length;
    const place = count > 1 ? theme.dim(`${this.#at + 1} of ${count} · `) : "";
    const heading = field.heading === "" ? "" : `${theme.bold(field.heading)}: `;
    return `${place}${heading}${field.text}`.split("\n");
  }

  /** The lines of the choices; in brief, one line each. The typed text comes last, on one line. */
  #choices({ field, chosen, words, bar }: FieldInput, columns: number, theme: Theme, how: "all" | "brief"): string[] {
    const [open, close] = field.several ? ["[", "]"] : ["(", ")"];
    const lines = field.choices.flatMap(({ label, description }, index) => {
      const mark = `${open}${chosen.has(index) ? "x" : " "}${close}`;
      const said = description === undefined ? "" : theme.dim(`  ${description}`);
      const line = `${index + 1} ${mark} ${label}${how === "brief" ? said : ""}`;
      const head = listLine(cutToWidth(line, columns - 2), index === bar, columns, theme);
      if (how === "brief" || description === undefined) return [head];
      return [head, ...wrapCells(theme.dim(description), columns - 8).map((more) => `        ${more}`)];
    });
    const room = Math.max(1, columns - textWidth(WORDS) - 5);
    const isHere = bar === field.choices.length;
    const digit = field.choices.length < 9 ? field.choices.length + 1 : " ";
    return [...lines, `${isHere ? "❯" : " "} ${digit} ${theme.dim(WORDS)}${lastColumns(words.text, room)}`];
  }

  #drawn(
    top: readonly string[],
    choices: readonly string[],
    hint: string,
    filling: FieldInput,
    columns: number,
  ): OverlayView {
    const lines = [...top, ...choices, hint];
    if (!this.#isWriting) return { lines };
    const column =
      4 + textWidth(WORDS) + textWidth(lastColumns(filling.words.text, Math.max(1, columns - textWidth(WORDS) - 5)));
    return { lines, cursor: { row: lines.length - 2, column: Math.min(column, columns - 1) } };
  }

  #does({ field, bar }: FieldInput): readonly string[] {
    const enter = this.#fillings.length === 1 ? "sends" : "goes on";
    if (this.#isWriting) return [`Enter ${enter}`];
    if (bar === field.choices.length) return ["Press Enter to write your own answer"];
    return field.several
      ? [`Choose with arrow keys and Space · Enter ${enter}`, `Space chooses · Enter ${enter}`]
      : [`Choose with a digit or arrow keys · Enter ${enter}`, `A digit chooses · Enter ${enter}`];
  }
}

function chooseOnly(filling: FieldInput, choice: number): void {
  filling.isPreset = false;
  filling.chosen.clear();
  filling.chosen.add(choice);
}

function toggle(filling: FieldInput, choice: number): void {
  filling.isPreset = false;
  if (filling.chosen.delete(choice)) return;
  if (filling.field.several) filling.chosen.add(choice);
  else chooseOnly(filling, choice);
}
