import type { Answer } from "@banyan/core";
import { filledText, type QuestionField, type TextQuestion } from "@banyan/core/conversation";
import { visibleLine, visibleText } from "@banyan/core/shown";
import { wrap } from "../../show/fit-text.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { WrittenPart } from "./answering.ts";

/** What is written in answer to one thing that is asked. */
type PartOf = (what: string) => WrittenPart;

/**
 * Asks a person what a call wants to know (B39). A number names one of the choices, other words are an answer of the
 * person's own; an empty line is the default, or says that there is no answer. Returns nothing when the signal aborts or
 * the person interrupts. Several things with choices are asked as a form.
 */
export async function answerInWords(
  terminal: Terminal,
  question: TextQuestion,
  asker: string,
  part: PartOf,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const { text, choices = [], fields, default: preset = "" } = question;
  const { style } = terminal;
  const lines = [
    style.warning(`${visibleLine(asker)} asks:`),
    ...visibleText(text.trim()).split("\n"),
    ...choices.map((choice, index) => `  ${style.bold(String(index + 1))}  ${visibleLine(choice)}`),
  ];
  if (fields) return fillIn(terminal, { text, fields }, asker, part, signal);
  if (terminal.live && isList(choices)) {
    const field = { heading: "", text, choices: choices.map((label) => ({ label })) };
    return fillIn(terminal, { text: "", fields: [field], preset }, asker, part, signal);
  }
  const written = part(text);
  terminal.freshLine();
  terminal.write(`\n${lines.map((line) => wrap(line, terminal.columns)).join("\n")}\n`);
  const prompt = choices.length > 0 ? "Your answer, or a number: " : "Your answer: ";
  const line = await terminal.ask({ prompt, ...written.asked(visibleText(preset)), signal });
  if (line === undefined) return undefined;
  written.use(line);
  const answer = choices[Number(line.trim()) - 1] ?? line.trim();
  // A screen that is redrawn shows it no more.
  if (answer !== "") terminal.live?.view.command(answer);
  return answer === "" ? { decision: "deny" } : { decision: "answer", text: answer };
}

/** Characters of a choice that has a line of a list to itself, in most windows. */
const SHORT = 60;

/** Whether choices are a list that is read at a glance; others are shown in full, and answered by their number. */
function isList(choices: readonly string[]): boolean {
  const isShort = choices.every((choice) => choice.length <= SHORT && !choice.includes("\n"));
  return choices.length >= 2 && choices.length <= 9 && new Set(choices).size === choices.length && isShort;
}

/** `preset`: the choice that is chosen as long as nobody chooses another, or words that stand there. */
async function fillIn(
  terminal: Terminal,
  {
    text,
    fields,
    preset = "",
  }: { readonly text: string; readonly fields: readonly QuestionField[]; readonly preset?: string },
  asker: string,
  part: PartOf,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  // Of a choice alone, the question is all that names it.
  const written = fields.map(({ heading, text: asked }) => part(heading === "" ? asked : `${text}\n${heading}`));
  const shown = fields.map(visibleField);
  const filled = await terminal.fill({
    title: `${visibleLine(asker)} asks:`,
    text: visibleText(text.trim()),
    fields: shown,
    chosen: shown.map(({ choices }) => choices.map(({ label }) => label).filter((label) => label === preset)),
    begun: written.map((words) => words.text),
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
  // A screen that is redrawn shows it no more; nor what was asked, where no call line has it.
  for (const { heading, text: asked } of shown)
    if (heading === "") for (const line of asked.split("\n")) terminal.live?.view.say(line);
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
