import type { Answer } from "@banyan/core";
import type { TextQuestion } from "@banyan/core/conversation";
import { visibleLine, visibleText } from "@banyan/core/shown";
import { wrap } from "../show/fit-text.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { WrittenPart } from "./answering.ts";

/**
 * Asks a person what a call wants to know (B39). A number names one of the choices, other words are an answer of the
 * person's own; an empty line is the default, or says that there is no answer. Answers nothing when the signal aborts or
 * the person interrupts.
 */
export async function answerInWords(
  terminal: Terminal,
  question: TextQuestion,
  asker: string,
  written: WrittenPart,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const { text, choices = [], default: preset = "" } = question;
  const { style } = terminal;
  const lines = [
    style.warning(`${visibleLine(asker)} asks:`),
    ...visibleText(text.trim()).split("\n"),
    ...choices.map((choice, index) => `  ${style.bold(String(index + 1))}  ${visibleLine(choice)}`),
  ];
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
