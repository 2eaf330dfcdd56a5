import { defineTool } from "../../ports/define-tool.ts";
import type { Tool } from "../../ports/tool.ts";

/** `shorten_conversation {summary}`: replaces the conversation so far by a summary. */
export function shortenConversation(): Tool {
  return defineTool({
    name: "shorten_conversation",
    description:
      "Puts your summary in the place of the earlier conversation, to make room. Afterwards you see it and the last messages only: write down all that still counts - what the person wants, what was decided and found, which files were changed and how, and what is left to do.",
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
      return `From your next message on, the summary stands for ${messages} ${messages === 1 ? "message" : "messages"}; that frees about ${tokens.toLocaleString("en")} tokens.`;
    },
  });
}
