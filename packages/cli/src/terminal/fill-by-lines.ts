import { type FilledField, filledByLine } from "@banyan/client/words";
import { wrapSentence } from "../show/fit-text.ts";
import type { Terminal } from "./contract/terminal.ts";
import type { FilledForm, Form } from "./questions/question.ts";

const NOTHING: FilledField = { chosen: [], words: "" };

/** Lets the user fill in a form line by line: numbers of choices, with text after a colon, or only text. */
export async function fillByLines(terminal: Terminal, form: Form): Promise<FilledForm | undefined> {
  const { title, text, fields, begun, onWords, signal } = form;
  const { style } = terminal;
  const write = (line: string) => terminal.write(`${wrapSentence(line, terminal.columns)}\n`);
  terminal.freshLine();
  write(`\n${style.warning(title)}`);
  for (const line of text.split("\n")) write(line);
  const filled: FilledField[] = [];
  let again = form.again ?? false;
  for (const [index, field] of fields.entries()) {
    const { heading, text: question, choices, several = false } = field;
    const place = fields.length > 1 ? `${index + 1} of ${fields.length}, ` : "";
    write(`\n${place}${style.bold(heading)}: ${question}`);
    for (const [at, { label, description }] of choices.entries())
      write(`  ${style.bold(String(at + 1))}  ${label}${description === undefined ? "" : `: ${description}`}`);
    const prompt = several ? "Numbers separated by commas, or your own words: " : "A number, or your own words: ";
    for (;;) {
      const line = await terminal.ask({
        prompt,
        again,
        initial: begun[index] ?? "",
        onDraft: (words) => onWords?.(index, words),
        ...(signal && { signal }),
      });
      if (line === undefined) return undefined;
      again = true;
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
