import type { ContentBlock, PromptCapabilities } from "@agentclientprotocol/sdk/unstable";
import type { Part } from "@banyan/core";
import type { PromptMessage } from "@banyan/core/drivers";
import { cutTo, cutToEnd, encloseInTags } from "@banyan/core/shown";

type PromptFilePart = Extract<Part, { type: "file" }>;

/** Maximum characters of the history in a prompt. The oldest text is cut. */
const MOST_HISTORY = 400_000;
/** Maximum characters of the arguments, and of the output, of one call in the history. */
const MOST_OUTPUT = 4_000;

/** Instructions and messages that an agent's session has not received yet. */
export interface NewForAgent {
  /** The agent's instructions. Empty if the session already has them, or if there are none. */
  readonly instructions: string;
  /** Earlier messages that the session has missed. */
  readonly before: readonly PromptMessage[];
  readonly now: readonly PromptMessage[];
}

/** Converts messages to the prompt of an agent: instructions, then history, then the user's messages. */
export function agentPrompt({ instructions, before, now }: NewForAgent, can: PromptCapabilities): ContentBlock[] {
  const blocks: ContentBlock[] = [];
  if (instructions !== "") blocks.push(resource("instructions", instructions, can));
  if (before.length > 0) {
    const history = `These are the earlier messages of this conversation. Continue after the last message.\n\n${historyText(before)}`;
    blocks.push(resource("conversation", history, can));
  }
  for (const message of now) {
    if (message.role === "user")
      blocks.push(
        ...message.parts.map((part) =>
          part.type === "text" ? ({ type: "text", text: part.text } as const) : agentFileBlock(part, can),
        ),
      );
  }
  return blocks;
}

function resource(name: string, text: string, { embeddedContext }: PromptCapabilities): ContentBlock {
  if (!embeddedContext) return { type: "text", text: encloseInTags(name, text) };
  return { type: "resource", resource: { uri: `banyan://${name}.md`, mimeType: "text/markdown", text } };
}

function agentFileBlock(
  { mediaType, name = "a file", data, url }: PromptFilePart,
  can: PromptCapabilities,
): ContentBlock {
  if (data === undefined) return { type: "resource_link", uri: url ?? "", name, mimeType: mediaType };
  if (mediaType.startsWith("image/") && can.image) return { type: "image", data, mimeType: mediaType };
  if (mediaType.startsWith("audio/") && can.audio) return { type: "audio", data, mimeType: mediaType };
  const uri = `banyan://${encodeURIComponent(name)}`;
  if (mediaType.startsWith("text/") || mediaType === "application/json") {
    const text = Buffer.from(data, "base64").toString("utf8");
    return can.embeddedContext
      ? { type: "resource", resource: { uri, mimeType: mediaType, text } }
      : { type: "text", text: encloseInTags("file", `${name}\n${text}`) };
  }
  if (can.embeddedContext) return { type: "resource", resource: { uri, mimeType: mediaType, blob: data } };
  return { type: "text", text: `[${name} (${mediaType}) was attached, but cannot be shown to you]` };
}

function historyText(messages: readonly PromptMessage[]): string {
  const all = messages.map(promptMessageText).join("\n\n");
  return cutToEnd(all, MOST_HISTORY, "[The beginning is left out.]\n");
}

function promptMessageText(message: PromptMessage): string {
  if (message.role === "user") {
    const said = message.parts.map((part) => (part.type === "text" ? part.text : `[${part.name ?? part.mediaType}]`));
    return `## User\n\n${said.join("\n\n")}`;
  }
  const results = new Map(message.results.map((result) => [result.call, result]));
  const said = message.parts.flatMap((part) => {
    if (part.type === "text") return part.text === "" ? [] : [part.text];
    if (part.type !== "call") return [];
    const { output = "", failed = false } = results.get(part.id) ?? {};
    const short = cutTo(output, MOST_OUTPUT, "\n[cut]");
    return [
      `[${part.tool} ${cutTo(JSON.stringify(part.input), MOST_OUTPUT, "")}]\n${failed ? "Failed: " : ""}${short}`,
    ];
  });
  return `## You\n\n${said.join("\n\n")}`;
}
