import { counted } from "@banyan/core/shown";
import { wrapSentence } from "../show/fit-text.ts";
import type { Terminal } from "./contract/terminal.ts";
import type { DecisionChoice, DecisionRequest, DecisionResult } from "./questions/decision.ts";
import { placedTitle } from "./questions/question.ts";

/** Lines of the body that are shown at first, and with each "more". */
const FIRST = 60;
const NEXT = 200;
const MORE = "more";

/** Lets the user decide with a typed line: the number or letter of a choice alone, or with words after a colon. */
export async function decideByLine(terminal: Terminal, decision: DecisionRequest): Promise<DecisionResult | undefined> {
  const { title, body, question, choices, begun, signal } = decision;
  const { style, numbered } = terminal;
  terminal.freshLine();
  terminal.write(`\n${wrapSentence(style.warning(placedTitle(title, decision)), terminal.columns)}\n`);
  let shown = 0;
  const read = (count: number) => {
    for (const line of body.slice(shown, shown + count)) terminal.write(`    ${line}\n`);
    shown += count;
    const rest = counted(body.length - shown, "more line");
    if (body.length > shown) terminal.write(`${style.warning(`  … (${rest}: type ${MORE} to read on)`)}\n`);
  };
  read(FIRST);
  for (const [index, { key, text }] of choices.entries()) {
    const name = style.bold(numbered ? String(index + 1) : key);
    terminal.write(`  ${name}  ${wrapSentence(text, terminal.columns - 5).replaceAll("\n", "\n     ")}\n`);
  }
  if (begun) terminal.write(`(you had written: ${begun.key} ${begun.words ?? ""})\n`);
  for (let again = decision.again ?? false; ; again = true) {
    const line = await terminal.ask({ prompt: `${question} `, again, ...(signal && { signal }) });
    if (line === undefined) return undefined;
    const decided = choiceIn(line, choices);
    if (decided) return decided;
    if (line.trim() === MORE && shown < body.length) {
      read(NEXT);
      continue;
    }
    const hint = "You have not decided yet. Type one number from the list, then press Enter.";
    terminal.write(`${style.dim(wrapSentence(hint, terminal.columns))}\n`);
  }
}

/** Finds the choice that a typed line names. Undefined for any other text, which is no answer (T64). */
export function choiceIn(line: string, choices: readonly DecisionChoice[]): DecisionResult | undefined {
  const text = line.trim();
  const [, name = text, words] = /^(\S+?)\s*:\s*(.+)$/s.exec(text) ?? [];
  const named = choices.find(({ key }, index) => name === key || name === String(index + 1));
  if (!named || (words !== undefined && named.takesWords === undefined)) return undefined;
  return words === undefined ? { key: named.key } : { key: named.key, words };
}
