import type { QuestionField, WordQuestion } from "@banyan/core/conversation";

/** A user's answer to one field. See {@link filledText}. */
export interface FilledField {
  /** Labels in the order of the field's choices. */
  readonly chosen: readonly string[];
  /** The user's own words. The text can be empty. */
  readonly words: string;
}

/**
 * Returns the answers to all fields of a question as one text. Returns nothing if all fields are empty.
 * @example
 * const field = { heading: "Tree", text: "Which tree?", choices: [{ label: "Oak" }, { label: "Elm" }] };
 * filledText([field], [{ chosen: ["Oak"], words: "" }]) // "Oak"
 */
export function filledText(
  fields: readonly QuestionField[],
  filled: readonly (FilledField | undefined)[],
): string | undefined {
  const answers = fields.map((_, index) => saidTo(filled[index]));
  if (answers.every((answer) => answer === "")) return undefined;
  if (fields.length === 1) return answers[0];
  return fields.map(({ heading }, index) => `${heading}: ${answers[index] || "(no answer)"}`).join("\n");
}

function saidTo({ chosen, words }: FilledField = { chosen: [], words: "" }): string {
  const said = words.trim();
  const labels = chosen.join(", ");
  if (labels === "" || said === "") return labels + said;
  return `${labels}. In their own words: ${said}`;
}

/**
 * Reads a line as the answer to a field: numbers of choices, separated by commas. Own words can follow after a colon.
 * The number after the last choice stands for words without a choice. If the field has no choices, the whole line is
 * the answer. Returns a sentence for any other line, so that no text is taken as an answer by accident (T64).
 * @example
 * const field = { heading: "Tree", text: "Which tree?", choices: [{ label: "Oak" }, { label: "Elm" }] };
 * filledByLine(field, "2") // { chosen: ["Elm"], words: "" }
 */
export function filledByLine({ choices, several = false }: QuestionField, line: string): FilledField | string {
  const text = line.trim();
  if (choices.length === 0) return { chosen: [], words: text };
  const own = choices.length + 1;
  const [, numbers, words = ""] = /^(\d{1,3}(?:[\s,]+\d{1,3})*)\s*(?::(.*))?$/s.exec(text) ?? [];
  if (numbers === undefined) return `You have not answered yet. Type numbers, or your own words as "${own}: words".`;
  const wanted = new Set(numbers.split(/[\s,]+/).map(Number));
  wanted.delete(own);
  for (const number of wanted) {
    if (!choices[number - 1]) return `There is no choice ${number}.`;
  }
  if (!several && wanted.size > 1) return "Choose only one of the choices.";
  return { chosen: choices.map(({ label }) => label).filter((_, index) => wanted.has(index + 1)), words: words.trim() };
}

/**
 * Returns a question and its fields as one text, for clients that cannot show forms.
 * @example questionText({ text: "Which tree?" }) // "Which tree?"
 */
export function questionText({ text, fields = [] }: Pick<WordQuestion, "text" | "fields">): string {
  const paragraphs = fields.map(({ heading, text: question, choices: offered, several = false }) =>
    [
      `${heading}: ${question}${several ? " (one or more)" : ""}`,
      ...offered.map(({ label, description }) => `- ${label}${description === undefined ? "" : `: ${description}`}`),
    ].join("\n"),
  );
  return [text, ...paragraphs].join("\n\n");
}
