import type { Result } from "@banyan/protocol";
import { useEffect } from "react";
import { type PageState, usePage, usePageState } from "../page.ts";
import type { Attachments } from "./attachments.ts";
import { valueIn } from "./own.ts";

// What files and MCP servers bring at the server, and people say with a slash (W65, W74).

/** A prompt that a file or an MCP server brings. */
export type BroughtPrompt = Result<"prompt.list">["prompts"][number];

/** The prompts of the server, as far as it has told them. */
export type Brought = PageState["prompts"];

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
