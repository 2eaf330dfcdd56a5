import type { Result } from "@banyan/protocol";
import { useEffect } from "react";
import { type PageState, usePage, usePageState } from "../parts/page/page.ts";
import type { ComposerAttachments } from "../transcript/attachments.ts";
import { valueIn } from "./own.ts";

/** A saved prompt of the server, from a file or an MCP server (W65, W74), which users insert with a slash. */
export type ServerPrompt = Result<"prompt.list">["prompts"][number];

export type PagePrompts = PageState["prompts"];

/** A saved prompt in a command to the server. */
export interface PromptRequest {
  readonly prompt: string;
  readonly argument: string;
}

/** Returns the server's saved prompts, which are requested again when the user begins to type a command. */
export function useServerPrompts(isAsked: boolean): PagePrompts {
  const page = usePage();
  useEffect(() => {
    if (isAsked) page.askPrompts();
  }, [page, isAsked]);
  return usePageState(({ prompts }) => prompts);
}

/** Returns the parts of a message: the typed text or the saved prompt, and its files. */
export function messageParts(
  text: string,
  request: PromptRequest | undefined,
  { all }: Pick<ComposerAttachments, "all">,
) {
  const files = all.map(({ part }) => part);
  return request ? { ...request, parts: files } : { parts: [{ type: "text", text } as const, ...files] };
}

/** Returns the line with which a user would call a saved prompt with these arguments. */
export function promptLine(prompt: ServerPrompt, values: Readonly<Record<string, string>>): string {
  const filled = (name: string) => valueIn(values, name)?.trim() ?? "";
  const last = prompt.arguments.findLastIndex(({ name }) => filled(name) !== "");
  const words = prompt.arguments.slice(0, last + 1).map(({ name }, index) => {
    const value = filled(name);
    // The last argument takes the rest of the line.
    const isPlain = index === prompt.arguments.length - 1 ? !value.startsWith('"') : /^[^\s"]+$/.test(value);
    return isPlain ? value : `"${value.replaceAll('"', '""')}"`;
  });
  return `/${prompt.name} ${words.join(" ")}`;
}
