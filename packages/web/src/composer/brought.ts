import type { Result } from "@banyan/protocol";
import { useEffect } from "react";
import { type PageState, usePage, usePageState } from "../parts/page/page.ts";
import type { ComposerAttachments } from "../transcript/attachments.ts";
import { valueIn } from "./own.ts";

// Slash prompts from files and MCP servers of the server (W65, W74).

/** A prompt from a file or an MCP server. */
export type ServerPrompt = Result<"prompt.list">["prompts"][number];

/** The server's prompts, as far as known. */
export type PagePrompts = PageState["prompts"];

/** A prompt in a command to the server. */
export interface PromptRequest {
  readonly prompt: string;
  /** The text after its name. */
  readonly argument: string;
}

/** The server's prompts, requested again when the user begins to type a command. */
export function useServerPrompts(isAsked: boolean): PagePrompts {
  const page = usePage();
  useEffect(() => {
    if (isAsked) page.askPrompts();
  }, [page, isAsked]);
  return usePageState(({ prompts }) => prompts);
}

/** The parts of a message: the typed text or the prompt, and its files. */
export function messageParts(
  text: string,
  asked: PromptRequest | undefined,
  { all }: Pick<ComposerAttachments, "all">,
) {
  const files = all.map(({ part }) => part);
  return asked ? { ...asked, parts: files } : { parts: [{ type: "text", text } as const, ...files] };
}

/** A prompt line with filled-in arguments, as a user would type it. */
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
