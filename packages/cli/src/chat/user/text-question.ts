import { filledText } from "@banyan/client/words";
import type { Answer } from "@banyan/core";
import type { QuestionField, TextQuestion } from "@banyan/core/conversation";
import { visibleLine, visibleText } from "@banyan/core/shown";
import { wrapSentence } from "../../show/fit-text.ts";
import type { Terminal } from "../../terminal/contract/terminal.ts";
import { placedTitle } from "../../terminal/questions/question.ts";
import type { WrittenPart } from "./answer-drafts.ts";

/** The form of a question: its place among several, its unfinished texts, and its end. */
interface QuestionContext {
  readonly asker: string;
  part(what: string): WrittenPart;
  place(): string;
  readonly signal: AbortSignal;
}

/**
 * Asks the user a question of a call (B39). If the question has choices, a form appears. If not, the user's line is the
 * answer; an empty line means the default answer, or no answer if there is no default. Returns undefined if the signal
 * aborts or the user interrupts.
 */
export async function askTextQuestion(
  terminal: Terminal,
  question: TextQuestion,
  asking: QuestionContext,
): Promise<Answer | undefined> {
  const { text, choices = [], fields, default: preset = "" } = question;
  const { asker, part, place, signal } = asking;
  const { style } = terminal;
  const lines = [
    style.warning(placedTitle(`${visibleLine(asker)} asks:`, asking)),
    ...visibleText(text.trim()).split("\n"),
    ...choices.map((choice, index) => `  ${style.bold(String(index + 1))}  ${visibleLine(choice)}`),
  ];
  if (fields) return askFields(terminal, { text, fields }, asking);
  if (isList(choices)) {
    const field = { heading: "", text, choices: choices.map((label) => ({ label })) };
    return askFields(terminal, { text: "", fields: [field], preset }, asking);
  }
  const written = part(text);
  terminal.freshLine();
  terminal.write(`\n${lines.map((line) => wrapSentence(line, terminal.columns)).join("\n")}\n`);
  const prompt = choices.length > 0 ? "Your answer, or a number: " : "Your answer: ";
  const line = await terminal.ask({ prompt, ...written.asked(visibleText(preset)), place, signal });
  if (line === undefined) return undefined;
  written.use(line);
  const answer = choices[Number(line.trim()) - 1] ?? line.trim();
  // A full terminal removes the question, so repeat the answer.
  if (answer !== "") terminal.live?.view.command(answer);
  return answer === "" ? { decision: "deny" } : { decision: "answer", text: answer };
}

/** Characters of a choice that fit on one line in most windows. */
const SHORT = 60;

/** Returns whether choices fit a short list. Other choices are shown in full, and answered by number. */
function isList(choices: readonly string[]): boolean {
  const isShort = choices.every((choice) => choice.length <= SHORT && !choice.includes("\n"));
  return choices.length >= 2 && choices.length <= 9 && new Set(choices).size === choices.length && isShort;
}

/** `preset`: the initially selected choice, or the initial text. */
async function askFields(
  terminal: Terminal,
  {
    text,
    fields,
    preset = "",
  }: { readonly text: string; readonly fields: readonly QuestionField[]; readonly preset?: string },
  { asker, part, place, signal }: QuestionContext,
): Promise<Answer | undefined> {
  // A field without a heading is identified by its text alone.
  const written = fields.map(({ heading, text: question }) => part(heading === "" ? question : `${text}\n${heading}`));
  const shown = fields.map(visibleField);
  const filled = await terminal.fill({
    title: `${visibleLine(asker)} asks:`,
    text: visibleText(text.trim()),
    fields: shown,
    chosen: shown.map(({ choices }) => choices.map(({ label }) => label).filter((label) => label === preset)),
    begun: written.map((words) => words.text),
    place,
    onWords: (field, words) => written[field]?.draft(words),
    signal,
  });
  if (!filled) return undefined;
  for (const [field, words] of written.entries()) words.use(filled[field]?.words ?? "");
  const meant = filled.map(({ chosen, words }, field) => {
    const labels = shown[field]?.choices.map(({ label }) => label) ?? [];
    const said = chosen.map((label) => fields[field]?.choices[labels.indexOf(label)]?.label ?? label);
    return { chosen: said, words };
  });
  const answer = filledText(fields, meant);
  // A full terminal removes the form. Repeat the answer, and a question that no call line shows.
  for (const { heading, text: question } of shown)
    if (heading === "") for (const line of question.split("\n")) terminal.live?.view.say(line);
  if (answer !== undefined) terminal.live?.view.command(answer.replaceAll("\n", " · "));
  return answer === undefined ? { decision: "deny" } : { decision: "answer", text: answer };
}

function visibleField({ heading, text, choices, several = false }: QuestionField): QuestionField {
  return {
    heading: visibleLine(heading),
    text: visibleText(text),
    choices: choices.map(({ label, description }) => ({
      label: visibleLine(label),
      ...(description !== undefined && { description: visibleLine(description) }),
    })),
    several,
  };
}
