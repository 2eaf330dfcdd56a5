import { decodeBase64 } from "../checked/user-content.ts";
import type { FilePart, UserPart } from "../part.ts";

// Drivers write files with these functions. A page loads the other code of a form only if it writes a history.

/** A part of a user message of OpenAI's chat completions. */
export type ChatPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  | { type: "file"; file: { filename: string; file_data: string } };

/**
 * Writes a text or a file as a part of a user message of chat completions.
 * @example openAiChatPart({ type: "text", text: "Hello" }) // { type: "text", text: "Hello" }
 */
export function openAiChatPart(part: UserPart): ChatPart {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.mediaType.startsWith("image/")) return { type: "image_url", image_url: { url: fileAddress(part) } };
  if (part.data === undefined) return { type: "text", text: textForFile(part) };
  return { type: "file", file: { filename: part.name ?? "file", file_data: fileAddress(part) } };
}

interface ToolCallName {
  readonly call: string;
  readonly tool: string;
}

/**
 * Returns the text before the files of a result, for request formats that allow files only in user messages.
 * @example filesHeading({ call: "1", tool: "read" }) // "Files from the result of read (call 1):"
 */
export function filesHeading({ call, tool }: ToolCallName): string {
  return `Files from the result of ${tool} (call ${call}):`;
}

const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

type UrlSource = { type: "url"; url: string };

/** A picture of a message for Anthropic. */
export type AnthropicImage = {
  type: "image";
  source: { type: "base64"; media_type: (typeof PICTURES)[number]; data: string } | UrlSource;
};

/** A document of a message for Anthropic. */
export type AnthropicDocument = {
  type: "document";
  source:
    | { type: "base64"; media_type: "application/pdf"; data: string }
    | { type: "text"; media_type: "text/plain"; data: string }
    | UrlSource;
  title?: string;
};

/**
 * Writes a file as a content block of Anthropic. `undefined`: Anthropic takes no such file.
 * @example anthropicFile({ type: "file", mediaType: "video/mp4", data: "AAAA" }) // undefined
 */
export function anthropicFile(file: FilePart): AnthropicImage | AnthropicDocument | undefined {
  const { mediaType, name, data, url } = file;
  const titled = name === undefined ? {} : { title: name };
  if (data === undefined) {
    if (url === undefined || !URL.canParse(url)) return undefined;
    const source: UrlSource = { type: "url", url: new URL(url).href };
    if (mediaType.startsWith("image/")) return { type: "image", source };
    const isDocument = mediaType === "application/pdf" || mediaType === "text/plain";
    return isDocument ? { type: "document", source, ...titled } : undefined;
  }
  const picture = PICTURES.find((each) => each === mediaType);
  if (picture) return { type: "image", source: { type: "base64", media_type: picture, data } };
  if (mediaType === "application/pdf")
    return { type: "document", source: { type: "base64", media_type: mediaType, data }, ...titled };
  if (mediaType !== "text/plain") return undefined;
  const text = new TextDecoder().decode(decodeBase64(data));
  return { type: "document", source: { type: "text", media_type: mediaType, data: text }, ...titled };
}

/** The URL of a file: a `data:` URL that contains its bytes, or its address on the web. */
export function fileAddress({ mediaType, data, url }: FilePart): string {
  return data === undefined ? (url ?? "") : `data:${mediaType};base64,${data}`;
}

/** The text that replaces a file in formats that cannot contain the file. */
export function textForFile({ name, mediaType, url }: FilePart): string {
  return url === undefined
    ? `[${name ?? "A file"} (${mediaType}) is left out: this format has no place for the file.]`
    : `${name ?? mediaType}: ${url}`;
}
