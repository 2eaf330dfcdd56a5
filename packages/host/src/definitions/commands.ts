import { z } from "zod";
import type { SettingsFault } from "../settings/fault.ts";
import {
  type DefinitionFile,
  type DefinitionFolder,
  type Definitions,
  definitionsIn,
  markdownFiles,
} from "./definition-files.ts";
import { readFrontMatter } from "./front-matter.ts";

/** A slash command that a user or a project wrote. */
export interface PromptCommand {
  /** Without the slash. */
  readonly name: string;
  readonly description: string;
  /** What to type behind it, for people. */
  readonly hint: string | undefined;
  readonly model: string | undefined;
  /** What is said to the agent; see `promptOf`. */
  readonly text: string;
}

const head = z.object({
  description: z.string({ error: "a text" }).optional(),
  "argument-hint": z
    .union([z.string(), z.array(z.string()).transform((words) => words.join(" "))], { error: "a text" })
    .optional(),
  model: z.string({ error: "the name of a model" }).optional(),
});

/** Reads `NAME.md` files: `/NAME` says their text to the agent. */
export function readCommands(folders: readonly DefinitionFolder[]): Definitions<PromptCommand> {
  return definitionsIn(folders, markdownFiles, readCommand);
}

function readCommand({ name, path, content }: DefinitionFile): PromptCommand | SettingsFault {
  if (!/^[\w-]+$/.test(name))
    return { source: path, problem: `'${name}' cannot name a command`, advice: "use letters, digits, '_' and '-'" };
  const read = readFrontMatter(path, content, head);
  if ("problem" in read) return read;
  const { description, model, "argument-hint": hint } = read.head;
  if (read.text === "")
    return {
      source: path,
      problem: "it says nothing",
      advice: "write below the second line of dashes what it is to say",
    };
  const [firstLine = ""] = read.text.split("\n");
  return { name, description: description ?? firstLine.slice(0, 80), hint, model, text: read.text };
}

/** What a command says with these arguments: `$ARGUMENTS` is all of them, `$1` to `$9` one each; without either they come last. */
export function promptOf({ text }: PromptCommand, args: string): string {
  const words = wordsIn(args);
  let used = false;
  const said = text.replace(/\$(ARGUMENTS|[1-9])/g, (_, which: string) => {
    used = true;
    return which === "ARGUMENTS" ? args : (words[Number(which) - 1]?.word ?? "");
  });
  return used || args.trim() === "" ? said : `${said}\n\n${args}`;
}

/** The words of a line, and where each begins. Those in quotes are one, in which a quote is written twice. */
export function wordsIn(line: string): readonly { readonly word: string; readonly at: number }[] {
  return [...line.matchAll(/"((?:[^"]|"")*)"|\S+/g)].map(({ 0: word, 1: quoted, index }) => ({
    word: quoted?.replaceAll('""', '"') ?? word,
    at: index,
  }));
}
