import type { UserPart } from "@banyan/core";
import { checkedFile, type FilePart, mediaIn, TELLING_BYTES } from "@banyan/core/conversation";
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

/** Files that models look at go along, others in words that say why not; the rest is text. */
function contentParts(server: string, block: ContentBlock): UserPart[] {
  const files: UserPart[] = [];
  // A file that a provider refuses would have it refuse all that is asked in the conversation.
  const words = blockText(server, block, (file) => {
    const checked = checkedFile({ type: "file", ...file }, 0);
    if (typeof checked === "string") throw new RangeError(checked);
    if (checked.mediaType.startsWith("image/") && !isPicture(checked))
      throw new RangeError("models do not look at such pictures");
    files.push(checked);
  });
  return files.length > 0 ? files : [text(stripControls(words))];
}

function isPicture({ data = "" }: FilePart): boolean {
  return mediaIn(Buffer.from(data, "base64").subarray(0, TELLING_BYTES))?.mediaType.startsWith("image/") === true;
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
