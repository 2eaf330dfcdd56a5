import { type FilledField, filledByLine } from "@banyan/client/words";
import { wrapSentence } from "../show/fit-text.ts";
import type { Terminal } from "./contract/terminal.ts";
import { type FilledForm, type Form, placedTitle } from "./questions/question.ts";

const OWN = "Your own answer: ";
const NOTHING: FilledField = { chosen: [], words: "" };

/**
 * Lets the user fill in a form line by line: numbers of choices, and text after a colon. The number after the last
 * choice stands for the user's own words, so that a text is never taken as an answer by accident (T64).
 */
export async function fillByLines(terminal: Terminal, form: Form): Promise<FilledForm | undefined> {
  const { title, text, fields, begun, onWords, signal } = form;
  const { style } = terminal;
  const write = (line: string) => terminal.write(`${wrapSentence(line, terminal.columns)}\n`);
  terminal.freshLine();
  write(`\n${style.warning(placedTitle(title, form))}`);
  for (const line of text.split("\n")) write(line);
  const filled: FilledField[] = [];
  let again = form.again ?? false;
  for (const [index, field] of fields.entries()) {
    const { heading, text: question, choices, several = false } = field;
    const place = fields.length > 1 ? `${index + 1} of ${fields.length}, ` : "";
    write(`\n${place}${heading === "" ? "" : `${style.bold(heading)}: `}${question}`);
    for (const [at, { label, description }] of choices.entries())
      write(`  ${style.bold(String(at + 1))}  ${label}${description === undefined ? "" : `: ${description}`}`);
    const chosen = choices.flatMap(({ label }, at) => (form.chosen?.[index]?.includes(label) ? [at + 1] : []));
    const preset = chosen.join(", ");
    const own = String(choices.length + 1);
    if (choices.length > 0) write(`  ${style.bold(own)}  Your own answer`);
    const ask = (prompt: string, initial = "") =>
      terminal.ask({
        prompt,
        again,
        initial,
        onDraft: (words) => onWords?.(index, words),
        ...(signal && { signal }),
      });
    for (;;) {
      const isText = choices.length === 0;
      const prompt = several ? "Numbers separated by commas: " : "A number: ";
      let line = isText ? await ask(OWN, begun[index]) : await ask(prompt, preset);
      again = true;
      if (!isText && line?.trim() === own) {
        const words = await ask(OWN, begun[index]);
        line = words && `${own}: ${words}`;
      }
      if (line === undefined) return undefined;
      const said = line.trim() === "" ? NOTHING : filledByLine(field, line);
      if (typeof said !== "string") {
        filled.push(said);
        break;
      }
      write(style.dim(said));
    }
  }
  return filled;
}
