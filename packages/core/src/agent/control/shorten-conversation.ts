import { defineTool } from "../../ports/define-tool.ts";
import type { Tool } from "../../ports/tool.ts";

/**
 * Makes the tool `shorten_conversation {summary}`, which replaces the conversation so far by a summary.
 * @example const guide = new Agent({ model, tools: [shortenConversation()], compaction: { contextSize: 32_000 } });
 */
export function shortenConversation(): Tool {
  return defineTool({
    name: "shorten_conversation",
    description:
      "Replaces the earlier conversation by your summary, to make room. Afterwards you see only the summary and the last messages, so write down all that matters: goal, decisions, findings, changes of files, and the work that is left.",
    input: {
      type: "object",
      properties: { summary: { type: "string", minLength: 1 } },
      required: ["summary"],
      additionalProperties: false,
    },
    effects: "idempotent",
    control: true,
    about: (input) => ({ title: (input as { readonly summary: string }).summary }),
    async execute(input: unknown, context) {
      const { messages, tokens } = await context.summarize((input as { readonly summary: string }).summary);
      return `From your next message on, the summary replaces ${messages} ${messages === 1 ? "message" : "messages"} and frees about ${tokens.toLocaleString("en")} tokens.`;
    },
  });
}
