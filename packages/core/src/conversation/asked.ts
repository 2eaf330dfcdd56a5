/** An answer that a person may choose. */
export interface QuestionChoice {
  /** One line of at most 100 characters; no other choice of its field has the same. */
  readonly label: string;
  /** What choosing it means: one line of at most 500 characters. */
  readonly description?: string;
}

/** One of the things that a question asks at once, with answers to choose from; words may stand beside or instead of them. */
export interface QuestionField {
  /** What it is about: one line of at most 40 characters; no other field of the question has the same. */
  readonly heading: string;
  /** What is asked: at most 2,000 characters. */
  readonly text: string;
  /** 2 to 12. */
  readonly choices: readonly QuestionChoice[];
  /** Any number of them may be chosen. Default: one. */
  readonly several?: boolean;
}

/** What a person says to one field. */
export interface FilledField {
  /** Labels, in the order of the field. */
  readonly chosen: readonly string[];
  /** Empty when they said nothing beside. */
  readonly words: string;
}

/** What a tool asks a person. Whatever it offers, the answer is a text. */
export interface AskedInWords {
  readonly text: string;
  /** Answers to choose from; another one may be given all the same. */
  readonly choices?: readonly string[];
  /** What is asked at once, each with its choices: the answer is `filledText` of what was filled in, or other words. */
  readonly fields?: readonly QuestionField[];
  readonly default?: string;
}

const FIELDS = 4;
const CHOICES = 12;

/** Why nobody can be asked these fields, in one sentence; nothing when they can. */
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

/** Why a text cannot stand in a question to a person, as a sentence that begins with `what`, the name of the text. */
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
 * What a person says to a question with fields, as one text, in which form every client gives it; nothing when they
 * said nothing to any of them.
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
 * What a line says to a field: numbers of choices with commas between them, numbers with words behind a colon, the label of a
 * choice, or words. Or what is wrong with it, in one sentence.
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

/** A question with its fields as one text, for clients that have no form. */
export function askedText({ text, fields = [] }: Pick<AskedInWords, "text" | "fields">): string {
  const paragraphs = fields.map(({ heading, text: asked, choices: offered, several = false }) =>
    [
      `${heading}: ${asked}${several ? " (one or more)" : ""}`,
      ...offered.map(({ label, description }) => `- ${label}${description === undefined ? "" : `: ${description}`}`),
    ].join("\n"),
  );
  return [text, ...paragraphs].join("\n\n");
}
