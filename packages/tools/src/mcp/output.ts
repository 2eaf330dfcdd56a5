import { isDeepStrictEqual } from "node:util";
import type { CallToolResult, ContentBlock, EmbeddedResource } from "@modelcontextprotocol/client";
import { stripControls } from "../workspace/plain-text.ts";

/** What a tool of a server answered, as text for the model: text as it is, everything else in words. */
export function resultText(server: string, { content, structuredContent }: CallToolResult): string {
  const text = content.map((block) => blockText(server, block)).join("\n");
  const isSaid = structuredContent === undefined || isSaidIn(content, structuredContent);
  return stripControls([text, ...(isSaid ? [] : [JSON.stringify(structuredContent)])].filter(Boolean).join("\n"));
}

/**
 * Servers repeat structured content as text, for clients that know no other: as JSON, or in words that hold all of it.
 */
function isSaidIn(content: readonly ContentBlock[], structured: unknown): boolean {
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  if (texts.some((text) => isDeepStrictEqual(parsed(text), structured))) return true;
  const values = valuesIn(structured);
  return values.length > 0 && values.every((value) => texts.some((text) => text.includes(value)));
}

function valuesIn(structured: unknown): string[] {
  if (structured === null || typeof structured !== "object") return [String(structured)];
  return Object.values(structured).flatMap(valuesIn);
}

/** One block of content as text. */
export function blockText(server: string, block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.type}, ${block.mimeType}, ${sizeOf(block.data)}: it cannot be shown here]`;
    case "resource_link": {
      const { uri, name, mimeType, description } = block;
      const facts = [mimeType, description].filter((fact) => fact !== undefined);
      return `[resource ${JSON.stringify(name)} at @${server}:${uri}${facts.map((fact) => `, ${fact}`).join("")}]`;
    }
    case "resource":
      return resourceText(server, block);
  }
}

function resourceText(server: string, { resource }: EmbeddedResource): string {
  if ("text" in resource) return `[resource @${server}:${resource.uri}]\n${resource.text}`;
  const kind = resource.mimeType ?? "of an unknown kind";
  return `[resource @${server}:${resource.uri}, ${kind}, ${sizeOf(resource.blob)}: it cannot be shown here]`;
}

/** The size of what stands in base 64. */
function sizeOf(base64: string): string {
  return `${Buffer.byteLength(base64, "base64")} bytes`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Plain text.
    return undefined;
  }
}
