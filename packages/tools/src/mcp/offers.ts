import type { UserPart } from "@banyan/core";
import type {
  ContentBlock,
  GetPromptResult,
  Prompt as ListedPrompt,
  Resource as ListedResource,
  ReadResourceResult,
  ResourceTemplateType,
} from "@modelcontextprotocol/client";
import { stripControls } from "../workspace/plain-text.ts";
import { blockText } from "./output.ts";

/** A prompt that a server offers: a command for people. */
export interface McpPrompt {
  readonly server: string;
  /** The server's name for it. */
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly McpPromptArgument[];
}

/** What a prompt wants to be told. */
export interface McpPromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

/** Something that a server lets be read, as `@server:uri`. */
export interface McpResource {
  readonly server: string;
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType?: string;
  /** Bytes. */
  readonly size?: number;
}

/** A family of resources; `{name}` in its address stands for what is filled in (RFC 6570). */
export interface McpResourceTemplate {
  readonly server: string;
  readonly uriTemplate: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType?: string;
}

/** A prompt as parts of a user message. What it has an assistant say is marked as such: the model did not say it. */
export function promptParts(server: string, { messages }: GetPromptResult): UserPart[] {
  const alone = messages.every(({ role }) => role === "user");
  return messages.flatMap(({ role, content }) => {
    const parts = contentParts(server, content);
    return alone ? parts : [text(`[${role}]`), ...parts];
  });
}

/** A resource as parts of a user message. */
export function resourceParts(server: string, { contents }: ReadResourceResult): UserPart[] {
  return contents.flatMap((resource) => contentParts(server, { type: "resource", resource }));
}

/** Images, sound and documents become files, for models that take them; the rest is text. */
function contentParts(server: string, block: ContentBlock): UserPart[] {
  if (block.type === "image" || block.type === "audio") {
    return [{ type: "file", mediaType: block.mimeType, data: block.data }];
  }
  if (block.type === "resource" && "blob" in block.resource) {
    const { uri, mimeType = "application/octet-stream", blob } = block.resource;
    return [{ type: "file", mediaType: mimeType, name: stripControls(uri), data: blob }];
  }
  return [text(stripControls(blockText(server, block)))];
}

function text(content: string): UserPart {
  return { type: "text", text: content };
}

/** A prompt as a server lists it. */
export function promptOf(server: string, listed: ListedPrompt): McpPrompt {
  const { name, title, description, arguments: wanted = [] } = listed;
  return {
    server,
    name,
    description: plain(title, description),
    arguments: wanted.map(({ name, description, required = false }) => ({
      name,
      description: plain(description),
      required,
    })),
  };
}

/** A resource as a server lists it. */
export function resourceOf(server: string, listed: ListedResource): McpResource {
  const { uri, name, title, description, mimeType, size } = listed;
  return {
    server,
    uri,
    name,
    description: plain(title, description),
    ...(mimeType !== undefined && { mimeType }),
    ...(size !== undefined && { size }),
  };
}

/** A family of resources as a server lists it. */
export function templateOf(server: string, listed: ResourceTemplateType): McpResourceTemplate {
  const { uriTemplate, name, title, description, mimeType } = listed;
  return {
    server,
    uriTemplate,
    name,
    description: plain(title, description),
    ...(mimeType !== undefined && { mimeType }),
  };
}

function plain(...texts: readonly (string | undefined)[]): string {
  return stripControls(texts.filter(Boolean).join(". "));
}
