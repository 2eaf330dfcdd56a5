import type { FilePart } from "../conversation/message.ts";
import type { PromptResult } from "../ports/model.ts";

/** Pictures that nearly every model takes that sees any. */
export const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
/** Documents that many of them take too. */
export const PDF = "application/pdf";

/**
 * What of a call's result goes into a request: its text, and the files that the model takes, by their media types (`audio/*`
 * for all of a kind). Of each file that it does not take the text says so, in one sentence.
 */
export function resultShown(
  { output, files = [] }: PromptResult,
  takes: readonly string[],
): { readonly text: string; readonly files: readonly FilePart[] } {
  if (files.length === 0) return { text: output, files };
  const isTaken = ({ mediaType, data }: FilePart) =>
    data !== undefined && (takes.includes(mediaType) || takes.includes(mediaType.replace(/\/.*/, "/*")));
  const left = files
    .filter((file) => !isTaken(file))
    .map(({ name, mediaType }) => {
      return `[${name ?? "A file"} (${mediaType}) is not shown to you: you are not known to see such files.]`;
    });
  const text = [output, ...left].filter((line) => line !== "").join("\n");
  return { text: text === "" ? "See what it comes with." : text, files: files.filter(isTaken) };
}

/** What stands before the files of a result where its format has no place for them, and the user shows them. */
export function filesOf({ call, tool }: PromptResult): string {
  return `What ${tool} answered to the call ${call} comes with:`;
}
