import { slashIn } from "@banyan/client/words";
import { z } from "zod";
import type { SettingsFault } from "../settings/fault.ts";
import {
  type DefinitionFile,
  type DefinitionFolder,
  type Definitions,
  definitionsIn,
  nestedMarkdownFiles,
  type ReadDefinition,
} from "./definition-files.ts";
import { readFrontMatter } from "./front-matter.ts";

/** A slash command of a user or a project, from a Markdown file. */
export interface PromptCommand {
  /** Without the slash. */
  readonly name: string;
  readonly description: string;
  /** A hint for users about the arguments. */
  readonly hint: string | undefined;
  readonly model: string | undefined;
  /** Input of `commandPromptText`. */
  readonly text: string;
}

const head = z.object({
  description: z.string({ error: "a text" }).optional(),
  "argument-hint": z
    .union([z.string(), z.array(z.string()).transform((words) => words.join(" "))], { error: "a text" })
    .optional(),
  model: z.string({ error: "the name of a model" }).optional(),
});

/** Reads commands from `NAME.md` (`/NAME`) and `FOLDER/NAME.md` (`/FOLDER:NAME`). */
export function readCommands(folders: readonly DefinitionFolder[]): Definitions<PromptCommand> {
  return definitionsIn(folders, nestedMarkdownFiles, readCommandFile);
}

function readCommandFile({ name, path, content }: DefinitionFile): ReadDefinition<PromptCommand> | SettingsFault {
  if (slashIn(`/${name}`)?.name !== name)
    return { source: path, problem: `'${name}' cannot name a command`, advice: "use letters, digits, '_' and '-'" };
  const read = readFrontMatter(path, content, head);
  if ("problem" in read) return read;
  const { description, model, "argument-hint": hint } = read.head;
  if (read.text === "")
    return {
      source: path,
      problem: "it says nothing",
      advice: "write its text below the second line of dashes",
    };
  const [firstLine = ""] = read.text.split("\n");
  const summary = description ?? firstLine.slice(0, 80);
  return { definition: { name, description: summary, hint, model, text: read.text }, fault: read.fault };
}

/** Blanks and marks of lists and quotes before a fence. */
const MARKS = String.raw`[^\S\n]*(?:(?:>|[-*+]|\d{1,9}[.)])[^\S\n]*)*`;

/** A fenced code block with any indent, also below a tag such as `<example>`, where CommonMark finds none. */
const FENCED = String.raw`^${MARKS}(?<fence>\x60{3,}(?=[^\x60\n]*$)|~{3,}(?!~))[^]*?(?:\n${MARKS}\k<fence>(?:\x60*|~*)[^\S\n]*$|(?![^]))`;

/** `$1` to `$9`. Before a digit, or a comma or full stop with a digit, the sign belongs to an amount of money. */
const PLACE = String.raw`\$(?<place>[1-9])(?!\d|[.,]\d)`;

const FENCED_OR_PLACE = new RegExp(`${FENCED}|${PLACE}`, "gm");

/**
 * Inserts arguments into a command's text (C17). `$ARGUMENTS` stands for all arguments. `$1` to `$9` stand for single
 * arguments, but not in code blocks and amounts of money. If a text uses no arguments, they are appended.
 */
export function commandPromptText({ text }: PromptCommand, args: string): string {
  const words = splitWords(args);
  let used = false;
  const take = (taken: string) => {
    used = true;
    return taken;
  };
  const all = (piece: string) => piece.replaceAll("$ARGUMENTS", () => take(args));
  const said: string[] = [];
  let end = 0;
  for (const { 0: match, index, groups } of text.matchAll(FENCED_OR_PLACE)) {
    said.push(all(text.slice(end, index)));
    said.push(groups?.place === undefined ? all(match) : take(words[Number(groups.place) - 1]?.word ?? ""));
    end = index + match.length;
  }
  said.push(all(text.slice(end)));
  return `${said.join("")}${used || args.trim() === "" ? "" : `\n\n${args}`}`;
}

/** Returns the words of a line with their positions. A quoted text is one word; a doubled quote in it means a quote. */
export function splitWords(line: string): readonly { readonly word: string; readonly at: number }[] {
  return [...line.matchAll(/"((?:[^"]|"")*)"|\S+/g)].map(({ 0: word, 1: quoted, index }) => ({
    word: quoted?.replaceAll('""', '"') ?? word,
    at: index,
  }));
}
