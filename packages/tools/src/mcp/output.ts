import { isDeepStrictEqual } from "node:util";
import type { ToolContext } from "@banyan/core";
import { base64Size } from "@banyan/core/conversation";
import { parseJsonText } from "@banyan/core/shown";
import type { CallToolResult, ContentBlock, EmbeddedResource } from "@modelcontextprotocol/client";
import { stripControls } from "../workspace/files/plain-text.ts";

/** Attaches a file to a tool result. Throws a `RangeError` with the reason if the file is not allowed. */
type Attach = ToolContext["attach"];

/** Converts the result of an MCP tool to text for the model. Files are described, and attached if `attach` is given. */
export function mcpResultText(
  server: string,
  { content, structuredContent }: Pick<CallToolResult, "content" | "structuredContent">,
  attach?: Attach,
): string {
  const text = content.map((block) => blockText(server, block, attach)).join("\n");
  const isSaid = structuredContent === undefined || isSaidIn(content, structuredContent);
  return stripControls([text, ...(isSaid ? [] : [JSON.stringify(structuredContent)])].filter(Boolean).join("\n"));
}

/** Returns whether the text repeats the structured content, as JSON or in words. Servers do so for older clients. */
function isSaidIn(content: readonly ContentBlock[], structured: unknown): boolean {
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  if (texts.some((text) => isDeepStrictEqual(parseJsonText(text), structured))) return true;
  const values = valuesIn(structured);
  return values.length > 0 && values.every((value) => texts.some((text) => text.includes(value)));
}

function valuesIn(structured: unknown): string[] {
  if (structured === null || typeof structured !== "object") return [String(structured)];
  return Object.values(structured).flatMap(valuesIn);
}

/** Converts one block of content to text. */
export function blockText(server: string, block: ContentBlock, attach?: Attach): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return fileText(block.type, { mediaType: block.mimeType, data: block.data }, attach);
    case "resource_link": {
      const { uri, name, mimeType, description } = block;
      const facts = [mimeType, description].filter((fact) => fact !== undefined);
      return `[resource ${JSON.stringify(name)} at @${server}:${uri}${facts.map((fact) => `, ${fact}`).join("")}]`;
    }
    case "resource":
      return resourceText(server, block, attach);
  }
}

function resourceText(server: string, { resource }: EmbeddedResource, attach?: Attach): string {
  const what = `resource @${server}:${resource.uri}`;
  if ("text" in resource) return `[${what}]\n${resource.text}`;
  const { mimeType: mediaType = "application/octet-stream", blob: data } = resource;
  if (mediaType.startsWith("text/")) return `[${what}]\n${Buffer.from(data, "base64").toString("utf8")}`;
  return fileText(what, { mediaType, name: stripControls(resource.uri), data }, attach);
}

function fileText(what: string, file: Parameters<Attach>[0], attach?: Attach): string {
  const facts = `${what}, ${file.mediaType}, ${base64Size(file.data)} bytes`;
  if (!attach) return `[${facts}: it cannot be shown here]`;
  try {
    attach(file);
    return `[${facts}]`;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `[${facts}: ${error.message}]`;
  }
}
