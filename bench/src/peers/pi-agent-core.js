import { Agent } from "@earendil-works/pi-agent-core";
import { LOOK } from "./look.js";

const APIS = {
  chat: "openai-completions",
  anthropic: "anthropic-messages",
  gemini: "google-generative-ai",
  responses: "openai-responses",
};

/** The agent inside pi. */
export async function connect(address, format) {
  const api = APIS[format];
  const { streamSimple } = await import(`@earendil-works/pi-ai/api/${api}`);
  const model = {
    id: "mock",
    name: "mock",
    api,
    provider: "mock",
    // For Anthropic's format, the package adds the version itself.
    baseUrl: format === "anthropic" ? address.replace(/\/v1$/, "") : address,
    reasoning: false,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 1_000_000_000,
    maxTokens: 1_000_000,
  };
  const agent = (look) =>
    new Agent({
      initialState: {
        systemPrompt: "",
        model,
        tools: look
          ? [
              {
                name: LOOK.name,
                label: LOOK.name,
                description: LOOK.description,
                parameters: LOOK.schema,
                execute: async (_, input) => ({ content: [{ type: "text", text: look(input) }], details: undefined }),
              },
            ]
          : [],
      },
      streamFn: streamSimple,
      getApiKey: () => "none",
    });
  return {
    agent,
    async open(look) {
      const opened = agent(look);
      let characters = 0;
      opened.subscribe((event) => {
        if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta")
          characters += event.assistantMessageEvent.delta.length;
      });
      return {
        async ask(question) {
          characters = 0;
          await opened.prompt(question);
          if (opened.state.errorMessage) throw new Error(opened.state.errorMessage);
          return characters;
        },
      };
    },
  };
}
