import type { UserPart } from "@banyan/core";
import { checkBroughtFile, type FilePart, mediaIn, TELLING_BYTES } from "@banyan/core/conversation";
import type {
  ContentBlock,
  GetPromptResult,
  Prompt as ListedPrompt,
  Resource as ListedResource,
  ReadResourceResult,
  ResourceTemplateType,
} from "@modelcontextprotocol/client";
import { stripControls } from "../workspace/files/plain-text.ts";
import { blockText } from "./output.ts";

/** A prompt of an MCP server, which users run as a command. See {@link McpServers}. */
export interface McpPrompt {
  readonly server: string;
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly McpPromptArgument[];
}

/** An argument of an MCP prompt. See {@link McpServers}. */
export interface McpPromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

/** A readable document of an MCP server. Users refer to it as `@server:uri`. See {@link McpServers}. */
export interface McpResource {
  readonly server: string;
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType?: string;
  /** In bytes. */
  readonly size?: number;
}

/**
 * A template for the addresses of resources. `{name}` in the address is a placeholder (RFC 6570).
 * See {@link McpServers}.
 */
export interface McpResourceTemplate {
  readonly server: string;
  readonly uriTemplate: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType?: string;
}

/** Converts a filled-in prompt to parts of a user message. Text of other roles is marked with the role. */
export function promptParts(server: string, { messages }: GetPromptResult): UserPart[] {
  const alone = messages.every(({ role }) => role === "user");
  return messages.flatMap(({ role, content }) => {
    const parts = contentParts(server, content);
    return alone ? parts : [mcpTextPart(`[${role}]`), ...parts];
  });
}

/** Converts the content of a resource to parts of a user message. */
export function resourceParts(server: string, { contents }: ReadResourceResult): UserPart[] {
  return contents.flatMap((resource) => contentParts(server, { type: "resource", resource }));
}

/** Files that models accept stay files. Other files become a text with the reason. */
function contentParts(server: string, block: ContentBlock): UserPart[] {
  const files: UserPart[] = [];
  // A file that the provider rejects would make every later request of the conversation fail.
  const words = blockText(server, block, (file) => {
    const checked = checkBroughtFile({ type: "file", ...file }, 0);
    if (typeof checked === "string") throw new RangeError(checked);
    if (checked.mediaType.startsWith("image/") && !isPictureData(checked))
      throw new RangeError("models do not look at such pictures");
    files.push(checked);
  });
  return files.length > 0 ? files : [mcpTextPart(stripControls(words))];
}

function isPictureData({ data = "" }: FilePart): boolean {
  return mediaIn(Buffer.from(data, "base64").subarray(0, TELLING_BYTES))?.mediaType.startsWith("image/") === true;
}

function mcpTextPart(content: string): UserPart {
  return { type: "text", text: content };
}

export function mcpPrompt(server: string, listed: ListedPrompt): McpPrompt {
  const { name, title, description, arguments: wanted = [] } = listed;
  return {
    server,
    name,
    description: plainDescription(title, description),
    arguments: wanted.map(({ name, description, required = false }) => ({
      name,
      description: plainDescription(description),
      required,
    })),
  };
}

export function resourceOf(server: string, listed: ListedResource): McpResource {
  const { uri, name, title, description, mimeType, size } = listed;
  return {
    server,
    uri,
    name,
    description: plainDescription(title, description),
    ...(mimeType !== undefined && { mimeType }),
    ...(size !== undefined && { size }),
  };
}

export function templateOf(server: string, listed: ResourceTemplateType): McpResourceTemplate {
  const { uriTemplate, name, title, description, mimeType } = listed;
  return {
    server,
    uriTemplate,
    name,
    description: plainDescription(title, description),
    ...(mimeType !== undefined && { mimeType }),
  };
}

function plainDescription(...texts: readonly (string | undefined)[]): string {
  return stripControls(texts.filter(Boolean).join(". "));
}
