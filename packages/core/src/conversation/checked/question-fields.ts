import type { QuestionChoice, QuestionField } from "../event.ts";

const FIELDS = 4;

const CHOICES = 12;

export function fieldsProblem(fields: readonly QuestionField[]): string | undefined {
  if (fields.length === 0 || fields.length > FIELDS)
    return `Ask 1 to ${FIELDS} questions at once, not ${fields.length}.`;
  for (const { heading, text, choices } of fields) {
    const problem =
      lineProblem("A heading", heading, 40) ??
      questionTextProblem(`The question "${heading}"`, text, 2_000) ??
      choicesProblem(heading, choices);
    if (problem !== undefined) return problem;
  }
  const twice = repeated(fields.map(({ heading }) => heading));
  return twice === undefined ? undefined : `Two questions have the heading "${twice}"; rename one heading.`;
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
  return questionTextProblem(what, line, most);
}

export function questionTextProblem(what: string, text: string, most: number): string | undefined {
  if (text.trim() === "") return `${what} must not be empty.`;
  if (/[\p{Cc}--[\n\t]]/v.test(text)) return `${what} must not contain control characters.`;
  return text.length > most
    ? `${what} is ${text.length} characters long; it may have ${most.toLocaleString("en")}.`
    : undefined;
}

function repeated(texts: readonly string[]): string | undefined {
  const all = texts.map((text) => text.trim().toLowerCase());
  return texts.find((_, index) => all.lastIndexOf(all[index] ?? "") !== index);
}
