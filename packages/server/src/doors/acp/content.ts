import { fileURLToPath } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk/unstable";
import { ClientError } from "@banyan/client";
import type { Part, UserPart } from "@banyan/core/conversation";
import { enclosed } from "@banyan/core/shown";
import { partsFrom } from "../door.ts";

/** What a person said in an editor. */
export interface SaidThere {
  readonly parts: readonly UserPart[];
  /** The editor put texts of files into it: nothing goes along that those name. */
  readonly asIs: boolean;
}

/** Reads a file as the editor has it, with what is not saved yet; nothing where the editor cannot say. */
export type ReadBuffer = (path: string) => Promise<string | undefined>;

/**
 * What the blocks of a prompt say. A file that is only linked goes along as the editor has it; where it cannot be asked, the
 * model is told the path, and reads it if it wants. Rejects with `ClientError` for what cannot be said.
 */
export async function saidIn(blocks: readonly ContentBlock[], readBuffer: ReadBuffer): Promise<SaidThere> {
  let asIs = false;
  const resource = (uri: string, text: string): UserPart => {
    asIs = true;
    return { type: "text", text: enclosed("resource", text, ` name=${JSON.stringify(uri)}`) };
  };
  const said = async (block: ContentBlock): Promise<UserPart> => {
    switch (block.type) {
      case "text":
        return { type: "text", text: block.text };
      case "image":
        return { type: "file", mediaType: block.mimeType, data: block.data, ...nameOf(block.uri) };
      case "audio":
        return { type: "file", mediaType: block.mimeType, data: block.data };
      case "resource_link": {
        const path = pathOf(block.uri);
        const text = path === undefined ? undefined : await readBuffer(path);
        if (text !== undefined) return resource(block.uri, text);
        return { type: "text", text: `[${block.title ?? block.name}](${path ?? block.uri})` };
      }
      case "resource": {
        const { uri, mimeType } = block.resource;
        if ("text" in block.resource) return resource(uri, block.resource.text);
        const mediaType = mimeType ?? "application/octet-stream";
        return { type: "file", mediaType, data: block.resource.blob, ...nameOf(uri) };
      }
      default:
        throw new ClientError(
          "malformed",
          `A prompt cannot contain a block ${JSON.stringify((block as ContentBlock).type)}.`,
        );
    }
  };
  // Blocks of text that stand beside each other are one text, with what is linked between its words.
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

/** What stands in a message, as a block; nothing for what an editor is told otherwise. */
export function blockOf(part: Part): ContentBlock | undefined {
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

function pathOf(uri: string): string | undefined {
  try {
    return uri.startsWith("file:") ? fileURLToPath(uri) : undefined;
  } catch {
    // An address of a file elsewhere stays what it is.
    return undefined;
  }
}

function nameOf(uri: string | null | undefined): { name?: string } {
  const name = uri?.split("/").at(-1);
  return name ? { name: name.slice(0, 1_000) } : {};
}
