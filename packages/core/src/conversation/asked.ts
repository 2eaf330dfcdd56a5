/** An answer that a user may choose. */
export interface QuestionChoice {
  /** One line of at most 100 characters, unique among the choices of the field. */
  readonly label: string;
  /** Meaning of the choice: one line of at most 500 characters. */
  readonly description?: string;
}

/** One field of a question with choices. A user may add words to the choices, or write words in their place. */
export interface QuestionField {
  /** Subject of the field: one line of at most 40 characters, unique among the fields of the question. */
  readonly heading: string;
  /** The question of this field: at most 2,000 characters. */
  readonly text: string;
  /** 2 to 12 choices. */
  readonly choices: readonly QuestionChoice[];
  /** Any number of choices may be chosen. Default: one. */
  readonly several?: boolean;
}

/** A user's answer to one field. */
export interface FilledField {
  /** Labels in the order of the field's choices. */
  readonly chosen: readonly string[];
  /** The user's own words; empty if there are none. */
  readonly words: string;
}

/** A question of a tool to a user. The answer is always a text. */
export interface WordQuestion {
  readonly text: string;
  /** Suggested answers; any other answer is accepted too. */
  readonly choices?: readonly string[];
  /** Fields that are asked together. The answer is `filledText` of the filled fields, or any other text. */
  readonly fields?: readonly QuestionField[];
  readonly default?: string;
}

const FIELDS = 4;
const CHOICES = 12;

/** Returns a sentence about the first fault in these fields, or nothing if they can be asked. */
export function fieldsProblem(fields: readonly QuestionField[]): string | undefined {
  if (fields.length === 0 || fields.length > FIELDS)
    return `Ask 1 to ${FIELDS} questions at once, not ${fields.length}.`;
  for (const { heading, text, choices } of fields) {
    const problem =
      lineProblem("A heading", heading, 40) ??
      textProblem(`The question "${heading}"`, text, 2_000) ??
      choicesProblem(heading, choices);
    if (problem !== undefined) return problem;
  }
  const twice = repeated(fields.map(({ heading }) => heading));
  return twice === undefined ? undefined : `Two questions have the heading "${twice}"; give each its own.`;
}

function choicesProblem(heading: string, choices: readonly QuestionChoice[]): string | undefined {
  if (choices.length < 2 || choices.length > CHOICES)
    return `Give the question "${heading}" 2 to ${CHOICES} choices, not ${choices.length}.`;
  for (const { label, description } of choices) {
    const problem =
      lineProblem(`A choice of "${heading}"`, label, 100) ??
      (description === undefined ? undefined : lineProblem(`The description of "${label}"`, description, 500));
    if (problem !== undefined) return problem;
  }
  const twice = repeated(choices.map(({ label }) => label));
  return twice === undefined ? undefined : `The question "${heading}" has the choice "${twice}" twice.`;
}

function lineProblem(what: string, line: string, most: number): string | undefined {
  if (/[\n\t]/.test(line)) return `${what} must be one line, without tabs.`;
  return textProblem(what, line, most);
}

/** Returns a sentence about a fault of a text in a question, or nothing. The sentence begins with `what`. */
export function textProblem(what: string, text: string, most: number): string | undefined {
  if (text.trim() === "") return `${what} must not be empty.`;
  if (/[\p{Cc}--[\n\t]]/v.test(text)) return `${what} must not hold control characters.`;
  return text.length > most
    ? `${what} is ${text.length} characters long; it may have ${most.toLocaleString("en")}.`
    : undefined;
}

function repeated(texts: readonly string[]): string | undefined {
  const all = texts.map((text) => text.trim().toLowerCase());
  return texts.find((_, index) => all.lastIndexOf(all[index] ?? "") !== index);
}

/**
 * Returns a user's answers to a question with fields as one text, the same in every client. Returns nothing if all
 * fields are empty.
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
 * Reads a line as the answer to a field: numbers of choices with commas, numbers with words after a colon, the label of
 * a choice, or words. Returns a sentence if the line is invalid.
 */
export function filledByLine({ choices, several = false }: QuestionField, line: string): FilledField | string {
  const text = line.trim();
  const named = choices.find(({ label }) => label.toLowerCase() === text.toLowerCase());
  if (named) return { chosen: [named.label], words: "" };
  const [, numbers, words = ""] = /^(\d{1,3}(?:[\s,]+\d{1,3})*)\s*(?::(.*))?$/s.exec(text) ?? [];
  if (numbers === undefined) return { chosen: [], words: text };
  const wanted = new Set(numbers.split(/[\s,]+/).map(Number));
  for (const number of wanted) {
    if (!choices[number - 1]) return `There is no choice ${number}.`;
  }
  if (!several && wanted.size > 1) return "Only one of them can be chosen.";
  return { chosen: choices.map(({ label }) => label).filter((_, index) => wanted.has(index + 1)), words: words.trim() };
}

/** Returns a question and its fields as one text, for clients without forms. */
export function askedText({ text, fields = [] }: Pick<WordQuestion, "text" | "fields">): string {
  const paragraphs = fields.map(({ heading, text: asked, choices: offered, several = false }) =>
    [
      `${heading}: ${asked}${several ? " (one or more)" : ""}`,
      ...offered.map(({ label, description }) => `- ${label}${description === undefined ? "" : `: ${description}`}`),
    ].join("\n"),
  );
  return [text, ...paragraphs].join("\n\n");
}
