import { resolve } from "node:path";
import type { ExportFormat } from "@banyan/client/actions";
import { pathTo, textOf } from "@banyan/core";
import { counted, visibleLine } from "@banyan/core/shown";
import type { Tokens } from "marked";
import { excerptLine } from "../show/fit-text.ts";
import { plainLine } from "../show/plain-text.ts";
import { lexMarkdown } from "../terminal/full/markdown/look.ts";
import type { CopyOutcome } from "../terminal/questions/clipboard.ts";
import type { ConversationContext } from "./command.ts";

/** Copies the last answer, or one of its code blocks, to the clipboard. */
export async function copyAnswer(
  { state, leaf, write, screen: { copy } }: ConversationContext,
  argument: string,
): Promise<void> {
  const answer = pathTo(state, leaf).findLast(
    (message) => message.role === "assistant" && textOf(message).trim() !== "",
  );
  if (!answer) return write("There is no answer to copy yet.");
  const found = argument === "" ? textOf(answer).trim() : findCodeBlock(await codeIn(textOf(answer)), argument);
  if (typeof found === "string") write(SENTENCES[await copy(found)](`the answer, ${lineCountText(found)}`));
  else if ("problem" in found) write(found.problem);
  else write(SENTENCES[await copy(found.text)](`a block of ${found.lang || "code"}, ${lineCountText(found.text)}`));
}

const SENTENCES: Readonly<Record<CopyOutcome, (what: string) => string>> = {
  taken: (what) => `Copied ${what}.`,
  handed: (what) => `Copied ${what}. If you cannot paste the text, your terminal blocks copying. Use /export`,
  long: (what) => `Not copied, because the text is too long for your terminal: ${what}. Use /export`,
  nothing: (what) => `Not copied, because Banyan cannot use a clipboard here: ${what}. Use /export`,
};

interface Code {
  readonly text: string;
  readonly lang: string;
}

/** Code blocks in Markdown, including those in lists and quotes. */
async function codeIn(markdown: string): Promise<Code[]> {
  const { walkTokens } = await import("marked");
  const found: Code[] = [];
  walkTokens(lexMarkdown(markdown), (token) => {
    if (token.type !== "code") return;
    const { text, lang = "" } = token as Tokens.Code;
    found.push({ text, lang: visibleLine(lang.split(/\s/, 1)[0] ?? "") });
  });
  return found;
}

/** Finds a code block by its number, or by its language if only one block has it. */
function findCodeBlock(blocks: readonly Code[], named: string): Code | { readonly problem: string } {
  const of = /^\d+$/.test(named)
    ? blocks.slice(Number(named) - 1, Number(named))
    : blocks.filter(({ lang }) => lang.toLowerCase() === named.toLowerCase());
  const [block, ...others] = Number(named) === 0 ? [] : of;
  if (block && others.length === 0) return block;
  if (blocks.length === 0) return { problem: "The last answer has no code block. /copy copies the whole answer." };
  const list = blocks.map(
    ({ lang, text }, index) => `${index + 1} ${lang || "without a language"}, ${lineCountText(text)}`,
  );
  const what = block
    ? `${counted(of.length, "block")} are ${excerptLine(named, 20)}`
    : `There is no code block ${excerptLine(named, 20)}`;
  return { problem: `${what}. Choose a block by its number, such as /copy 1: ${list.join("; ")}.` };
}

function lineCountText(text: string): string {
  return counted(text.split("\n").length, "line");
}

/** Writes the conversation to a new file in the given format. */
export async function writeExport(
  { exported, directory, write }: ConversationContext,
  { format, file: wanted }: { readonly format: ExportFormat; readonly file: string },
): Promise<void> {
  const [{ name, text }, { writeNew }] = await Promise.all([exported(format), import("../conversations/exchange.ts")]);
  const file = resolve(directory, wanted || name);
  writeNew(file, text);
  write(`Written: ${plainLine(file)}`);
}
