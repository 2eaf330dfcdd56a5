import { mayBePrompt } from "@banyan/client/actions";
import { slashIn } from "@banyan/core/shown";
import type { Result } from "@banyan/protocol";
import { useEffect } from "react";
import { type PageState, usePage, usePageState } from "../page.ts";
import type { Attachments } from "./attachments.ts";
import { valueIn } from "./own.ts";

// What files and MCP servers bring at the server, and people say with a slash (W65, W74).

/** A prompt that a file or an MCP server brings. */
export type BroughtPrompt = Result<"prompt.list">["prompts"][number];

type Brought = PageState["prompts"];

/** A prompt that is asked for, as the server is told of it. */
export interface AskedPrompt {
  readonly prompt: string;
  /** What stands behind its name. */
  readonly argument: string;
}

/** The prompts of the server; asked for anew whenever somebody begins to write a command. */
export function useBroughtPrompts(isAsked: boolean): Brought {
  const page = usePage();
  useEffect(() => {
    if (isAsked) page.askPrompts();
  }, [page, isAsked]);
  return usePageState(({ prompts }) => prompts);
}

/** Those that their name calls for: an action of that very name comes first, unless it gives way. */
export function offeredPrompts(brought: Brought): readonly BroughtPrompt[] {
  return brought?.prompts.filter(({ name }) => mayBePrompt(`/${name}`)) ?? [];
}

/** The prompt that a text asks for. One of an MCP server is for the server to find, as long as it is not known what they bring. */
export function promptIn(text: string, brought: Brought): AskedPrompt | undefined {
  const { name: word = "", argument = "" } = slashIn(text) ?? {};
  const prompt = word.toLowerCase();
  const asked = { prompt, argument };
  if (offeredPrompts(brought).some(({ name }) => name === prompt)) return asked;
  const mayCome = brought === undefined || brought.starting.length > 0;
  return mayCome && /.:./.test(prompt) ? asked : undefined;
}

/** What a message says: what was written, or the prompt that this asks for; and its files. */
export function saidWith(text: string, asked: AskedPrompt | undefined, { all }: Pick<Attachments, "all">) {
  const files = all.map(({ part }) => part);
  return asked ? { ...asked, parts: files } : { parts: [{ type: "text", text } as const, ...files] };
}

/** A prompt as it is asked for by hand, with what its fields were filled in with. */
export function promptLine(prompt: BroughtPrompt, values: Readonly<Record<string, string>>): string {
  const filled = (name: string) => valueIn(values, name)?.trim() ?? "";
  const last = prompt.arguments.findLastIndex(({ name }) => filled(name) !== "");
  const words = prompt.arguments.slice(0, last + 1).map(({ name }, index) => {
    const value = filled(name);
    // The last argument of a prompt takes all that is left.
    const isPlain = index === prompt.arguments.length - 1 ? !value.startsWith('"') : /^[^\s"]+$/.test(value);
    return isPlain ? value : `"${value.replaceAll('"', '""')}"`;
  });
  return `/${prompt.name} ${words.join(" ")}`;
}
