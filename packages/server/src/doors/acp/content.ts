import { fileURLToPath } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk/unstable";
import { ClientError } from "@banyan/client";
import type { Part, UserPart } from "@banyan/core/conversation";
import { encloseInTags } from "@banyan/core/shown";
import { partsFrom } from "../door.ts";

/** A user message from an editor. */
export interface EditorPrompt {
  readonly parts: readonly UserPart[];
  /**
   * True if the editor has already added the texts of files. Banyan then attaches no files for names in the message.
   */
  readonly asIs: boolean;
}

/** Reads a file from the editor, with unsaved changes; `undefined` if the editor cannot. */
export type ReadBuffer = (path: string) => Promise<string | undefined>;

/**
 * Converts a prompt of an editor to the parts of a message. A linked file is attached in the editor's version. If the
 * editor cannot read the file, the model gets the path. Rejects with `ClientError` for blocks that cannot be sent.
 */
export async function readEditorPrompt(blocks: readonly ContentBlock[], readBuffer: ReadBuffer): Promise<EditorPrompt> {
  let asIs = false;
  const resource = (uri: string, text: string): UserPart => {
    asIs = true;
    return { type: "text", text: encloseInTags("resource", text, ` name=${JSON.stringify(uri)}`) };
  };
  const said = async (block: ContentBlock): Promise<UserPart> => {
    switch (block.type) {
      case "text":
        return { type: "text", text: block.text };
      case "image":
        return { type: "file", mediaType: block.mimeType, data: block.data, ...uriName(block.uri) };
      case "audio":
        return { type: "file", mediaType: block.mimeType, data: block.data };
      case "resource_link": {
        const path = uriPath(block.uri);
        const text = path === undefined ? undefined : await readBuffer(path);
        if (text !== undefined) return resource(block.uri, text);
        return { type: "text", text: `[${block.title ?? block.name}](${path ?? block.uri})` };
      }
      case "resource": {
        const { uri, mimeType } = block.resource;
        if ("text" in block.resource) return resource(uri, block.resource.text);
        const mediaType = mimeType ?? "application/octet-stream";
        return { type: "file", mediaType, data: block.resource.blob, ...uriName(uri) };
      }
      default:
        throw new ClientError(
          "malformed",
          `A prompt cannot contain a block of type ${JSON.stringify((block as ContentBlock).type)}.`,
        );
    }
  };
  const parts: UserPart[] = [];
  for (const block of blocks) {
    const part = await said(block);
    const last = parts.at(-1);
    const isInline = block.type === "text" || (block.type === "resource_link" && !isResource(part));
    if (isInline && part.type === "text" && last?.type === "text" && !isResource(last))
      parts[parts.length - 1] = { type: "text", text: last.text + part.text };
    else parts.push(part);
  }
  const checked = partsFrom(parts, "The prompt");
  if (checked.length === 0) throw new ClientError("malformed", "The prompt is empty.");
  return { parts: checked, asIs };
}

function isResource(part: UserPart): boolean {
  return part.type === "text" && part.text.startsWith("<resource");
}

/**
 * Converts a part of a message to a content block of ACP. `undefined` for parts that reach the editor in another way.
 */
export function contentBlock(part: Part): ContentBlock | undefined {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text === "" ? undefined : { type: "text", text: part.text };
    case "file": {
      const { mediaType, data, url, name } = part;
      if (data !== undefined && mediaType.startsWith("image/")) return { type: "image", mimeType: mediaType, data };
      if (data !== undefined && mediaType.startsWith("audio/")) return { type: "audio", mimeType: mediaType, data };
      if (data !== undefined)
        return { type: "resource", resource: { uri: `file:${name ?? "file"}`, mimeType: mediaType, blob: data } };
      return url === undefined
        ? undefined
        : { type: "resource_link", uri: url, name: name ?? url, mimeType: mediaType };
    }
    case "source":
      return { type: "resource_link", uri: part.url, name: part.title ?? part.url };
    case "call":
    case "provider":
      return undefined;
  }
}

function uriPath(uri: string): string | undefined {
  try {
    return uri.startsWith("file:") ? fileURLToPath(uri) : undefined;
  } catch {
    // A file URL of another machine stays a URL.
    return undefined;
  }
}

function uriName(uri: string | null | undefined): { name?: string } {
  const name = uri?.split("/").at(-1);
  return name ? { name: name.slice(0, 1_000) } : {};
}
