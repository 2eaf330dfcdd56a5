import type { FilePart } from "../conversation/part.ts";
import type { PromptResult } from "../ports/model.ts";

/**
 * Image types that nearly every model with image input accepts.
 * @example encodableResult({ call: "1", tool: "read", output: "An oak.", failed: false }, PICTURES).files // []
 */
export const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
/**
 * The document type that many models with image input accept.
 * @example encodableResult({ call: "1", tool: "read", output: "A plan.", failed: false }, [PDF]).text // "A plan."
 */
export const PDF = "application/pdf";

/**
 * Returns the text and the files of a result, as a request contains them. `takes`: the media types that the model
 * accepts, such as `image/png` or `audio/*`. For each file that the model does not accept, the text has a sentence
 * instead.
 * @example encodableResult({ call: "1", tool: "read", output: "An oak.", failed: false }, ["audio/*"]).text // "An oak."
 */
export function encodableResult(
  { output, files = [] }: PromptResult,
  takes: readonly string[],
): { readonly text: string; readonly files: readonly FilePart[] } {
  if (files.length === 0) return { text: output, files };
  const isTaken = ({ mediaType, data }: FilePart) =>
    data !== undefined && (takes.includes(mediaType) || takes.includes(mediaType.replace(/\/.*/, "/*")));
  const left = files
    .filter((file) => !isTaken(file))
    .map(({ name, mediaType }) => {
      return `[${name ?? "A file"} (${mediaType}) is not shown to you: this model is not known to accept such files.]`;
    });
  const text = [output, ...left].filter((line) => line !== "").join("\n");
  return { text: text === "" ? "See the attached files." : text, files: files.filter(isTaken) };
}
