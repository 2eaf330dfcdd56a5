import { Agent } from "@earendil-works/pi-agent-core";
import { streamSimple } from "@earendil-works/pi-ai/api/openai-completions";
import { LOOK } from "./look.js";

/** The agent that pi is made of. */
export function connect(address) {
  const model = {
    id: "mock",
    name: "mock",
    api: "openai-completions",
    provider: "mock",
    baseUrl: address,
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
